import numpy as np

from graph_metric_learn.linalg.principal_axes import (
    axes_as_sums,
    principal_axes,
    principal_components,
    spanning_directions,
)


def test_axes_are_those_of_the_singular_value_decomposition(rng):
    points = rng.normal(size=(30, 4)) * [1, 9, 3, 5]
    centred = points - points.mean(0)
    scatter, axes = principal_axes(centred.T @ centred)
    _, lengths, rows = np.linalg.svd(centred)
    np.testing.assert_allclose(scatter, lengths**2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(rows @ axes), np.eye(4), atol=1e-6)


def test_components_are_the_axes_of_largest_scatter(rng):
    centred = (rng.normal(size=(200, 120)) * np.linspace(9, 1, 120)).astype(np.float32)
    basis = principal_components(centred)
    assert basis.shape == (120, 96)
    _, _, rows = np.linalg.svd(centred.astype(float))
    np.testing.assert_allclose(np.abs(np.sum(rows[:5].T * basis[:, :5], axis=0)), 1, atol=1e-2)


def test_axes_from_products_are_those_from_coordinates(rng):
    vectors = rng.normal(size=(12, 40)) * np.linspace(9, 1, 40)
    centred = vectors - vectors.mean(0)
    _, _, rows = np.linalg.svd(centred, full_matrices=False)
    axes = vectors.T @ axes_as_sums(vectors @ vectors.T, 5)
    np.testing.assert_allclose(np.abs(np.sum(rows[:5].T * axes, axis=0)), 1, atol=1e-9)
    assert axes_as_sums(vectors @ vectors.T, 100).shape == (12, 11)  # twelve points span eleven directions


def test_directions_span_what_differs(rng):
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    vectors = rng.normal(size=(30, 2)) * [1, 7] @ plane.T + 3.0
    directions = spanning_directions(vectors)
    assert directions.shape == (5, 2)
    np.testing.assert_allclose(directions @ directions.T, plane @ plane.T, atol=1e-9)
    along = (vectors - vectors.mean(0)) @ directions
    assert along[:, 0].std() > along[:, 1].std()
