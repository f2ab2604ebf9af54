import numpy as np
import pytest

from graph_metric_learn.index import kernels
from graph_metric_learn.index.rows import Axes
from vector_oracle import decaying, distances_to, nearest_rows

NO_DEAD = np.zeros(0, np.bool_)


def parts(coordinates):
    """Coarse and fine coordinates."""
    return np.ascontiguousarray(coordinates[:, :16]), np.ascontiguousarray(coordinates[:, 16:])


def prepared(vectors, queries):
    axes = Axes.fit(vectors)
    return parts(axes.coordinates(vectors)), axes.coordinates(queries)


@pytest.fixture(params=[3, 16, 40, 131])
def data(request, rng):
    vectors = decaying(rng, 1000, request.param)
    vectors[700] = vectors[30]  # equal distances
    queries = np.concatenate([decaying(rng, 6, request.param), vectors[[30, 999]]])
    return vectors, queries


@pytest.mark.parametrize("threads", [True, False])
@pytest.mark.parametrize("dead_rows", [[], [0, 30, 500, 999]])
def test_one_query_finds_what_a_plain_sum_finds(data, threads, dead_rows):
    vectors, queries = data
    heads, query_coordinates = prepared(vectors, queries)
    dead = np.isin(np.arange(1000), dead_rows) if dead_rows else NO_DEAD
    for q, query in enumerate(queries):
        best, where = np.full((1, 5), np.inf), np.full((1, 5), -1)
        refined = np.zeros(1, np.int64)
        kernels.nearest_one(
            *heads, vectors, dead, query_coordinates[q], query, 10, np.inf, best, where, refined, threads=threads
        )
        expected, rows = nearest_rows(vectors, query, 5, dead_rows)
        np.testing.assert_array_equal(where[0] - 10, rows)
        np.testing.assert_allclose(np.sqrt(best[0]), expected, rtol=1e-12, atol=1e-15)
        assert 5 <= refined[0] <= 1000


def test_few_rows_are_compared_by_all_coordinates(rng):
    vectors, queries = decaying(rng, 20_000, 64, 1.5), decaying(rng, 1, 64, 1.5)
    heads, query_coordinates = prepared(vectors, queries)
    refined = np.zeros(1, np.int64)
    best, where = np.full((1, 5), np.inf), np.full((1, 5), -1)
    kernels.nearest_one(*heads, vectors, NO_DEAD, query_coordinates[0], queries[0], 0, np.inf, best, where, refined)
    assert refined[0] < 200  # and by coarse coordinates alone
    best, where = np.full((1, 5), np.inf), np.full((1, 5), -1)
    alone = heads[0], heads[1][:, :0]
    kernels.nearest_one(*alone, vectors, NO_DEAD, query_coordinates[0], queries[0], 0, np.inf, best, where, refined)
    assert refined[0] < 1000


def test_chunks_look_at_their_own_rows_below_the_limit(data):
    vectors, queries = data
    heads, query_coordinates = prepared(vectors, queries)
    limit = np.median(distances_to(vectors, queries[0])) ** 2
    best, where = np.full((3, 4), np.inf), np.full((3, 4), -1)
    kernels.nearest_one(
        *heads, vectors, NO_DEAD, query_coordinates[0], queries[0], 0, limit, best, where, np.zeros(3, np.int64)
    )
    for c in range(3):
        lo, hi = c * 1000 // 3, (c + 1) * 1000 // 3
        _expected, rows = nearest_rows(vectors[lo:hi], queries[0], 4)
        assert list(where[c] - lo) == list(rows)
        assert (np.sqrt(best[c]) < np.sqrt(limit)).all()


@pytest.mark.parametrize("dead_rows", [[], [0, 30, 500, 999]])
def test_many_queries_find_what_plain_sums_find(data, dead_rows):
    vectors, queries = data
    heads, query_coordinates = prepared(vectors, queries)
    dead = np.isin(np.arange(1000), dead_rows) if dead_rows else NO_DEAD
    best, where = np.full((8, 5), np.inf), np.full((8, 5), -1)
    kernels.nearest_many(*heads, vectors, dead, query_coordinates, queries, 7, best, where, np.zeros(3, np.int64))
    centre = vectors.mean(0)
    products = ((queries - centre) @ (vectors - centre).T).astype(np.float32)
    norms, query_norms = (((part - centre).astype(np.float64) ** 2).sum(1) for part in (vectors, queries))
    others, other_rows = np.full((8, 5), np.inf), np.full((8, 5), -1)
    kernels.nearest_by_products(products, norms, query_norms, 1e-4, vectors, dead, queries, 7, others, other_rows)
    for q, query in enumerate(queries):
        expected, rows = nearest_rows(vectors, query, 5, dead_rows)
        np.testing.assert_array_equal(where[q] - 7, rows)
        np.testing.assert_array_equal(other_rows[q] - 7, rows)
        np.testing.assert_allclose(np.sqrt(best[q]), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(best[q], others[q])


def test_rows_within_a_radius_are_those_of_a_plain_sum(data):
    vectors, queries = data
    heads, query_coordinates = prepared(vectors, queries)
    for q in (0, 6):
        exact = np.empty(1000)
        kernels.all_squares(vectors, queries[q], exact)
        np.testing.assert_allclose(np.sqrt(exact), distances_to(vectors, queries[q]), rtol=1e-12, atol=1e-15)
        limit = np.sort(exact)[20]
        dead = np.arange(1000) == 30
        found = np.empty(1000)
        kernels.within(*heads, vectors, dead, query_coordinates[q], queries[q], limit, found)
        near = (exact <= limit) & ~dead  # the limit itself is within
        np.testing.assert_array_equal(found >= 0, near)
        np.testing.assert_array_equal(found[near], exact[near])


def test_heads_far_from_the_centre_hide_no_neighbour(rng):
    """Rounding of heads grows with their norm, and may be larger than the distances."""
    vectors = (decaying(rng, 2000, 24) * 1e-4 + 50.0).astype(np.float32)
    vectors[0] += 1e3  # the centre is elsewhere
    axes = Axes(np.full(24, -1e3), Axes.fit(vectors).directions, 2000)
    queries = vectors[[5, 1500]]
    heads, query_coordinates = parts(axes.coordinates(vectors)), axes.coordinates(queries)
    for q in range(2):
        best, where = np.full((1, 6), np.inf), np.full((1, 6), -1)
        refined = np.zeros(1, np.int64)
        kernels.nearest_one(*heads, vectors, NO_DEAD, query_coordinates[q], queries[q], 0, np.inf, best, where, refined)
        np.testing.assert_array_equal(where[0], nearest_rows(vectors, queries[q], 6)[1])
