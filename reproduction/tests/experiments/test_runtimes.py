import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import FGW, WWL
from graph_metric_learn_reproduction.experiments import runtimes
from graph_metric_learn_reproduction.experiments.published import PUBLISHED_SECONDS
from graph_metric_learn_reproduction.experiments.records import Records
from graph_metric_learn_reproduction.experiments.runner import cells
from graph_zoo import zoo
from small_records import MUTAG


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


@pytest.fixture
def timed(rng, monkeypatch):
    """Small graphs in place of the datasets; every call is made once and said to take 0.25 s, estimates are 7 s."""
    graphs, y = zoo(rng, 8)
    calls = []

    def seconds(call, **options):
        calls.append(call())
        return 0.25

    monkeypatch.setattr(runtimes, "dataset", lambda *args: (as_graphs(graphs), y))
    monkeypatch.setattr(runtimes, "seconds", seconds)
    for system in (WWL, FGW):
        monkeypatch.setattr(system, "estimate_seconds", lambda self, graphs: 7.0)
    return calls


def test_what_is_missing_is_measured_and_recorded(records, timed, capsys):
    pytest.importorskip("ot")
    runtimes.measure_datasets(records, root=None, datasets=["MUTAG"])
    assert runtimes.recorded_times(records)["MUTAG"] == {
        "training": 0.25, "distances": 0.25, "wwl": 7.0, "wwl-tree": 0.25, "fgw": 7.0,
    }  # fmt: skip
    metric, distances, by_tree = timed
    assert metric.depth == 4
    np.testing.assert_array_equal(distances, distances.T)
    assert by_tree.shape == (8, 8)
    assert "MUTAG, rpw: training 0.25 s, distances 0.25 s" in capsys.readouterr().out
    runtimes.measure_datasets(records, root=None, datasets=["MUTAG"])
    assert len(timed) == 3


def test_the_closed_form_is_for_discrete_features(records, timed):
    pytest.importorskip("ot")
    runtimes.measure_datasets(records, root=None, datasets=["BZR"])
    assert np.isnan(runtimes.recorded_times(records)["BZR"]["wwl-tree"])
    assert runtimes.recorded_times(records)["BZR"]["wwl"] == 7.0


def test_records_of_run_times_are_no_accuracy(records):
    records.add(runtimes.runtime_config("MUTAG", "rpw"), {"seconds": {"training": 1.0, "distances": 1.0}})
    assert runtimes.recorded_times(records)["MUTAG"]["training"] == 1.0
    assert np.isnan(runtimes.recorded_times(records)["NCI1"]["training"])
    assert all(config not in records for config in cells(MUTAG, "rpw", "authors", 1))


def test_rows_show_what_was_measured_and_below_it_what_was_published(records):
    records.add(runtimes.runtime_config("BZR", "rpw"), {"seconds": {"training": 0.125, "distances": 0.5}})
    records.add(runtimes.runtime_config("BZR", "fgw"), {"seconds": {"distances": 123.4}})
    head, *rows = runtimes.runtime_rows(records)
    assert head == ["seconds", *PUBLISHED_SECONDS]
    assert [row[:2] for row in rows] == [
        ["training, 10 epochs", "0.125"],
        ["— published", "35"],
        ["all distances", "0.5"],
        ["— published", "5"],
        ["all distances, WWL, a linear programme per pair", ""],
        ["— published", "16"],
        ["all distances, WWL, closed form", ""],
        ["all distances, FGW", "123"],
        ["— published", "240"],
    ]


def test_speed_against_others_is_said_for_what_was_measured(records):
    assert "not measured yet" in runtimes.speed_judgement(records)
    records.add(runtimes.runtime_config("NCI1", "rpw"), {"seconds": {"training": 1.0, "distances": 0.5}})
    records.add(runtimes.runtime_config("NCI1", "wwl"), {"seconds": {"distances": 1000.0}})
    records.add(runtimes.runtime_config("NCI1", "wwl-tree"), {"seconds": {"distances": 5.0}})
    assert runtimes.speed_judgement(records) == (
        "SGML on two cores, all distances of NCI1: 2,000 times as fast as WWL, a linear programme per pair, on one "
        "core; 10 times as fast as WWL, closed form, on one core."
    )
