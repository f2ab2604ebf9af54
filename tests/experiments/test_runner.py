import joblib
import pytest

from graph_metric_learn.baselines import W2, MeanPool, SolverFailure
from graph_metric_learn.experiments import runner, systems
from graph_metric_learn.experiments.protocol import split
from graph_metric_learn.experiments.records import Records
from graph_metric_learn.experiments.reproduce import reproduce
from graph_metric_learn.experiments.settings import METHODS, TABLES, TASKS, Task, task_for
from graph_metric_learn.experiments.systems import grid
from graph_metric_learn.experiments.tables import accuracy_rows, seconds_rows, table_entry
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
    assert strip(one) == strip(two)


def test_any_joblib_backend_spreads_the_work(root, tmp_path):
    wanted = runner.cells(TOY, "random", "default", 2)
    one, two, three = (Records(tmp_path / name) for name in ("one", "two", "three"))
    runner.run_cells(wanted, one, root=root)
    runner.run_cells(wanted, two, root=root, jobs=2, backend="threading")
    with joblib.parallel_config("threading", n_jobs=2):
        runner.run_cells(wanted, three, root=root)
    assert strip(one) == strip(two) == strip(three)


def add(records, depth, validation, tests, **model):
    (setting,) = grid(TOY, "rpw", depth=depth, **model)
    for run, test in enumerate(tests):
        config = {"dataset": "TOY", "features": "degree", "method": "rpw", "classifier": "knn", "run": run,
                  "model": setting}  # fmt: skip
        seconds = {"training": 1.0, "distances": 2.0}
        records.add(config, {"validation": validation, "test": test, "seconds": seconds, "zeros": 0.5})


def test_the_setting_is_chosen_by_validation(tmp_path):
    records = Records(tmp_path / "r")
    assert table_entry(records, TOY, "rpw", "knn") == ""
    add(records, 1, 0.7, [0.9, 1.0])
    add(records, 2, 0.8, [0.6, 0.7])
    add(records, 2, 0.95, [1.0, 1.0], n_epochs=30)  # not one of the settings that are searched
    found = table_entry(records, TOY, "rpw", "knn")
    assert found.model["depth"] == 2
    assert found.mean == pytest.approx(65)
    assert found.std == pytest.approx(5)
    assert table_entry(records, TOY, "rpw", "svm") == ""
    assert table_entry(records, TOY, "rpw", "knn", n_epochs=30).mean == 100
    rows = accuracy_rows(list(records), [TOY, TASKS["MUTAG (degree)"]], [("rpw", "knn")])
    assert rows[1][1] == "65.0 ± 5.0 (2 runs)"
    assert rows[2] == ["— published", "", "90.0 ± 7.6"]
    assert seconds_rows(list(records), [TOY], [("rpw", "knn")])[1][1] == "3"


def test_settings_are_compared_on_the_runs_they_share(tmp_path):
    records = Records(tmp_path / "r")
    add(records, 1, 0.7, [0.9, 1.0])
    assert str(table_entry(records, TOY, "rpw", "knn")) == "95.0 ± 5.0 (2 runs, 1 of 2 settings)"
    add(records, 2, 0.99, [0.6])
    found = table_entry(records, TOY, "rpw", "knn")
    assert found.model["depth"] == 2
    assert str(found) == "60.0 ± 0.0 (1 run)"


def test_why_there_is_no_number(tmp_path):
    records = Records(tmp_path / "r")
    for config in runner.cells(TOY, "fgw", "authors", 2):
        records.add(config, {"estimated_seconds": 3 * 7200.0})
    for config in runner.cells(TOY, "w2", "authors", 2):
        records.add(config, {"failure": "graphs 0 and 1: no plan"})
    assert table_entry(records, TOY, "fgw", "knn") == "> 1 h (3.0 h)"
    assert table_entry(records, TOY, "w2", "knn") == "solver failed"
    first, second, third = runner.cells(TOY, "fgw", "authors", 1)
    records = Records(tmp_path / "mixed")
    records.add(first, {"validation": 0.5, "test": 0.5, "seconds": {"training": 0.0, "distances": 1.0}})
    records.add(second, {"failure": "graphs 0 and 1: no plan"})
    records.add(third, {"estimated_seconds": 3 * 7200.0})
    found = str(table_entry(records, TOY, "fgw", "knn"))
    assert found == "50.0 ± 0.0 (1 run, 1 of 3 settings, 1 failed, 1 > 1 h (3.0 h))"


