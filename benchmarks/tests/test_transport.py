import numpy as np
import pytest

from graph_metric_learn_benchmarks import transport
from graph_metric_learn_reproduction.experiments import figure1


@pytest.fixture
def calls(monkeypatch):
    """Every call is made once and said to take 0.5 s."""
    made = []

    def seconds(call, **options):
        made.append(call())
        return 0.5

    monkeypatch.setattr(transport, "seconds", seconds)
    monkeypatch.setattr(figure1, "seconds", seconds)
    return made


def test_the_quick_run_measures_everything(calls):
    pytest.importorskip("ot")
    report = transport.run(quick=True)
    assert report.numbers["quick"] is True
    assert report.numbers["all_pairs"]["clouds"] == 500
    assert report.numbers["all_pairs"]["seconds"] == 0.5
    assert calls[0].shape == (500, 500)  # all distances
    assert report.numbers["weighted_pairs"]["pot_loop_seconds_extrapolated"] == 0.5 / 200 * 200 * 199 / 2
    assert set(report.numbers["one_pair"]) == {10, 100, 1000}
    assert all(points == [(10, 0.5), (30, 0.5)] for points in report.numbers["figure"].values())
    judged = {target["what"]: target["value"] for target in report.targets}
    assert judged["one pair of 1,000 points: faster than POT's SW2"] == 1
    assert judged["weighted pairs of 200 clouds: faster than looping POT"] == pytest.approx(99.5)
    assert transport.draw(report).startswith(b"\x89PNG")


def test_multiplications_are_counted_pair_by_pair(rng):
    sizes = rng.integers(3, 9, 12)
    pairs = [(i, j) for i in range(12) for j in range(12) if sizes[i] < sizes[j] or sizes[i] == sizes[j]]
    expected = sum(int(min(sizes[i], sizes[j])) * 5 * 5 for i, j in pairs)
    assert transport.product_size(sizes) == expected


def test_large_pairs_are_judged_by_how_time_grows(calls, monkeypatch, rng):
    monkeypatch.setattr(transport, "_two_clouds", lambda rng, n: (np.zeros((9, 5)), np.ones((9, 5))))
    report = transport.Report("transport", machine={})
    rows = {10**4: {"rpw": 1.0}, 10**6: {"rpw": 1000.0, "argsorts": 500.0}}
    transport._large_pairs(report, rng, rows)
    judged = {target["what"]: target["value"] for target in report.targets}
    assert judged["one pair of 1,000,000 points / ten argsorts"] == 2
    assert judged["log-log slope from 10^4 to 10^6 points"] == pytest.approx(1.5)
    assert judged["100,000 against 99,999 points / equal sizes"] == 1
    assert set(report.numbers["ten_million"]) == {"seconds", "GB_with_input"}
