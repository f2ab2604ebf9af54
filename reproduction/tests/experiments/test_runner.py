import joblib

from graph_metric_learn_reproduction.experiments import runner
from graph_metric_learn_reproduction.experiments.records import Records
from graph_metric_learn_reproduction.experiments.settings import Task

TOY = Task("TOY", "degree", depths=(1, 2))  # see graph_zoo.write_tu


def without_seconds(records):
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
    real, calls = runner.run_group, []

    def dying(*args):
        calls.append(1)
        if len(calls) % 2 == 0:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(runner, "run_group", dying)
    for _ in range(10):
        try:
            runner.run_cells(wanted, Records(tmp_path / "pieces"), root=root)
        except KeyboardInterrupt:
            continue
        break
    pieces = Records(tmp_path / "pieces")
    assert without_seconds(pieces) == without_seconds(whole)
    assert len(calls) == 6 + 5  # each cell once, and one death after each of the first five
    assert sum(1 for _ in (tmp_path / "pieces" / "TOY-degree.jsonl").open()) == 12


def test_cells_that_two_tables_share_run_once(root, tmp_path):
    wanted = runner.cells(TOY, "random", "authors", 2)
    records = Records(tmp_path / "r")
    runner.run_cells([*wanted, *wanted], records, root=root)
    assert sum(1 for _ in (tmp_path / "r" / "TOY-degree.jsonl").open()) == len(wanted) == 4
    assert {config["model"]["n_epochs"] for config in wanted} == {0}


def test_a_failing_cell_is_reported_and_the_others_go_on(root, tmp_path, monkeypatch):
    real = runner.run_group

    def failing(configs, *args):
        if configs[0]["run"] == 1:
            raise RuntimeError("no luck")
        return real(configs, *args)

    monkeypatch.setattr(runner, "run_group", failing)
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
    assert without_seconds(one) == without_seconds(two)


def test_any_joblib_backend_spreads_the_work(root, tmp_path):
    wanted = runner.cells(TOY, "random", "default", 2)
    one, two, three = (Records(tmp_path / name) for name in ("one", "two", "three"))
    runner.run_cells(wanted, one, root=root)
    runner.run_cells(wanted, two, root=root, jobs=2, backend="threading")
    with joblib.parallel_config("threading", n_jobs=2):
        runner.run_cells(wanted, three, root=root)
    assert without_seconds(one) == without_seconds(two) == without_seconds(three)


def test_distances_without_learning_are_computed_once_for_all_runs(root, tmp_path):
    wanted = runner.cells(TOY, "mean-pool", "authors", 3, ["knn", "svm"])
    records = Records(tmp_path / "r")
    runner.run_cells(wanted, records, root=root)
    assert len({records[config]["seconds"]["distances"] for config in wanted}) == 1  # one measurement
