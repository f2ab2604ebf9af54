import numpy as np

from graph_metric_learn.index.axes import FEW, Axes
from vector_oracle import decaying


def test_axes_are_those_of_the_covariance(rng):
    vectors = decaying(rng, 500, 30) + 3.0
    axes = Axes.fit(vectors)
    np.testing.assert_allclose(axes.directions.T @ axes.directions, np.eye(30), atol=1e-12)
    heads = axes.coordinates(vectors)
    np.testing.assert_allclose(heads, (vectors - vectors.mean(0, dtype=float)) @ axes.directions, atol=1e-5)
    variances = np.sort(np.linalg.eigvalsh(np.cov(vectors.T.astype(float), bias=True)))[::-1]
    np.testing.assert_allclose(heads.astype(float).var(0), variances, rtol=1e-3)


def test_distances_of_heads_bound_those_of_vectors(rng):
    vectors = decaying(rng, 80, 70)
    heads = Axes.fit(vectors).coordinates(vectors).astype(float)
    assert heads.shape == (80, 48)
    bound = np.linalg.norm(heads[:, None] - heads, axis=2)
    exact = np.linalg.norm(vectors[:, None].astype(float) - vectors, axis=2)
    assert (bound <= exact + 1e-6).all()
    assert bound.sum() > 0.7 * exact.sum()


def test_narrow_vectors_are_filled_up_with_zeros(rng):
    vectors = rng.normal(size=(20, 3)).astype(np.float32)
    heads = Axes.fit(vectors).coordinates(vectors)
    assert heads.shape == (20, 16)
    assert not heads[:, 3:].any()
    np.testing.assert_allclose(
        np.linalg.norm(heads[:, None] - heads, axis=2), np.linalg.norm(vectors[:, None] - vectors, axis=2), atol=1e-5
    )


def test_the_first_axes_are_the_first_coordinates(rng):
    vectors = rng.normal(size=(3, 20)).astype(np.float32)
    first = Axes.first(20)
    np.testing.assert_array_equal(first.coordinates(vectors), vectors)
    assert first.fitted_to == FEW
    assert not first.is_outgrown(4 * FEW - 1)
    assert first.is_outgrown(4 * FEW)
    assert not Axes.fit(vectors, 20_000).is_outgrown(10**6)  # many enough for good
