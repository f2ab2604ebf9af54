import numpy as np
import torch

from graph_metric_learn_benchmarks.measure import Report, describe_machine, device_seconds, extra_memory, print_rows


def test_the_shortest_run_after_the_warm_up_counts():
    now, durations = [0.0], iter([0.125, 4.0, 0.5, 2.0])

    def call():
        now[0] += next(durations)

    assert device_seconds(call, torch.device("cpu"), 3, clock=lambda: now[0]) == 0.5
    assert next(durations, None) is None


def test_memory_beyond_what_was_there():
    used = extra_memory(lambda: np.ones(25_000_000))
    assert used is None or 190 < used < 260


def test_targets_are_judged(capsys):
    report = Report("x", machine={})
    report.target("a", 2.0, 3.0, at_most=True)
    report.target("b", 2.0, 3.0, at_most=False)
    report.target("c", None, 3.0, at_most=True)
    assert [t["met"] for t in report.targets] == [True, False, False]
    printed = capsys.readouterr().out
    assert "MISSED b: 2 x (>= 3)" in printed
    assert "MISSED c: unknown (<= 3)" in printed
    assert report.as_dict()["targets"][0] == {
        "what": "a", "value": 2.0, "limit": 3.0, "at_most": True, "unit": "x", "met": True,
    }  # fmt: skip


def test_rows_are_printed_with_two_decimals(capsys):
    print_rows("ms", {8: {"cpu": 1.2345}})
    assert capsys.readouterr().out == "       ms: {8: {'cpu': 1.23}}\n"


def test_the_machine_is_described():
    found = describe_machine()
    assert set(found) == {"cpu", "cores", "python", "torch", "numpy"}
    assert found["torch"] == torch.__version__
