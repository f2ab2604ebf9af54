import numba
import pytest
from threadpoolctl import threadpool_info

from graph_metric_learn_benchmarks import workers
from graph_metric_learn_benchmarks.measure import Report


def test_workers_are_measured(monkeypatch, capsys):
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(workers, "_embedding", lambda metric, graphs: len(metric.transform(graphs[:50])) / 50)
    report = Report("scale")
    workers.measure_workers(report, quick=True)
    assert report.numbers["workers"] == dict.fromkeys(("here", "one", "two", "loky"), [1.0] * 3)
    assert {target["what"]: target["met"] for target in report.targets}["two Dask workers / two of loky"]


def test_one_thread():
    before = numba.get_num_threads()
    with workers.one_thread():
        assert numba.get_num_threads() == 1
        assert {found["num_threads"] for found in threadpool_info()} == {1}
    assert numba.get_num_threads() == before
