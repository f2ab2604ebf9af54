import time

import numpy as np

from graph_metric_learn.bench.measure import Report, extra_memory, seconds


def test_the_shortest_run_counts():
    naps = iter([0.0, 0.05, 0.001, 0.05, 0.05, 0.05])
    assert seconds(lambda: time.sleep(next(naps)), budget=0.1, at_least=3) < 0.02


def test_memory_beyond_what_was_there():
    used = extra_memory(lambda: np.ones(25_000_000))
    assert used is None or 190 < used < 260


def test_targets_are_judged(capsys):
    report = Report("x", machine={})
    report.target("a", 2.0, 3.0, at_most=True)
    report.target("b", 2.0, 3.0, at_most=False)
    report.target("c", None, 3.0, at_most=True)
    assert [t["met"] for t in report.targets] == [True, False, False]
    assert "MISSED b: 2 x (>= 3)" in capsys.readouterr().out