def test_datasets_beyond_the_paper(root, tmp_path, capsys):
    out = tmp_path / "out"
    assert (
        reproduce(
            "table1", out, datasets=["TOY"], methods=["rpw"], runs=1, root=root, features="degree", progress=False
        )
        == []
    )
    assert "TOY (degree)" in capsys.readouterr().out
    assert (out / "README.md").read_text().startswith("# Results")
    assert task_for("TOY").features == "auto"
    assert task_for("PROTEINS", "fuse").epochs == (10, 20)
    with pytest.raises(ValueError, match="'wwl2'"):
        reproduce("table1", out, methods=["wwl2"])
    with pytest.raises(ValueError, match="'table9'"):
        reproduce("table9", out)


def test_the_papers_grids():
    assert len(TASKS) == 11
    assert all(name in TASKS for names in TABLES.values() for name in names)
    assert len(TASKS["MUTAG (degree)"].settings()) == 7
    assert len(TASKS["ENZYMES (labels)"].settings()) == 8
    assert TASKS["Cuneiform (fuse)"].settings()[0]["batch_size"] == 64
    assert set(METHODS) == {"rpw", "sw", "nca", "pw", "random"}


@pytest.mark.parametrize(
    ("method", "classifiers"),
    [("mean-pool", ["knn", "svm"]), ("wl-oa", ["knn", "svm"]), ("wwl-last", ["knn"]), ("pscn", ["own"])],
)
def test_other_systems_run_under_the_same_protocol(root, tmp_path, method, classifiers):
    pytest.importorskip("ot")
    wanted = runner.cells(TOY, method, "authors", 2, classifiers)
    records = Records(tmp_path / "r")
    assert runner.run_cells(wanted, records, root=root) == []
    assert len(records) == len(wanted)
    found = table_entry(records, TOY, method, classifiers[0])
    assert found.runs == 2
    assert found.mean > 60  # rings against stars
    assert not list((tmp_path / "r").rglob("*.npz"))


def test_systems_of_labels_read_these_where_a_task_has_numbers(tmp_path):
    """So a column of Table 2 shows what was run for Table 1, and is not run again."""
    labels, numbers = TASKS["ENZYMES (labels)"], TASKS["ENZYMES (fuse)"]
    for method in ("wl-oa", "fgw-wl"):
        assert runner.cells(numbers, method, "authors", 2) == runner.cells(labels, method, "authors", 2)
        assert {c["features"] for c in runner.cells(TASKS["MUTAG (degree)"], method, "authors", 1)} == {"degree"}
    assert {config["features"] for config in runner.cells(numbers, "wwl", "authors", 1)} == {"fuse"}
    records = Records(tmp_path / "r")
    for config in runner.cells(labels, "wl-oa", "authors", 2, ["svm"]):
        records.add(config, {"validation": 0.5, "test": 0.5, "seconds": {"training": 0.0, "distances": 1.0}})
    assert table_entry(records, numbers, "wl-oa", "svm").mean == 50


