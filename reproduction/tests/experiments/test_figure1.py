import pytest

from graph_metric_learn_reproduction.experiments import figure1
from graph_metric_learn_reproduction.experiments.records import Records


@pytest.fixture
def calls(monkeypatch):
    """Each distance is computed once and said to take as many milliseconds as there are points in a cloud."""
    measured = []

    def seconds(call, **options):
        call()
        measured.append(len(call.args[0]))
        return measured[-1] / 1000

    monkeypatch.setattr(figure1, "seconds", seconds)
    return measured


def test_the_figure_goes_on_where_it_stopped(tmp_path, calls):
    pytest.importorskip("ot")
    records = Records(tmp_path)
    figure1.measure_figure(records, largest=10)
    assert calls == [10] * 7
    figure1.measure_figure(records, largest=30)
    assert calls[7:] == [30] * 7
    times = figure1.figure_times(Records(tmp_path))
    assert set(times) >= {"RPW2", "PW2", "W2 (POT)", "SW2 (POT)"}
    assert all(points == [(10, 0.01), (30, 0.03)] for points in times.values())
    figure1.measure_figure(records, largest=30)
    assert len(calls) == 14


def test_a_method_stops_before_it_takes_too_long(rng, calls):
    pytest.importorskip("ot")
    kept = []
    times = figure1.run_times(rng, largest=1000, patience=0.15, keep=lambda *point: kept.append(point))
    assert {name: points[-1][0] for name, points in times.items()} == dict.fromkeys(times, 100)
    assert len(kept) == 3 * 7
    assert kept[0] == ("W2 (POT)", 10, 0.01)


def test_what_is_expected_follows_the_last_two_sizes():
    assert figure1.expected_seconds([(10, 5.0)], 1000) == 0
    assert figure1.expected_seconds([(1, 9.0), (10, 1.0), (100, 100.0)], 1000) == pytest.approx(10_000)
    assert figure1.expected_seconds([(10, 1.0), (100, 1.0)], 1000) == pytest.approx(10)  # at least linear


def test_other_records_are_no_points(tmp_path):
    records = Records(tmp_path)
    records.add({"dataset": "MUTAG", "method": "rpw", "model": {}}, {"test": 1.0})
    assert figure1.figure_times(records) == {}
