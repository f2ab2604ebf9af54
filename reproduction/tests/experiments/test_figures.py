import numpy as np
import pytest

from graph_metric_learn_reproduction.experiments import figure1, figures, runtimes
from graph_metric_learn_reproduction.experiments.records import Records
from small_records import add_graph_metric, add_sgml


def test_accuracies_stand_beside_the_published_ones(tmp_path):
    records = Records(tmp_path)
    add_sgml(records, [0.6, 0.8])
    add_graph_metric(records, [0.92])
    knn, svm = figures.accuracy(list(records)).axes
    points = {bars.get_label(): bars.lines[0].get_ydata() for bars in knn.containers}
    assert points["SGML, the paper"][0] == 90.0
    assert points["SGML, here"][0] == pytest.approx(70.0)
    assert points["GraphMetric"][0] == pytest.approx(92.0)
    assert np.isnan(np.array(points["SGML, here"][1:], dtype=float)).all()  # not measured: not drawn
    assert len(svm.containers) == 3


def test_run_times_stand_beside_the_published_ones(tmp_path):
    records = Records(tmp_path)
    records.add(runtimes.runtime_config("MUTAG", "rpw"), {"seconds": {"training": 0.125, "distances": 0.5}})
    training, distances = figures.runtimes(list(records)).axes
    heights = [bar.get_height() for bar in training.patches]
    assert 0.125 in heights
    assert 480 in heights
    assert 0.5 in [bar.get_height() for bar in distances.patches]


def test_figures_of_nothing_are_none():
    assert figures.figure1([]) is None
    assert figures.learning([]) is None


def test_recorded_points_and_losses_are_drawn(tmp_path):
    records = Records(tmp_path)
    records.add(figure1.point_config("RPW2", 10), {"seconds": 0.001})
    add_sgml(records, [0.6, 0.8], n_epochs=10)
    assert figures.figure1(list(records)).axes[0].lines[0].get_xydata().tolist() == [[10, 0.001]]
    (line,) = figures.learning(list(records)).axes[0].lines
    assert line.get_label() == "MUTAG (degree)"
    assert line.get_ydata().tolist() == [1.0] * 10
