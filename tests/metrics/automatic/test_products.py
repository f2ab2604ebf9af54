import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn.metrics.automatic.products import (
    from_sparse_arrays,
    inner_products,
    sparse_arrays,
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


def test_sparse_rows_come_back_from_files(rng):
    vectors, dense = rows(rng, 30, DENSITIES["both"])
    again = from_sparse_arrays(sparse_arrays(vectors))
    assert again.shape == vectors.shape
    np.testing.assert_array_equal(again.toarray(), dense)
    with pytest.raises(ValueError, match="width is 315, expected 61"):
        from_sparse_arrays(sparse_arrays(vectors), 61)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("data", lambda a: a[:-1]),
        ("columns", lambda a: a[:-1]),
        ("columns", lambda a: a + 1000),
        ("columns", lambda a: a - 1000),
        ("starts", lambda a: a[:0]),
        ("starts", lambda a: a[1:]),
        ("starts", lambda a: a[:-1]),
        ("starts", lambda a: np.concatenate([a[:1], a[2:3], a[1:2], a[3:]])),
        ("width", lambda a: a - 200),
    ],
)
def test_damaged_arrays_are_refused(rng, name, damage):
    vectors, _ = rows(rng, 30, DENSITIES["common"])
    arrays = sparse_arrays(vectors)
    arrays[name] = damage(arrays[name])
    with pytest.raises(ValueError, match=r"data|columns|starts|width"):
        from_sparse_arrays(arrays)
