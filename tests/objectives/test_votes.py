import numpy as np
import pytest

from graph_metric_learn.objectives.votes import class_votes, elected, neighbor_shares


def rounded_distances(rng, rows, columns):
    """Distances with many ties."""
    return rng.integers(0, 5, size=(rows, columns)).astype(np.float32)


def obvious_shares(distances, k):
    """Averages over many random orders of the columns, each taking the first k of a stable sort."""
    orders = np.random.default_rng(0)
    total = np.zeros(distances.shape)
    for _ in range(4000):
        order = orders.permutation(distances.shape[1])
        first = np.argsort(distances[:, order], axis=1, kind="stable")[:, :k]
        np.add.at(total, (np.arange(len(distances))[:, None], order[first]), 1.0)
    return total / 4000


@pytest.mark.parametrize("k", [1, 3, 8])
def test_equals_share_as_random_orders_would(rng, k):
    d = rounded_distances(rng, 4, 8)
    np.testing.assert_allclose(neighbor_shares(d, k), obvious_shares(d, k), atol=0.04)
    np.testing.assert_allclose(neighbor_shares(d, k).sum(1), k)


def test_votes_are_the_shares_by_class(rng):
    d, codes = rounded_distances(rng, 20, 30), rng.integers(0, 3, 30)
    ks = (1, 2, 5, 40)
    votes = class_votes(d, codes, 3, ks)
    for q, k in enumerate(ks):
        wanted = neighbor_shares(d, min(k, 30)) @ (codes[:, None] == np.arange(3))
        np.testing.assert_allclose(votes[:, q], wanted)


def test_the_order_of_the_voters_does_not_matter(rng):
    d, codes = rounded_distances(rng, 10, 40), rng.integers(0, 3, 40)
    order = rng.permutation(40)
    np.testing.assert_allclose(
        class_votes(d, codes, 3, (1, 3, 7)), class_votes(d[:, order], codes[order], 3, (1, 3, 7))
    )


def test_distances_equal_up_to_rounding_are_tied():
    d = np.array([[1.0, np.float32(1.0) + np.finfo(np.float32).eps, 3.0]], dtype=np.float32)
    np.testing.assert_allclose(neighbor_shares(d, 1), [[0.5, 0.5, 0.0]])
    np.testing.assert_allclose(class_votes(d, np.array([0, 1, 1]), 2, (1,)), [[[0.5, 0.5]]])


def test_without_ties_the_k_nearest_vote(rng):
    d = rng.random((5, 20))
    nearest = np.argsort(d, axis=1)[:, :4]
    wanted = np.zeros((5, 20))
    np.put_along_axis(wanted, nearest, 1.0, axis=1)
    np.testing.assert_array_equal(neighbor_shares(d, 4), wanted)


def test_the_most_votes_win_whatever_their_scale():
    assert elected(1 / np.array([[3e10, 1e10], [1e-10, 3e-10]])).tolist() == [1, 0]
    assert elected(np.array([[0.3, 0.1 + 0.2], [3e8, 3e8 * (1 + 1e-15)], [0.0, 0.0]])).tolist() == [0, 0, 0]
