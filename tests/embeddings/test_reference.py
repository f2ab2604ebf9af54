import numpy as np
import ot
import pytest

from embedding_clouds import clouds, fitted
from graph_metric_learn.embeddings import Reference


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


def test_fewer_different_points_than_the_reference_wants():
    points = np.repeat(np.eye(2, dtype=np.float32), 10, axis=0)
    assert len(Reference(32).fit(points, np.array([20]), np.random.default_rng(0)).reference) == 2


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