def test_distances_without_learning_are_computed_once_for_all_runs(root, tmp_path, monkeypatch):
    calls = []
    real = MeanPool.distances
    monkeypatch.setattr(MeanPool, "distances", lambda *args, **options: calls.append(1) or real(*args, **options))
    runner.run_cells(runner.cells(TOY, "mean-pool", "authors", 3, ["knn", "svm"]), Records(tmp_path / "r"), root=root)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("method", "classifiers"),
    [
        ("rpw", ["knn", "svm"]), ("graphmetric", ["knn-loo", "knn-weighted", "svm"]), ("mean-pool", ["1-nn", "svm"]),
        ("wl-oa", ["svm"]), ("largest-class", ["own"]), ("pscn", ["own"]),
    ],
)  # fmt: skip
def test_classes_of_test_graphs_change_the_test_score_alone(root, tmp_path, monkeypatch, method, classifiers):
    """The whole way from the files to the record: with the test graphs' classes swapped, nothing else differs."""
    config = runner.cells(TOY, method, "authors", 1, classifiers)[: len(classifiers)]
    graphs, y = systems.dataset("TOY", "degree", str(root))
    _, test = split(y, 0)
    swapped = y.copy()
    swapped[test] = y.max() + y.min() - y[test]  # two classes
    assert (swapped[test] != y[test]).all()
    results = []
    for number, classes in enumerate((y, swapped)):
        monkeypatch.setattr(systems, "split", lambda classes, run: split(y, run))
        monkeypatch.setattr(systems, "dataset", lambda *args, c=classes: (graphs, c))
        found = runner.run_group(config, str(root), str(tmp_path / str(number)))
        results.append([{name: value for name, value in one.items() if name != "seconds"} for one in found])
    for one, two in zip(*results, strict=True):
        assert one.pop("test") == pytest.approx(1 - two.pop("test"))
        assert one == two


def test_an_interrupted_svm_goes_on_with_the_next_run(root, tmp_path, monkeypatch):
    wanted = runner.cells(TOY, "mean-pool", "authors", 4, ["svm"])
    real, tried = systems._choose, []

    def dying(*args):
        tried.append(1)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(systems, "_choose", dying)
    with pytest.raises(KeyboardInterrupt):
        runner.run_cells(wanted, Records(tmp_path / "r"), root=root)
    records = Records(tmp_path / "r")
    assert len(records) == 0
    assert runner.run_cells(wanted, records, root=root) == []
    assert len(records) == 4
    assert len(tried) == 3 + 2
    assert not list((tmp_path / "r" / "unfinished").iterdir())


def test_the_ablation_compares_the_last_level():
    assert all(setting["last_only"] for setting in grid(TOY, "wwl-last"))


def test_what_takes_too_long_is_estimated_and_what_fails_is_said(root, tmp_path, monkeypatch):
    pytest.importorskip("ot")
    records = Records(tmp_path / "r")
    wanted = runner.cells(TOY, "w2", "authors", 2)
    monkeypatch.setattr(systems, "PATIENCE", 0.0)
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "w2", "knn").startswith("> 1 h")
    monkeypatch.undo()

    def failing(*args, **options):
        raise SolverFailure("graphs 3 and 5: no plan")

    monkeypatch.setattr(W2, "distances", failing)
    records = Records(tmp_path / "s")
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "w2", "knn") == "solver failed"
    assert next(iter(records))["result"]["failure"] == "graphs 3 and 5: no plan"


def test_graph_metric_is_chosen_anew_in_each_run(root, tmp_path):
    wanted = runner.cells(TOY, "graphmetric", "authors", 2, ["knn-loo", "svm"])
    records = Records(tmp_path / "r")
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "graphmetric", "knn-loo").mean > 80
    assert all(sum(record["result"]["weights"].values()) == pytest.approx(1) for record in records)


def test_a_method_whose_package_is_missing_is_left_out(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(W2, "missing", classmethod(lambda cls: ["ot"]))
    reproduce("table1", tmp_path, datasets=["TOY"], methods=["w2", "random"], runs=1, root=root, features="degree")
    captured = capsys.readouterr()
    assert "w2 is left out: it needs ot; install graph-metric-learn[baselines]" in captured.err
    assert "exact W2" not in captured.out
