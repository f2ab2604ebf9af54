import ast
from types import SimpleNamespace

import numpy as np
import pytest

from graph_metric_learn_benchmarks import training
from graph_metric_learn_benchmarks.inputs import rings_with_chords
from graph_metric_learn_reproduction.experiments.published import PUBLISHED_SECONDS
from graph_zoo import write_tu


@pytest.fixture
def report():
    return training.Report("training", machine={})


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder where MUTAG and IMDB-BINARY are twenty small graphs; every call is said to take 0.5 s."""
    for name in ("MUTAG", "IMDB-BINARY"):
        write_tu(tmp_path, 20, name)
    monkeypatch.setattr(training, "seconds", lambda call, **options: call() is None or 0.5)
    return tmp_path


def judged(report):
    return {target["what"]: target["value"] for target in report.targets}


def test_times_stand_beside_the_papers(report, root):
    training._datasets(report, root, ["MUTAG", "IMDB-BINARY"])
    assert report.numbers["datasets"]["MUTAG"] == {
        "graphs": 20, "training": 0.5, "distances": 0.5, "paper_training": 15, "paper_distances": 1,
    }  # fmt: skip
    assert judged(report)["IMDB-BINARY: distances faster than the paper's"] == 20
    assert training.draw(report).startswith(b"\x89PNG")


def test_all_choices_of_graph_metric_have_a_limit(report, root):
    training._graph_metric(report, root, ["MUTAG", "IMDB-BINARY"])
    limits = {target["what"]: target["limit"] for target in report.targets}
    assert limits == {"GraphMetric, MUTAG: all choices": 15, "GraphMetric, IMDB-BINARY: all choices": 15}
    assert all(target["value"] > 0 for target in report.targets)


def test_first_calls_and_predictions(report, root, monkeypatch):
    monkeypatch.setattr(training, "_fresh_process", lambda *args: (3.0, None))
    training._nci1(report, root, quick=True)
    assert report.numbers["nci1"] == {
        "dataset": "MUTAG", "graphs": 18, "warm": 0.5, "first_call": 3.0, "memory_MB": None, "predict_ms": 500,
    }  # fmt: skip
    assert judged(report)["predict one graph against 20"] == 500


def test_a_fresh_process_has_no_compiled_kernels(monkeypatch, tmp_path):
    ran = []

    def run(command, env, **options):
        ran.append((command, env["NUMBA_CACHE_DIR"]))
        return SimpleNamespace(stdout="1.5 nan\n" if len(ran) == 1 else "2.5 300\n")

    monkeypatch.setattr(training.subprocess, "run", run)
    assert training._fresh_process("MUTAG", "degree", None) == (1.5, None)
    assert training._fresh_process("MUTAG", "degree", tmp_path) == (2.5, 300.0)
    assert [command[3:] for command, _ in ran] == [["MUTAG", "degree", ""], ["MUTAG", "degree", str(tmp_path)]]
    assert ran[0][1] != ran[1][1]
    ast.parse(ran[0][0][2])


def test_steps_are_compared_by_nodes_and_graphs(report, monkeypatch):
    monkeypatch.setattr(training, "_seconds_per_step", lambda graphs: float(graphs.sizes[0]) ** 2)
    training._scaling(report, [30, 300])
    assert report.numbers["step_by_nodes"] == {30: 900.0, 300: 90_000.0}
    assert judged(report)["slope of the time per step from 30 to 300 nodes"] == pytest.approx(2)
    assert judged(report)["time per step with 10,000 graphs / with 1,000"] == 1


def test_a_step_is_a_batch_of_eight(rng, monkeypatch):
    history = SimpleNamespace(history_=SimpleNamespace(seconds=[9.0, 3.0, 6.0]))
    monkeypatch.setattr(training, "SGML", lambda **options: SimpleNamespace(fit=lambda graphs, y: history))
    assert training._seconds_per_step(rings_with_chords(rng, 17, 5)) == 1.0


def test_the_import_is_compared_with_that_of_torch(report, monkeypatch):
    ran = []
    monkeypatch.setattr(training.subprocess, "run", lambda command, check: ran.append(command[-1]))
    ticks = iter(np.arange(100.0))
    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    training._import(report)
    assert set(ran) == {"import torch", "import graph_metric_learn"}
    assert judged(report) == {"import / import torch": 1}


@pytest.mark.parametrize("quick", [True, False])
def test_a_run_is_all_of_these(monkeypatch, quick):
    called = {}
    for part in ("_datasets", "_nci1", "_graph_metric", "_scaling", "_import"):
        monkeypatch.setattr(training, part, lambda report, *args, part=part: called.update({part: args}))
    report = training.run(root=None, quick=quick)
    assert report.numbers == {"quick": quick}
    names = ["MUTAG", "BZR"] if quick else list(PUBLISHED_SECONDS)
    assert called["_datasets"] == (None, names)
    assert set(called) == {"_datasets", "_nci1", "_graph_metric", "_scaling", "_import"}
