import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn.metrics.automatic.products import (
    inner_products,
    squared_norms,
    squares_between,
)
from made_up_vectors import squares_of


def rows(rng, count, density):
    """Sparse rows; `density` by column, so that some columns are common and others rare or empty."""
    dense = rng.normal(size=(count, len(density))) * (rng.random((count, len(density))) < density)
    return sparse.csr_array(dense), dense


DENSITIES = {
    "both": np.concatenate([np.full(10, 0.7), np.full(300, 0.005), np.zeros(5)]),
    "common": np.full(10, 0.7),
    "rare": np.full(300, 0.005),
    "empty": np.zeros(4),
}


@pytest.mark.parametrize("kind", DENSITIES)
def test_products_of_sparse_rows_are_those_of_dense_ones(rng, kind):
    one, dense = rows(rng, 120, DENSITIES[kind])
    two, other = rows(rng, 90, DENSITIES[kind])
    np.testing.assert_allclose(inner_products(one, two), dense @ other.T, atol=1e-12)
    np.testing.assert_allclose(inner_products(dense, other), dense @ other.T)
    for vectors in (one, dense):
        np.testing.assert_allclose(squared_norms(vectors), (dense**2).sum(1))
    np.testing.assert_allclose(squares_between(one), squares_of(dense), atol=1e-10)


def test_distances_of_dense_rows(rng):
    one = rng.normal(size=(40, 7)).astype(np.float32)
    np.testing.assert_allclose(squares_between(one), squares_of(one), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_equal_rows_are_at_distance_zero_and_near_ones_are_not(rng, form, precision):
    """Far from the origin, where norms are large and differences small."""
    dense = (100.0 + rng.normal(size=(30, 20))).astype(np.float32)
    near = dense.copy()
    near[:, 0] += np.float32(1e-2)
    vectors = np.concatenate([dense, dense, near]).astype(precision)
    wanted = (near[:, 0].astype(float) - dense[:, 0]) ** 2
    squares = squares_between(form(vectors))
    assert (np.diag(squares[:30, 30:60]) == 0).all()
    assert (np.diag(squares) == 0).all()
    np.testing.assert_allclose(np.diag(squares[:30, 60:]), wanted, rtol=1e-3)
    assert (squares >= 0).all()
