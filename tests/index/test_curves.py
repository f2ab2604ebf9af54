import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.index.axes import Axes
from graph_metric_learn.index.curves import curve_arrays, curves_at, curves_within, nearest_curves
from graph_metric_learn.index.segment import Segment
from graph_metric_learn.transport import curve_vectors


@pytest.fixture(params=[False, True], ids=["uniform", "weighted"])
def data(request, rng):
    clouds = [np.maximum(rng.normal(size=(n, 3)), 0).astype(np.float32) for n in rng.integers(2, 9, 120)]
    clouds[50] = clouds[7][::-1].copy()  # the same points in another order
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds] if request.param else None
    if weights is not None:
        weights[50] = weights[7][::-1].copy()
    curves = gml.as_curves(clouds, weights=weights)
    vectors = curve_vectors(curves, 3).astype(np.float32)  # coarse: bounds are far from exact
    axes = Axes.fit(vectors)
    segments = []
    for lo, hi in ((0, 40), (40, 120)):
        heads = axes.coordinates(vectors[lo:hi])
        segments.append(Segment.of(heads, vectors[lo:hi], list(range(lo, hi)), None, curve_arrays(curves[lo:hi])))
    return curves, vectors, axes.coordinates(vectors), segments


def test_curves_come_back(data):
    curves, _, _, segments = data
    rows = np.array([3, 39, 40, 119])
    found = curves_at(segments, rows)
    np.testing.assert_array_equal(found.values, curves[rows].values)
    np.testing.assert_array_equal(found.sizes, curves.sizes[rows])
    np.testing.assert_allclose(gml.pairwise_distances(found), gml.pairwise_distances(curves[rows]), atol=1e-6)


def test_the_nearest_are_those_of_all_exact_distances(data):
    curves, vectors, heads, segments = data
    some = np.arange(0, 120, 9)
    distances, rows = nearest_curves(segments, heads[some], vectors[some], curves[some], 4)
    exact = gml.pairwise_distances(curves)[some]
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :4], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(exact, rows, 1), distances, atol=1e-5)
    bound = np.linalg.norm(vectors[some, None] - vectors, axis=2)
    assert (np.sort(np.argsort(bound, axis=1)[:, :4]) != np.sort(rows, axis=1)).any()  # bounds alone would not do


def test_removed_rows_are_left_out(data):
    curves, vectors, heads, segments = data
    segments = [segments[0].without(np.array([7])), segments[1]]
    _, rows = nearest_curves(segments, heads[7:8], vectors[7:8], curves[7:8], 1)
    assert rows[0, 0] == 50


def test_within_a_radius(data):
    curves, vectors, heads, segments = data
    exact = gml.pairwise_distances(curves)[7]
    radius = float(np.sort(exact)[12]) * 1.0001
    distances, rows = curves_within(segments, heads[7], vectors[7], curves[7:8], radius)
    assert set(rows) == set(np.flatnonzero(exact <= radius))
    assert list(rows[:2]) == [7, 50]
    assert (np.diff(distances) >= 0).all()
    far = curves_within(segments, heads[7] + 100, vectors[7] + 100, curves[7:8], 0.0)
    assert len(far[0]) == 0
