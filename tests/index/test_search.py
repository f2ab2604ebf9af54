import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.index import search
from graph_metric_learn.index.rows import Axes, Batch, State, appended
from graph_metric_learn.transport import curve_vectors
from vector_oracle import decaying, nearest_rows, state_of


@pytest.fixture(params=["decaying", "flat"])
def data(request, rng):
    vectors = decaying(rng, 3000, 40, 1.0 if request.param == "decaying" else 0.0)
    vectors[[2000, 2500]] = vectors[10]
    queries = np.concatenate([decaying(rng, 20, 40), vectors[[10, 2999]]])
    dead = [5, 1200, 2000]
    return vectors, queries, dead, state_of(vectors, cuts=[7, 1000, 1001], dead=dead)


@pytest.mark.parametrize("count", [1, 3, 22])
@pytest.mark.parametrize("k", [1, 10, 600, 2997])
def test_the_nearest_are_those_of_a_plain_search(data, count, k):
    vectors, queries, dead, state = data
    queries = queries[-count:]
    distances, rows = search.nearest(state, queries, k)
    for q, query in enumerate(queries):
        expected, where = nearest_rows(vectors, query, k, dead)
        np.testing.assert_array_equal(rows[q], where)
        np.testing.assert_allclose(distances[q], expected, rtol=1e-12, atol=1e-15)


def test_threads_products_and_small_pieces_find_the_same(data, monkeypatch):
    _vectors, queries, _, state = data
    expected = search.nearest(state, queries, 5)
    monkeypatch.setattr(search, "_PIECE", 256)
    monkeypatch.setattr(search, "_THREADED", 100)
    monkeypatch.setattr(search, "_SEED_ROWS", 50)
    for share in (1.1, -1.0):  # never by products, and always from the second piece on
        monkeypatch.setattr(search, "_MOST_REFINED", share)
        for found, wanted in zip(search.nearest(state, queries, 5), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    one = search.nearest(state, queries[:1], 5)
    np.testing.assert_array_equal(one[1], expected[1][:1])


def test_radius(data):
    vectors, queries, dead, state = data
    for q in (0, -2):
        query = queries[q]
        exact, order = nearest_rows(vectors, query, len(vectors) - len(dead), dead)
        distances, rows = search.within_radius(state, query, float(exact[30]) * (1 + 1e-9))
        np.testing.assert_array_equal(rows, order[:31])
        np.testing.assert_allclose(distances, exact[:31], rtol=1e-12, atol=1e-15)
    assert list(search.within_radius(state, query, 0.0)[1]) == [10, 2500]  # 2000 is dead
    assert len(search.within_radius(State(), query, 1.0)[1]) == 0


# --- curves ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[False, True], ids=["uniform", "weighted"])
def curve_data(request, rng):
    clouds = [np.maximum(rng.normal(size=(n, 3)), 0).astype(np.float32) for n in rng.integers(2, 9, 120)]
    clouds[50] = clouds[7][::-1].copy()  # the same points in another order
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds] if request.param else None
    if weights is not None:
        weights[50] = weights[7][::-1].copy()
    curves = gml.as_curves(clouds, weights=weights)
    vectors = curve_vectors(curves, 3).astype(np.float32)  # coarse: bounds are far from exact
    axes, state = Axes.fit(vectors), State()
    for lo, hi in ((0, 40), (40, 120)):
        state = appended(state, Batch(vectors[lo:hi], range(lo, hi), None, search.curve_arrays(curves[lo:hi])), axes)
    return curves, vectors, state


def test_curves_come_back(curve_data):
    curves, _, state = curve_data
    rows = np.array([3, 39, 40, 119])
    found = search.curves_at(state, rows)
    np.testing.assert_array_equal(found.values, curves[rows].values)
    np.testing.assert_array_equal(found.sizes, curves.sizes[rows])
    np.testing.assert_allclose(gml.pairwise_distances(found), gml.pairwise_distances(curves[rows]), atol=1e-6)


def test_the_nearest_are_those_of_all_exact_distances(curve_data):
    curves, vectors, state = curve_data
    some = np.arange(0, 120, 9)
    distances, rows = search.nearest_curves(state, vectors[some], curves[some], 4)
    exact = gml.pairwise_distances(curves)[some]
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :4], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(exact, rows, 1), distances, atol=1e-5)
    bound = np.linalg.norm(vectors[some, None] - vectors, axis=2)
    assert (np.sort(np.argsort(bound, axis=1)[:, :4]) != np.sort(rows, axis=1)).any()  # bounds alone would not do


def test_removed_rows_are_left_out(curve_data):
    curves, vectors, state = curve_data
    state = state.without(np.array([7]))
    _, rows = search.nearest_curves(state, vectors[7:8], curves[7:8], 1)
    assert rows[0, 0] == 50


def test_within_a_radius(curve_data):
    curves, vectors, state = curve_data
    exact = gml.pairwise_distances(curves)[7]
    radius = float(np.sort(exact)[12]) * 1.0001
    distances, rows = search.curves_within(state, vectors[7], curves[7:8], radius)
    assert set(rows) == set(np.flatnonzero(exact <= radius))
    assert list(rows[:2]) == [7, 50]
    assert (np.diff(distances) >= 0).all()
    far = search.curves_within(state, vectors[7] + 100, curves[7:8], 0.0)
    assert len(far[0]) == 0
