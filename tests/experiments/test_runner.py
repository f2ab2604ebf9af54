import pytest

from graph_metric_learn.experiments import runner
from graph_metric_learn.experiments.records import Records
from graph_metric_learn.experiments.reproduce import reproduce
from graph_metric_learn.experiments.settings import METHODS, TABLES, TASKS, Task, task_for, variant
from graph_metric_learn.experiments.tables import accuracy_table, entry
from graph_zoo import write_tu


@pytest.fixture
def root(tmp_path):
    return write_tu(tmp_path / "data", 40).parent


TOY = Task("TOY", "degree", depths=(1, 2))


def strip(records):
    """Records without times, which differ from run to run."""
    return {
        record["key"]: {name: value for name, value in record["result"].items() if name != "seconds"}
        for record in records
    }


def test_a_killed_job_goes_on_where_it_stopped(root, tmp_path, monkeypatch):
    wanted = runner.cells(TOY, "rpw", "authors", 3, ("knn", "svm"))
    assert len(wanted) == 12
    whole = Records(tmp_path / "whole")
    assert runner.run_cells(wanted, whole, root=root) == []
    real, calls = runner.run_cell, []

    def dying(*args):
        calls.append(1)
        if len(calls) % 2 == 0:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(runner, "run_cell", dying)
    for _ in range(10):
        try:
            runner.run_cells(wanted, Records(tmp_path / "pieces"), root=root)
        except KeyboardInterrupt:
            continue
        break
    pieces = Records(tmp_path / "pieces")
    assert strip(pieces) == strip(whole)
    assert len(calls) == 6 + 5  # each cell once, and one death after each of the first five
    assert sum(1 for _ in (tmp_path / "pieces" / "TOY.jsonl").open()) == 12


def test_cells_that_two_tables_share_run_once(root, tmp_path):
    wanted = runner.cells(TOY, "random", "authors", 2)
    records = Records(tmp_path / "r")
    runner.run_cells([*wanted, *wanted], records, root=root)
    assert sum(1 for _ in (tmp_path / "r" / "TOY.jsonl").open()) == len(wanted) == 4
    assert {config["model"]["n_epochs"] for config in wanted} == {0}


def test_a_failing_cell_is_reported_and_the_others_go_on(root, tmp_path, monkeypatch):
    real = runner.run_cell

    def failing(config, *args):
        if config["run"] == 1:
            raise RuntimeError("no luck")
        return real(config, *args)

    monkeypatch.setattr(runner, "run_cell", failing)
    records = Records(tmp_path / "r")
    failures = runner.run_cells(runner.cells(TOY, "rpw", "authors", 2), records, root=root)
    assert len(failures) == 2
    assert "run 1: RuntimeError: no luck" in failures[0]
    assert len(records) == 2


def test_several_processes_give_the_same(root, tmp_path):
    wanted = runner.cells(TOY, "nca", "default", 2)
    one, two = Records(tmp_path / "one"), Records(tmp_path / "two")
    runner.run_cells(wanted, one, root=root)
    runner.run_cells(wanted, two, root=root, jobs=2)
    assert strip(one) == strip(two)


def test_the_setting_is_chosen_by_validation(root, tmp_path):
    records = Records(tmp_path / "r")
    for depth, validation, test in ((1, 0.7, 0.9), (2, 0.8, 0.6)):
        for run in range(2):
            config = {"dataset": "TOY", "features": "degree", "method": "rpw", "classifier": "knn", "run": run,
                      "model": {**variant("rpw", "authors"), "depth": depth}}  # fmt: skip
            seconds = {"training": 1.0, "distances": 2.0}
            result = {"validation": validation, "test": test + run / 10, "seconds": seconds, "zeros": 0.5}
            records.add(config, result)
    found = entry(records, dataset="TOY", classifier="knn")
    assert found.model["depth"] == 2
    assert found.mean == pytest.approx(65)
    assert found.std == pytest.approx(5)
    assert entry(records, dataset="OTHER") is None
    config = {**config, "run": 0, "model": {**config["model"], "depth": 3}}  # unfinished: one run of two
    records.add(config, {**result, "validation": 0.99})
    assert entry(records, dataset="TOY").model["depth"] == 2
    table = accuracy_table(records, ["TOY (degree)", "MUTAG (degree)"], [("rpw", "knn")])
    assert "65.0 ± 5.0 (2 runs)" in table
    assert "90.0 ± 7.6" in table


def test_datasets_beyond_the_paper(root, tmp_path, capsys):
    out = tmp_path / "out"
    assert reproduce("table1", out, datasets=["TOY"], runs=1, root=root, features="degree", progress=False) == []
    assert "TOY (degree)" in capsys.readouterr().out
    assert (out / "README.md").read_text().startswith("# Results")
    assert task_for("TOY").features == "auto"
    assert task_for("PROTEINS", "fuse").epochs == (10, 20)
    with pytest.raises(ValueError, match="'wwl2'"):
        reproduce("table1", out, methods=["wwl2"])


def test_the_papers_grids():
    assert len(TASKS) == 11
    assert all(name in TASKS for names in TABLES.values() for name in names)
    assert len(TASKS["MUTAG (degree)"].settings()) == 7
    assert len(TASKS["ENZYMES (labels)"].settings()) == 8
    assert TASKS["Cuneiform (fuse)"].settings()[0]["batch_size"] == 64
    assert set(METHODS) == {"rpw", "sw", "nca", "pw", "random"}
