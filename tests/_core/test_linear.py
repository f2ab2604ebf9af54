import numpy as np

from graph_metric_learn._core.linear import principal_axes, principal_directions


def test_axes_are_those_of_the_singular_value_decomposition(rng):
    points = rng.normal(size=(30, 4)) * [1, 9, 3, 5]
    centred = points - points.mean(0)
    scatter, axes = principal_axes(centred.T @ centred)
    _, lengths, rows = np.linalg.svd(centred)
    np.testing.assert_allclose(scatter, lengths**2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(rows @ axes), np.eye(4), atol=1e-6)


def test_directions_are_principal_components(rng):
    vectors = (rng.normal(size=(30, 8)) * [9, 5, 1, 1, 1, 1, 1, 1]).astype(np.float32)
    directions = principal_directions(vectors, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-4)
    _, _, rows = np.linalg.svd(vectors - vectors.mean(0))
    np.testing.assert_allclose(np.abs(rows[:2] @ directions), np.eye(2), atol=1e-3)
    assert principal_directions(np.ones((5, 3), np.float32) * np.arange(5, dtype=np.float32)[:, None], 4).shape == (
        3,
        1,
    )
