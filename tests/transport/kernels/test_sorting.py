import numpy as np
import pytest

from graph_metric_learn.transport.kernels.sorting import sort_cloud, sort_clouds, stable_sort
from helpers import KINDS, make_cloud


@pytest.mark.parametrize("n", [0, 1, 2, 23, 24, 25, 48, 49, 97, 200])
def test_stable_sort_moves_the_index_along(rng, n):
    keys = rng.integers(0, 7, n).astype(float)  # many equal keys
    wanted = np.argsort(keys, kind="stable")
    values, index = keys.copy(), np.arange(n)
    stable_sort(values, index, np.empty(n), np.empty(n, np.int64))
    np.testing.assert_array_equal(index, wanted)
    np.testing.assert_array_equal(values, keys[wanted])


def order_by_definition(points, projections, lo, hi, canonical):
    """By Python's sort: the projection, then the coordinates, then the row number."""
    key = (lambda i, k: (projections[i, k], *points[i])) if canonical else (lambda i, k: projections[i, k])
    columns = range(projections.shape[1])
    return np.array([sorted(range(lo, hi), key=lambda i, k=k: key(i, k)) for k in columns]).T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("canonical", [False, True])
def test_one_cloud_among_others(rng, kind, canonical):
    points = make_cloud(rng, 60, 3, kind)
    projections = np.round(points @ rng.normal(size=(3, 4)))  # ties between different points
    order = np.full((60, 4), -1)
    sort_cloud(points, projections, 10, 45, canonical, order)
    np.testing.assert_array_equal(order[10:45], order_by_definition(points, projections, 10, 45, canonical))
    assert (order[:10] == -1).all()
    assert (order[45:] == -1).all()


@pytest.mark.parametrize("threads", [False, True])
def test_many_clouds(rng, threads):
    starts = np.array([0, 1, 30, 57, 60])
    points = make_cloud(rng, 60, 2, "grid")
    order = np.empty((60, 2), np.int64)
    sort_clouds(points, points, starts, True, order, threads=threads)
    parts = [order_by_definition(points, points, starts[g], starts[g + 1], True) for g in range(4)]
    np.testing.assert_array_equal(order, np.concatenate(parts))
