import os
import threading
import time

import joblib
import numpy as np
import pytest

import graph_metric_learn as gml
from cluster import cluster
from graph_metric_learn._core.compiled import thread_count
from graph_metric_learn._core.parallel import Package, by_threads, in_parallel, is_parallel, size_of
from graph_metric_learn.graphs import stream
from graph_zoo import as_pyg, zoo


def where(shared, task):
    return shared["offset"] + task, os.getpid()


def test_here_and_in_processes_results_come_in_order():
    here = list(in_parallel(where, range(7), {"offset": 10}))
    assert [value for value, _ in here] == list(range(10, 17))
    assert {process for _, process in here} == {os.getpid()}
    with joblib.parallel_config("loky", n_jobs=2):
        assert is_parallel()
        there = list(in_parallel(where, iter(range(7)), {"offset": 10}))
    assert [value for value, _ in there] == list(range(10, 17))
    assert os.getpid() not in {process for _, process in there}
    assert not is_parallel()


def test_tasks_are_drawn_when_they_are_needed():
    drawn = []
    results = in_parallel(where, (drawn.append(i) or i for i in range(100)), {"offset": 0})
    next(results)
    assert len(drawn) == 1


def thread(shared, task):
    shared.wait(timeout=60)  # until all threads are here
    return task, threading.current_thread().name


def test_threads_do_several_at_once_in_order():
    count = thread_count()
    done = list(in_parallel(thread, range(2 * count), threading.Barrier(count), threads=True))
    assert [task for task, _ in done] == list(range(2 * count))
    assert len({name for _, name in done}) == count
    with pytest.raises(ValueError, match="graph 3 is bad"):
        list(in_parallel(fails, [3], threads=True))


def test_results_of_threads_come_while_others_are_worked_on():
    done = []

    def work(task):
        time.sleep(0.005)
        done.append(task)
        return task

    results = by_threads(work, range(100))
    assert next(results) == 0
    assert len(done) < 100
    assert list(results) == list(range(1, 100))
    assert sorted(done) == list(range(100))


def test_after_an_error_no_thread_begins_another_task():
    begun = []

    def work(task):
        begun.append(task)
        time.sleep(0.01)
        if task == 3:
            raise ValueError("graph 3 is bad")

    with pytest.raises(ValueError, match="graph 3 is bad"):
        list(by_threads(work, range(1000)))
    assert len(begun) < 500


def test_threads_may_use_threads():
    rows = by_threads(lambda row: list(by_threads(lambda column: 10 * row + column, range(5))), range(5))
    assert list(rows) == [[10 * row + column for column in range(5)] for row in range(5)]


def fails(shared, task):
    raise ValueError(f"graph {task} is bad")


def test_errors_come_through():
    with pytest.raises(ValueError, match="graph 3 is bad"):
        list(in_parallel(fails, [3], None))
    with joblib.parallel_config("loky", n_jobs=2), pytest.raises(ValueError, match=r"graph [34] is bad"):
        list(in_parallel(fails, [3, 4], None))


def test_sizes_count_arrays_inside():
    array = np.zeros(10_000)
    assert size_of({"a": [array, array]}) == pytest.approx(80_000, abs=1000)
    assert Package((array, array.copy())).__sizeof__() >= 160_000


def slowly(shared, task):
    time.sleep(0.2)
    return shared * task


def test_a_cluster_does_the_same_bit_by_bit_though_a_worker_is_killed(tmp_path, rng, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(stream, "CHUNK", 10)
    pairs, y = zoo(rng, 60)
    graphs = as_pyg(pairs, y)
    here = gml.GraphMetric(random_state=0).fit(graphs[:40], y[:40])
    vectors = here.transform(graphs)
    with (
        cluster(tmp_path) as (address, workers),
        distributed.Client(address) as client,
        joblib.parallel_config("dask"),
    ):
        assert is_parallel()
        processes = set(client.run(os.getpid).values())
        done = list(in_parallel(where, range(20), {"offset": 0}))
        assert [value for value, _ in done] == list(range(20))
        assert {process for _, process in done} <= processes
        there = gml.GraphMetric(random_state=0).fit(graphs[:40], y[:40])
        np.testing.assert_array_equal(there.transform(graphs), vectors)
        np.testing.assert_array_equal(there.transform(iter(graphs)), vectors)
        results = in_parallel(slowly, range(30), np.ones(3))
        first = next(results)
        workers[0].kill()  # in mid-job
        assert [one[0] for one in (first, *results)] == list(range(30))
        assert len(client.scheduler_info()["workers"]) == 1
        left = {process for _, process in in_parallel(where, range(4), {"offset": 0})}
        assert left == {workers[1].pid}  # not here, though there is only one
        np.testing.assert_array_equal(there.transform(graphs), vectors)
