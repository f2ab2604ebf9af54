import numpy as np
from matplotlib.figure import Figure

from graph_metric_learn_reproduction.pages.plots import as_png, times_against_paper, times_by_points


def test_a_figure_becomes_a_png():
    small, large = (as_png(Figure(figsize=(1, 1)), dpi=dpi) for dpi in (20, 80))
    for png, side in ((small, 20), (large, 80)):
        assert png.startswith(b"\x89PNG")
        assert int.from_bytes(png[16:20], "big") == side


def test_bars_of_the_paper_stand_beside_ours():
    rows = {
        "MUTAG": {"training": 1.0, "distances": 2.0, "paper_training": 3.0, "paper_distances": 4.0},
        "NCI1": {"training": np.nan, "distances": 6.0, "paper_training": 7.0, "paper_distances": 8.0},
    }
    training, distances = times_against_paper(rows).axes
    assert [bar.get_height() for bar in distances.patches] == [4.0, 8.0, 2.0, 6.0]
    assert [bar.get_height() for bar in training.patches][:3] == [3.0, 7.0, 1.0]
    assert training.get_yscale() == "log"
    assert [label.get_text() for label in distances.get_xticklabels()] == ["MUTAG", "NCI1"]


def test_lines_by_method():
    (axes,) = times_by_points({"RPW2": [(10, 0.1), (30, 0.3)], "W2 (POT)": [(10, 1.0)]}).axes
    first, second = axes.lines
    assert first.get_xydata().tolist() == [[10, 0.1], [30, 0.3]]
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
