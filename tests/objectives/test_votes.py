import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.objectives.votes import class_votes, elected, neighbor_sums, vote_shares

KS = (1, 2, 5, 40)


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


def obvious_sums(distances, values, k, *, weighted):
    """The sums of one row after the other: neighbours sorted, those tied with the last one share what is left."""
    sums = np.zeros((len(distances), values.shape[1]))
    for row, found in zip(distances, sums, strict=True):
        finite = [(d, i) for i, d in enumerate(row) if np.isfinite(d)]
        if not finite:
            continue
        last = sorted(d for d, _ in finite)[min(k, len(finite)) - 1]
        nearer = [i for d, i in finite if d < last]
        tied = [i for d, i in finite if d == last]
        votes = dict.fromkeys(nearer, 1.0) | dict.fromkeys(tied, (min(k, len(finite)) - len(nearer)) / len(tied))
        if weighted:
            votes = {i: v / (max(row[i], last / 10) or 1) for i, v in votes.items()}
        for i, vote in votes.items():
            found += vote * values[i]
    return sums


@pytest.mark.parametrize("k", [1, 3, 8])
def test_equals_share_as_random_orders_would(rng, k):
    d = rounded_distances(rng, 4, 8)
    np.testing.assert_allclose(vote_shares(d, k), obvious_shares(d, k), atol=0.04)
    np.testing.assert_allclose(vote_shares(d, k).sum(1), k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_shares(rng, weighted, dtype):
    d, values = rounded_distances(rng, 20, 30).astype(dtype), rng.normal(size=(30, 4))
    d[:5] += 1  # rows without copies
    sums = neighbor_sums(d, values, KS, weighted=weighted)
    for q, k in enumerate(KS):
        wanted = vote_shares(d, min(k, 30), weighted=weighted) @ values
        np.testing.assert_allclose(sums[:, q], wanted, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@given(seed=st.integers(0, 10_000), most=st.integers(1, 4))
def test_sums_with_ties_and_some_that_do_not_count(weighted, seed, most):
    """Rows with fewer than k at a finite distance, with none, with copies, and without."""
    rng = np.random.default_rng(seed)
    d = rng.integers(0, most + 1, size=(6, 9)).astype(np.float64) + rng.integers(0, 2, size=(6, 1))
    d[rng.random(d.shape) < rng.choice([0.0, 0.3, 0.8])] = np.inf
    d[0] = np.inf
    values = rng.normal(size=(9, 2))
    ks = (1, 2, 3, 6, 9, 20)
    sums = neighbor_sums(d, values, ks, weighted=weighted)
    for q, k in enumerate(ks):
        np.testing.assert_allclose(sums[:, q], obvious_sums(d, values, k, weighted=weighted), atol=1e-12)
    assert (sums[0] == 0).all()


def test_copies_take_all_where_nothing_limits_votes():
    d = np.array([[0.0, 0.0, 1.0], [0.1, 1.0, 2.0]])
    unlimited = vote_shares(d, 3, weighted=True, limit=np.inf)
    np.testing.assert_allclose(unlimited, [[1.0, 1.0, 0.0], [10.0, 1.0, 0.5]])
    np.testing.assert_allclose(vote_shares(d, 3, weighted=True), [[10.0, 10.0, 1.0], [5.0, 1.0, 0.5]])


def test_votes_are_the_shares_by_class(rng):
    d, codes = rounded_distances(rng, 20, 30), rng.integers(0, 3, 30)
    votes = class_votes(d, codes, 3, KS)
    weighted = class_votes(d, codes, 3, KS, weighted=True)
    for q, k in enumerate(KS):
        for found, by_distance in ((votes, False), (weighted, True)):
            shares = vote_shares(d, min(k, 30), weighted=by_distance)
            np.testing.assert_allclose(found[:, q], shares @ (codes[:, None] == np.arange(3)), rtol=1e-6)
    np.testing.assert_allclose(votes.sum(2), np.broadcast_to(np.minimum(KS, 30), (20, 4)))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_the_voters_does_not_matter(rng, weighted):
    d, values = rounded_distances(rng, 10, 40), rng.normal(size=(40, 3))
    order = rng.permutation(40)
    np.testing.assert_allclose(
        neighbor_sums(d, values, (1, 3, 7), weighted=weighted),
        neighbor_sums(d[:, order], values[order], (1, 3, 7), weighted=weighted),
    )


def test_distances_equal_up_to_rounding_are_tied():
    d = np.array([[1.0, np.float32(1.0) + np.finfo(np.float32).eps, 3.0]], dtype=np.float32)
    np.testing.assert_allclose(vote_shares(d, 1), [[0.5, 0.5, 0.0]])
    np.testing.assert_allclose(class_votes(d, np.array([0, 1, 1]), 2, (1,)), [[[0.5, 0.5]]])


def test_without_ties_the_k_nearest_vote(rng):
    d = rng.random((5, 20))
    nearest = np.argsort(d, axis=1)[:, :4]
    wanted = np.zeros((5, 20))
    np.put_along_axis(wanted, nearest, 1.0, axis=1)
    np.testing.assert_array_equal(vote_shares(d, 4), wanted)


def test_numbers_of_neighbours_that_make_no_sense():
    d, values = np.zeros((2, 3)), np.ones((3, 1))
    for ks in ((3, 1), (0, 1)):
        with pytest.raises(ValueError, match="ks must ascend from 1 or more"):
            neighbor_sums(d, values, ks)
    with pytest.raises(ValueError, match="no neighbours"):
        neighbor_sums(np.zeros((2, 0)), np.ones((0, 1)), (1,))


def test_the_most_votes_win_whatever_their_scale():
    assert elected(1 / np.array([[3e10, 1e10], [1e-10, 3e-10]])).tolist() == [1, 0]
    assert elected(np.array([[0.3, 0.1 + 0.2], [3e8, 3e8 * (1 + 1e-15)], [0.0, 0.0]])).tolist() == [0, 0, 0]
