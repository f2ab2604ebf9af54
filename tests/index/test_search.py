import numpy as np
import pytest

from graph_metric_learn.index import search
from vector_oracle import decaying, nearest_rows, segments_of


@pytest.fixture(params=["decaying", "flat"])
def data(request, rng):
    vectors = decaying(rng, 3000, 40, 1.0 if request.param == "decaying" else 0.0)
    vectors[[2000, 2500]] = vectors[10]
    queries = np.concatenate([decaying(rng, 20, 40), vectors[[10, 2999]]])
    dead = [5, 1200, 2000]
    segments, axes = segments_of(vectors, cuts=[7, 1000, 1001], dead=dead)
    return vectors, queries, dead, segments, axes


@pytest.mark.parametrize("count", [1, 3, 22])
@pytest.mark.parametrize("k", [1, 10, 600, 2997])
def test_the_nearest_are_those_of_a_plain_search(data, count, k):
    vectors, queries, dead, segments, axes = data
    queries = queries[-count:]
    distances, rows = search.nearest(segments, axes.coordinates(queries), queries, k)
    for q, query in enumerate(queries):
        expected, where = nearest_rows(vectors, query, k, dead)
        np.testing.assert_array_equal(rows[q], where)
        np.testing.assert_allclose(distances[q], expected, rtol=1e-12, atol=1e-15)


def test_threads_products_and_small_pieces_find_the_same(data, monkeypatch):
    _vectors, queries, _, segments, axes = data
    heads = axes.coordinates(queries)
    expected = search.nearest(segments, heads, queries, 5)
    used = []
    by_products = search._by_products
    monkeypatch.setattr(search, "_by_products", lambda *args: used.append(len(args[0])) or by_products(*args))
    monkeypatch.setattr(search, "_PIECE", 256)
    monkeypatch.setattr(search, "_THREADED", 100)
    monkeypatch.setattr(search, "_SEED_ROWS", 50)
    for share, expects_products in ((1.1, False), (-1.0, True)):
        used.clear()
        monkeypatch.setattr(search, "_MOST_REFINED", share)
        for found, wanted in zip(search.nearest(segments, heads, queries, 5), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert bool(used) == expects_products
    one = search.nearest(segments, heads[:1], queries[:1], 5)
    np.testing.assert_array_equal(one[1], expected[1][:1])


def test_radius(data):
    vectors, queries, dead, segments, axes = data
    for q in (0, -2):
        head, query = axes.coordinates(queries)[q], queries[q]
        exact, order = nearest_rows(vectors, query, len(vectors) - len(dead), dead)
        distances, rows = search.within_radius(segments, head, query, float(exact[30]) * (1 + 1e-9))
        np.testing.assert_array_equal(rows, order[:31])
        np.testing.assert_allclose(distances, exact[:31], rtol=1e-12, atol=1e-15)
    assert list(search.within_radius(segments, head, query, 0.0)[1]) == [10, 2500]  # 2000 is dead
    assert len(search.within_radius([], head, query, 1.0)[1]) == 0
