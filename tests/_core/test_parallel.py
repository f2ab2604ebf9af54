import os

import joblib
import numpy as np
import pytest

from graph_metric_learn._core.parallel import Package, in_parallel, is_parallel, size_of


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
