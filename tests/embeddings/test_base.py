import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graph_metric_learn.embeddings.base import EMBEDDINGS, Axes, Histogram, Mean, Reference, restore

IN_SPACE = [kind for kind, embedding in EMBEDDINGS.items() if not embedding.takes_columns]


def clouds(rng, sizes=(5, 9, 1, 16), dim=3, zeros=True):
    points = rng.normal(size=(sum(sizes), dim))
    if zeros:
        points = np.maximum(points, 0)
    return points.astype(np.float32), np.array(sizes)


def fitted(kind, points, sizes=None):
    sizes = np.array([points.shape[0]]) if sizes is None else sizes
    return EMBEDDINGS[kind]().fit(points, sizes, np.random.default_rng(0))


def test_mean(rng):
    points, sizes = clouds(rng)
    vectors = Mean().vectors(points, sizes)
    np.testing.assert_allclose(vectors[1, 0], points[5:14].mean(0), rtol=1e-5)


def test_reference_is_the_transported_reference(rng):
    points, sizes = clouds(rng, zeros=False)
    embedding = Reference(4).fit(points, sizes, np.random.default_rng(0))
    vectors = embedding.vectors(points, sizes)
    x = points[5:14].astype(float)
    plan = ot.emd(np.full(4, 0.25), np.full(9, 1 / 9), ot.dist(embedding.reference, x))
    moved = plan @ x / 0.25  # where each reference point goes
    np.testing.assert_allclose(vectors[1], moved / np.sqrt(4), atol=1e-5)


def test_reference_is_exact_for_clouds_of_its_own_size(rng):
    """With as many points as the reference, the plan is a matching, and d is W2 to a shifted copy."""
    x = rng.normal(size=(6, 3)).astype(np.float32)
    embedding = Reference(6)
    embedding.reference = x.astype(float)
    both = np.concatenate([x, x + 1e-2])
    u, v = embedding.vectors(both, np.array([6, 6]))
    assert np.linalg.norm(u - v) == pytest.approx(1e-2 * np.sqrt(3), rel=1e-3)


def test_axes_are_averages_along_the_walk(rng):
    points, sizes = clouds(rng, zeros=False)
    embedding = Axes(2, 4).fit(points, sizes, np.random.default_rng(0))
    vectors = embedding.vectors(points, sizes)
    x = points[5:14].astype(float)
    for k in range(2):
        walk = x[np.argsort(x @ embedding.axes[:, k])]
        wanted = np.repeat(walk, 4, axis=0).reshape(4, 9, 3).mean(1)
        np.testing.assert_allclose(vectors[1].reshape(2, 4, 3)[k], wanted / np.sqrt(8), atol=1e-5)


@pytest.mark.parametrize("kind", IN_SPACE)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_numbering_of_the_points_does_not_matter(kind, seed):
    rng = np.random.default_rng(seed)
    points, sizes = clouds(rng, (7, 12))
    embedding = fitted(kind, points)
    order = np.concatenate([rng.permutation(7), 7 + rng.permutation(12)])
    one, two = embedding.vectors(points, sizes), embedding.vectors(points[order], sizes)
    np.testing.assert_allclose(one, two, atol=1e-4)


@pytest.mark.parametrize("kind", IN_SPACE)
def test_vectors_are_the_means_of_the_slots(rng, kind):
    points, sizes = clouds(rng)
    embedding = fitted(kind, points)
    vectors = embedding.vectors(points, sizes)
    shares = embedding.shares(points[5:14])
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-6)
    np.testing.assert_allclose(shares.sum(0), len(shares) / 9, atol=1e-6)
    assert (shares > -1e-12).all()
    np.testing.assert_allclose(vectors[1], shares @ points[5:14] / np.sqrt(len(shares)), atol=1e-5)


@pytest.mark.parametrize("kind", IN_SPACE)
def test_restored_from_its_arrays(rng, kind):
    points, sizes = clouds(rng)
    embedding = fitted(kind, points)
    again = restore(kind, embedding.arrays())
    np.testing.assert_array_equal(embedding.vectors(points, sizes), again.vectors(points, sizes))


