import pytest

from graph_metric_learn_reproduction.experiments.methods import grid
from graph_metric_learn_reproduction.experiments.records import Records
from graph_metric_learn_reproduction.experiments.runner import cells
from graph_metric_learn_reproduction.experiments.settings import TASKS, Task
from graph_metric_learn_reproduction.experiments.tables import accuracy_rows, paired_gaps, seconds_rows, table_entry
from small_records import MUTAG, SECONDS, config

TOY = Task("TOY", "degree", depths=(1, 2))  # see graph_zoo.write_tu


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def add(records, tests, *, depth, validation=0.8, **changes):
    """SGML with k-NN on TOY: one run per test accuracy."""
    (setting,) = grid(TOY, "rpw", depth=depth, **changes)
    for run, test in enumerate(tests):
        result = {"validation": validation, "test": test, "seconds": SECONDS}
        records.add(config("rpw", "knn", run, setting, TOY), result)


def test_the_setting_is_chosen_by_validation(records):
    assert table_entry(records, TOY, "rpw", "knn") == ""
    add(records, [0.9, 1.0], depth=1, validation=0.7)
    add(records, [0.6, 0.7], depth=2, validation=0.8)
    add(records, [1.0, 1.0], depth=2, validation=0.95, n_epochs=30)  # not one of the settings searched
    found = table_entry(records, TOY, "rpw", "knn")
    assert found.model["depth"] == 2
    assert found.mean == pytest.approx(65)
    assert found.std == pytest.approx(5)
    assert found.splits.tolist() == [0, 1]
    assert table_entry(records, TOY, "rpw", "svm") == ""
    assert table_entry(records, TOY, "rpw", "knn", n_epochs=30).mean == 100


def test_rows_show_what_was_measured_and_below_it_what_was_published(records):
    add(records, [0.6, 0.7], depth=1)
    add(records, [0.6, 0.7], depth=2)
    rows = accuracy_rows(list(records), [TOY, MUTAG], [("rpw", "knn"), ("random", "knn")])
    assert rows[0] == ["", "TOY (degree)", "MUTAG (degree)"]
    assert rows[1] == ["SGML, RPW2, k-NN", "65.0 ± 5.0 (2 runs)", ""]
    assert rows[2] == ["— published", "", "90.0 ± 7.6"]
    assert rows[3:] == []  # of the untrained nothing is known
    assert seconds_rows(list(records), [TOY], [("rpw", "knn")]) == [["seconds", "TOY (degree)"], ["SGML, RPW2", "0.11"]]


def test_settings_are_compared_on_the_runs_they_share(records):
    add(records, [0.9, 1.0], depth=1, validation=0.7)
    assert str(table_entry(records, TOY, "rpw", "knn")) == "95.0 ± 5.0 (2 runs, 1 of 2 settings)"
    add(records, [0.6], depth=2, validation=0.99)
    found = table_entry(records, TOY, "rpw", "knn")
    assert found.model["depth"] == 2
    assert str(found) == "60.0 ± 0.0 (1 run)"


def test_differences_are_paired_by_run(records):
    add(records, [0.5, 0.6, 0.9], depth=1)
    one = table_entry([r for r in records if r["config"]["run"] != 0], TOY, "rpw", "knn", depth=1)
    add(records, [0.2, 0.2], depth=2)
    other = table_entry(records, TOY, "rpw", "knn", depth=2)
    assert paired_gaps(one, other) == pytest.approx([40])
    assert paired_gaps(other, one) == pytest.approx([-40])


def test_ten_runs_go_without_saying(records):
    add(records, [0.5] * 10, depth=1)
    add(records, [0.5] * 10, depth=2)
    assert str(table_entry(records, TOY, "rpw", "knn")) == "50.0 ± 0.0"


def test_why_there_is_no_number(records):
    for cell in cells(TOY, "fgw", "authors", 2):
        records.add(cell, {"estimated_seconds": 3 * 7200.0})
    for cell in cells(TOY, "w2", "authors", 2):
        records.add(cell, {"failure": "graphs 0 and 1: no plan"})
    assert table_entry(records, TOY, "fgw", "knn") == "> 1 h (3.0 h)"
    for cell in cells(TOY, "gin", "authors", 2, ["own"]):
        records.add(cell, {"estimated_seconds": 3000.0, "limit_seconds": 1200.0})
    assert table_entry(records, TOY, "gin", "own") == "> 20 min"
    records.add(cells(TOY, "gin", "authors", 1, ["own"])[0], {"validation": 0.9, "test": 0.5, "seconds": SECONDS})
    assert str(table_entry(records, TOY, "gin", "own")) == "50.0 ± 0.0 (1 run, others > 20 min)"
    assert table_entry(records, TOY, "w2", "knn") == "solver failed"


def test_settings_without_a_number_are_counted(records):
    first, second, third = cells(TOY, "fgw", "authors", 1)
    records.add(first, {"validation": 0.5, "test": 0.5, "seconds": SECONDS})
    records.add(second, {"failure": "graphs 0 and 1: no plan"})
    records.add(third, {"estimated_seconds": 3 * 7200.0})
    found = str(table_entry(records, TOY, "fgw", "knn"))
    assert found == "50.0 ± 0.0 (1 run, 1 of 3 settings, 1 failed, 1 > 1 h (3.0 h))"


def test_a_column_of_attributes_shows_what_was_run_on_labels(records):
    for cell in cells(TASKS["ENZYMES (labels)"], "wl-oa", "authors", 2, ["svm"]):
        records.add(cell, {"validation": 0.5, "test": 0.5, "seconds": SECONDS})
    assert table_entry(records, TASKS["ENZYMES (fuse)"], "wl-oa", "svm").mean == 50


def test_records_of_other_kinds_are_no_accuracy(records):
    cell = cells(TOY, "rpw", "authors", 1)[0]
    records.add({**cell, "what": "ties"}, {"validation": 0.5, "test": 0.5, "seconds": SECONDS})
    assert table_entry(records, TOY, "rpw", "knn") == ""
