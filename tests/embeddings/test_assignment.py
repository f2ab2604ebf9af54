from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from embedding_clouds import dense, names
from graph_metric_learn.embeddings import Assignment, NormalizedAssignment


def counters(points, sizes):
    return [Counter(part.ravel().tolist()) for part in np.split(points, np.cumsum(sizes)[:-1])]


@given(seed=st.integers(0, 10_000), levels=st.integers(1, 3))
def test_products_are_sums_of_minima_and_squares_sums_of_differences(seed, levels):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, size=4)
    points = names(rng, sizes, levels)
    vectors = Assignment().fit(points, sizes, rng).vectors(points, sizes)
    assert set(vectors.data.tolist()) == {1.0}
    vectors, counted = dense(vectors), counters(points, sizes)
    for one, a in zip(vectors, counted, strict=True):
        for two, b in zip(vectors, counted, strict=True):
            every = set(a) | set(b)
            assert one @ two == sum(min(a[name], b[name]) for name in every)
            assert np.sum((one - two) ** 2) == sum(abs(a[name] - b[name]) for name in every)


def test_the_product_is_the_best_assignment(rng):
    """Of one cloud's points to the other's, worth 1 where names agree, by a solver."""
    sizes = np.array([6, 9])
    points = names(rng, sizes, levels=1)
    one, two = dense(Assignment().fit(points, sizes, rng).vectors(points, sizes))
    worth = points[:6] == points[6:].T
    rows, places = linear_sum_assignment(worth, maximize=True)
    assert one @ two == worth[rows, places].sum()


def test_more_of_a_name_than_was_seen_is_new(rng):
    """Two of it were seen: a third and a fourth are columns of their own, and in the last column together."""
    embedding = Assignment().fit(np.full((2, 1), 7, dtype=np.uint64), np.array([2]), rng)
    vectors = dense(embedding.vectors(np.full((5, 1), 7, dtype=np.uint64), np.array([1, 4])))
    assert sorted(vectors[0]) == [0, 0, 1]
    np.testing.assert_allclose(vectors[1], [1, 1, np.sqrt(2)])
    assert np.sum((vectors[0] - vectors[1]) ** 2) == pytest.approx(3)


@pytest.mark.parametrize("levels", [1, 2])
def test_normalised_vectors_have_length_one(rng, levels):
    sizes = np.array([5, 9, 1])
    points = names(rng, sizes, levels)
    plain = dense(Assignment().fit(points, sizes, rng).vectors(points, sizes))
    unit = dense(NormalizedAssignment().fit(points, sizes, rng).vectors(points, sizes))
    np.testing.assert_allclose(unit, plain / np.linalg.norm(plain, axis=1, keepdims=True))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)
    assert NormalizedAssignment().options() == {"normalized": True}
    same = dense(Assignment(normalized=True).fit(points, sizes, rng).vectors(points, sizes))
    np.testing.assert_array_equal(same, unit)


def test_a_copy_beside_a_cloud_adds_its_size_but_no_normalised_distance(rng):
    """Of two clouds of a single name, normalised distances compare shares of what can be paired."""
    one, three = np.full((1, 1), 7, dtype=np.uint64), np.full((3, 1), 7, dtype=np.uint64)
    points, sizes = np.concatenate([one, three]), np.array([1, 3])
    first, second = dense(NormalizedAssignment().fit(points, sizes, rng).vectors(points, sizes))
    assert first @ second == pytest.approx(1 / np.sqrt(3))