def test_fewer_different_points_than_the_reference_wants():
    points = np.repeat(np.eye(2, dtype=np.float32), 10, axis=0)
    assert len(Reference(32).fit(points, np.array([20]), np.random.default_rng(0)).reference) == 2


def columns(rng, sizes, blocks=2, width=4):
    """Rows with a 1 in one of four columns, in each of two blocks."""
    one_hot = [np.eye(width)[rng.integers(width, size=sum(sizes))] for _ in range(blocks)]
    return sparse.csr_array(np.concatenate(one_hot, axis=1))


def test_histogram_is_the_distance_of_hellinger(rng):
    points = columns(rng, (5, 9))
    one, two = Histogram().vectors(points, np.array([5, 9]))[:, 0].astype(float)
    p, q = points[:5].toarray().mean(0), points[5:].toarray().mean(0)
    assert np.sum((one - two) ** 2) == pytest.approx(2 * 2 - 2 * np.sum(np.sqrt(p * q)), rel=1e-5)


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_comparisons_add_up_to_the_squared_distance(rng, kind):
    sizes = np.array([5, 9])
    if EMBEDDINGS[kind].takes_columns:
        points = columns(rng, sizes)
    else:
        points, _ = clouds(rng, tuple(sizes))
    embedding = fitted(kind, points)
    weights = rng.uniform(size=points.shape[1])
    one, two = embedding.vectors(points, sizes).astype(float)
    wanted = np.sum(weights * (one - two) ** 2)
    plan, source, target = embedding.compare(points[:5], points[5:], weights)
    np.testing.assert_allclose(plan.sum(1), 1 / 5, atol=1e-6)
    np.testing.assert_allclose(plan.sum(0), 1 / 9, atol=1e-6)
    assert plan.min() > -1e-12
    assert source.sum() == pytest.approx(wanted, rel=1e-4)
    assert target.sum() == pytest.approx(wanted, rel=1e-4)


def test_a_histogram_blames_what_only_one_has(rng):
    x = sparse.csr_array(np.eye(3)[[0, 0, 1]])
    z = sparse.csr_array(np.eye(3)[[0, 0, 2]])
    plan, source, target = Histogram().compare(x, z, np.ones(3))
    assert source.argmax() == 2
    assert target.argmax() == 2
    assert plan[2, 2] == pytest.approx(1 / 3)  # nothing else is left for it
    np.testing.assert_allclose(plan[:2, :2], 1 / 6)


def test_the_reference_moves_towards_the_barycentre(rng):
    """The mean squared distance of clouds to their reference cannot grow."""
    points, sizes = clouds(rng, (12,) * 20, zeros=False)

    def spread(reference):
        cost = 0.0
        for x in np.split(points.astype(float), 20):
            cost += ot.emd2(np.full(len(reference), 1 / len(reference)), np.full(12, 1 / 12), ot.dist(reference, x))
        return cost

    embedding = fitted("reference", points, sizes)
    before = embedding.reference.copy()
    embedding._centred(points, sizes, np.random.default_rng(0))
    assert spread(embedding.reference) <= spread(before) + 1e-9


def test_equal_points_have_equal_shares():
    x = np.repeat(np.eye(3, dtype=np.float32), [5, 1, 1], axis=0)
    embedding = fitted("reference", np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32))
    shares = embedding.shares(x)
    np.testing.assert_allclose(shares[:, :5], shares[:, :1].repeat(5, axis=1), atol=1e-12)
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-6)


def test_axes_along_which_nothing_varies_are_left_out(rng):
    points = rng.normal(size=(100, 2)).astype(np.float32)
    flat = np.concatenate([points, -points.sum(1, keepdims=True)], axis=1)  # in a plane, up to rounding
    assert fitted("axes", flat).axes.shape == (3, 2)
