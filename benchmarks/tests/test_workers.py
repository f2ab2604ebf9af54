import numba
import pytest
from threadpoolctl import threadpool_info

from graph_metric_learn_benchmarks import workers
from graph_metric_learn_benchmarks.measure import Report


def test_workers_are_measured():
    pytest.importorskip("distributed", reason="needs the extra dask")
    report = Report("scale")
    workers.measure_workers(report, quick=True)
    taken = report.numbers["workers"]
    assert {name: len(seconds) for name, seconds in taken.items()} == dict.fromkeys(("here", "one", "two", "loky"), 3)
    values = {target["what"]: target["value"] for target in report.targets}
    assert values["two Dask workers / two of loky"] == min(taken["two"]) / min(taken["loky"])


def test_one_thread():
    before = numba.get_num_threads()
    with workers.one_thread():
        assert numba.get_num_threads() == 1
        assert {found["num_threads"] for found in threadpool_info()} == {1}
    assert numba.get_num_threads() == before
