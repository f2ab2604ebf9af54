import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from graph_metric_learn.experiments import choices, runtimes
from graph_metric_learn.experiments.page import (
    best_rows,
    beyond_judgement,
    chosen_rows,
    ingredient_rows,
    outside_rows,
    renew_summary,
    summary,
    write_page,
)
from graph_metric_learn.experiments.records import Records
from graph_metric_learn.experiments.runner import cells
from graph_metric_learn.experiments.settings import CHOSEN, TASKS
from graph_metric_learn.experiments.systems import grid

MUTAG = TASKS["MUTAG (degree)"]


def add(records, tests, zeros=0.25, **changes):
    (setting,) = grid(MUTAG, "rpw", depth=2, **changes)
    for run, test in enumerate(tests):
        config = {
            "dataset": "MUTAG", "features": "degree", "method": "rpw", "classifier": "knn", "run": run,
            "model": setting,
        }  # fmt: skip
        seconds = {"training": 0.1, "distances": 0.01, "classifier": 0.01}
        records.add(config, {"validation": 0.8, "test": test, "zeros": zeros, "loss": [1.0] * 10, "seconds": seconds})


def test_the_page_shows_what_was_measured_beside_what_was_published(tmp_path):
    records = Records(tmp_path / "records")
    add(records, [0.6, 0.7])
    add(records, [0.5, 0.5], activation="none")
    add(records, [0.4, 0.4], zeros=0.75, n_epochs=0)
    records.add(runtimes._config("MUTAG", "rpw"), {"seconds": {"training": 0.125, "distances": 0.5}})
    records.add(runtimes._point("RPW2", 10), {"seconds": 0.001})
    records.add(choices.tie_cells(1)[0], {"test": 0.9, "seconds": {"training": 1.0, "distances": 2.0}})
    page = write_page(records, tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "90.0 ± 7.6" in text
    assert "| SGML, RPW2, k-NN | 65.0 ± 5.0 (2 runs, 1 of 7 settings) |" in text
    assert "| authors' choices | 65.0 ± 5.0 (2 runs, 1 of 7 settings) (75 → 25 %) |" in text
    assert re.search(r"\| no ReLU \| 50.0 ± 0.0 \(2 runs, 1 of 7 settings\) \|.*\| -15.0 ± 5.0 \|", text)
    assert "Below the paper by more than its own standard deviation: MUTAG (degree)." in text
    assert (
        "| untrained | 40.0 ± 0.0 (2 runs, 1 of 7 settings) (75 → 75 %) | -25.0 ± 5.0 |" in text
    )  # in the search for the reason
    assert "90.0 ± 0.0 (1 run), 2 s" in text
    assert "0.125" in text
    for name in re.findall(r"\(figures/(.*?)\)", text):
        assert (tmp_path / "figures" / name).read_bytes().startswith(b"\x89PNG")
    source = page.read_text()
    HTMLParser().feed(source)
    assert "http" not in re.sub(r'src="data:[^"]*"', "", source)
    assert "65.0 ± 5.0" in source


def test_an_empty_page(tmp_path):
    assert "Nothing measured yet." in write_page([], tmp_path).read_text()


def test_only_missed_tasks_are_searched_further(tmp_path):
    records = Records(tmp_path / "good")
    add(records, [0.9] * 2)
    assert choices.missed(list(records)) == []
    assert not any(config["model"]["n_components"] == 10 for config in choices.choice_cells(records, 1))
    records = Records(tmp_path / "bad")
    add(records, [0.5] * 2)
    assert choices.missed(list(records)) == ["MUTAG (degree)"]
    wider = [config for config in choices.choice_cells(records, 1) if config["model"]["n_components"] == 10]
    assert {config["dataset"] for config in wider} == {"MUTAG"}


def test_changes_are_compared_run_by_run(tmp_path):
    records = Records(tmp_path)
    add(records, [0.5, 0.7, 0.9])
    add(records, [0.6, 0.8, 1.0], restart_optimizer=False)
    rows = choices.choice_rows(list(records), ["MUTAG (degree)"], choices.CHOICES)
    assert [row[-1] for row in rows] == ["difference", "", "+10.0 ± 0.0"]  # the spread between runs does not enter


def test_the_figure_goes_on_where_it_stopped(tmp_path):
    pytest.importorskip("ot")
    records = Records(tmp_path)
    runtimes.measure_figure(records, largest=30, patience=1.0)
    times = runtimes.figure_times(records)
    assert len(times) == 7
    assert all([n for n, _ in points] == [10, 30] for points in times.values())
    count = len(records)
    runtimes.measure_figure(records, largest=30, patience=1.0)
    assert len(records) == count
    assert runtimes.figure_times(Records(tmp_path)) == times


def test_records_of_other_kinds_are_no_accuracy(tmp_path):
    records = Records(tmp_path)
    records.add(runtimes._config("MUTAG", "rpw"), {"seconds": {"training": 1.0, "distances": 1.0}})
    assert runtimes.found_times(records)["MUTAG"]["training"] == 1.0
    assert np.isnan(runtimes.found_times(records)["NCI1"]["training"])
    assert all(config not in records for config in cells(MUTAG, "rpw", "authors", 1))


def test_the_summary_is_renewed_between_its_marks(tmp_path):
    records = Records(tmp_path / "records")
    add(records, [0.6, 0.7])
    path = tmp_path / "README.md"
    path.write_text("top\n<!-- results -->\nold\n<!-- end of results -->\nrest\n")
    renew_summary(records, path)
    first = path.read_text()
    assert first.startswith("top\n")
    assert first.endswith("\nrest\n")
    assert "old" not in first
    assert "| MUTAG (degree) |  | 90.0 ± 7.6 | 65.0 ± 5.0 (2 runs, 1 of 7 settings) |  | 89.0 ± 7.6 |  |  |" in first
    renew_summary(records, path)
    assert path.read_text() == first
    path.write_text("no marks")
    with pytest.raises(ValueError, match="no lines <!-- results -->"):
        renew_summary(records, path)


def test_the_readme_shows_what_is_recorded():
    root = Path(__file__).parents[2]
    assert summary(list(Records(root / "results" / "records"))) in (root / "README.md").read_text()


def test_graph_metric_is_judged_against_the_paper(tmp_path):
    records = Records(tmp_path / "records")
    for run in range(2):
        config = {
            "dataset": "MUTAG", "features": "degree", "method": "graphmetric", "classifier": "knn-weighted", "run": run,
            "model": {},
        }  # fmt: skip
        learning = [{"name": "weights of blocks", "gain": 0.02, "kept": run == 0}]
        records.add(
            config,
            {
                "validation": 0.9, "test": 0.92, "weights": {"mean of labels": 1.0}, "learning": learning,
                "seconds": {"training": 2.0, "distances": 0.1, "classifier": 0.0},
            },
        )  # fmt: skip
    text = beyond_judgement(list(records))
    assert "at least its mean on 1 of 1 tasks; the median difference is +2.0 points, the mean +2.0" in text
    assert "in the paper's tables on 1: MUTAG (degree). The best of all other systems run here" in text
    assert text.endswith("is ahead of both on 0.")
    for config in cells(MUTAG, "wl-oa", "authors", 2, ["svm"]):
        records.add(config, {"validation": 0.9, "test": 0.95, "seconds": {"training": 0.0, "distances": 1.0}})
    text = beyond_judgement(list(records))
    assert text.endswith("is ahead of both on 1: MUTAG (degree), 95.0 with WL-OA, SVM, against 92.0.")
    assert chosen_rows(list(records))[1:] == [
        ["MUTAG (degree)", "100 % mean of labels", "weights of blocks in 1 of 2 runs"]
    ]


def test_ingredients_are_compared_on_the_same_splits(tmp_path):
    records = Records(tmp_path / "records")
    for dataset, features, method, tests in (
        ("MUTAG", "degree", "graphmetric", {0: 0.8, 1: 0.9, 2: 0.1}),
        ("MUTAG", "degree", "graphmetric-mean", {1: 0.8}),
        ("BZR", "attributes", "graphmetric", {0: 0.5}),
        ("BZR", "attributes", "graphmetric-mean", {0: 0.7}),
    ):
        for run, test in tests.items():
            config = {
                "dataset": dataset, "features": features, "method": method, "classifier": "knn-loo", "run": run,
                "model": CHOSEN[method],
            }  # fmt: skip
            seconds = {"training": 2.0, "distances": 0.1, "classifier": 0.0}
            records.add(config, {"validation": 0.9, "test": test, "seconds": seconds})
    (row,) = ingredient_rows(list(records))[1:]
    assert row == ["GraphMetric, means only", "+5.0 (2 tasks)", "-10.0, MUTAG (degree)", "+20.0, BZR (attributes)"]


def test_cells_outside_the_published_spread_are_listed(tmp_path):
    records = Records(tmp_path / "records")
    for method, test in (("netlsd", 0.9), ("netsimile", 0.82)):  # published: 84.9 and 84.1, without a spread
        (setting,) = grid(MUTAG, method)
        config = {
            "dataset": "MUTAG", "features": "degree", "method": method, "classifier": "knn", "run": 0,
            "model": setting,
        }  # fmt: skip
        records.add(config, {"validation": 0.9, "test": test, "seconds": {"training": 0.0, "distances": 0.1}})
    assert [row[0] for row in outside_rows(list(records))[1:]] == ["NetLSD (heat), k-NN"]
    measured, published = best_rows(list(records))
    assert measured[1:3] == ["90.0, NetLSD (heat), k-NN", ""]
    assert published[1:3] == ["90.0, SGML, RPW2, k-NN", "86.4, FGW-WL, SVM"]


def test_speed_against_others_is_said_for_what_was_measured(tmp_path):
    records = Records(tmp_path)
    assert "not measured yet" in runtimes.speed_judgement(records)
    records.add(runtimes._config("NCI1", "rpw"), {"seconds": {"training": 1.0, "distances": 0.5}})
    records.add(runtimes._config("NCI1", "wwl"), {"seconds": {"distances": 1000.0}})
    records.add(runtimes._config("NCI1", "wwl-tree"), {"seconds": {"distances": 5.0}})
    assert runtimes.speed_judgement(records) == (
        "SGML on two cores, all distances of NCI1: 2,000 times as fast as WWL, a linear programme per pair, on one "
        "core; 10 times as fast as WWL, closed form, on one core."
    )
