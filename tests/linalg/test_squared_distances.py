import numpy as np
import pytest
import torch
from scipy import sparse

import graph_metric_learn.linalg.squared_distances as module
from graph_metric_learn.linalg.squared_distances import inner_products, squared_distances, squared_norms
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
def test_sparse_rows_are_compared_as_dense_ones(rng, kind):
    one, dense = rows(rng, 120, DENSITIES[kind])
    two, other = rows(rng, 90, DENSITIES[kind])
    np.testing.assert_allclose(inner_products(one, two), dense @ other.T, atol=1e-12)
    np.testing.assert_allclose(inner_products(dense, other), dense @ other.T)
    for vectors in (one, dense):
        np.testing.assert_allclose(squared_norms(vectors), (dense**2).sum(1))
    np.testing.assert_allclose(squared_distances(one), squares_of(dense), atol=1e-10)
    np.testing.assert_allclose(squared_distances(one, two), squares_of(dense, other), atol=1e-10)


KINDS = {
    "numpy": np.asarray,
    "columns first": np.asfortranarray,
    "torch": torch.tensor,
    "gradients": lambda x: torch.tensor(x, requires_grad=True),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 40])
def test_every_engine_finds_what_subtraction_finds(rng, kind, precision, width):
    one, two = (rng.normal(size=(count, width)).astype(precision) + 5 for count in (150, 70))
    x, y = KINDS[kind](one), KINDS[kind](two)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if precision == np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    within, across = squared_distances(x), squared_distances(x, y)
    assert within.dtype == across.dtype == x.dtype
    within, across = (part.detach().numpy() if isinstance(part, torch.Tensor) else part for part in (within, across))
    np.testing.assert_allclose(within, squares_of(one), **tolerance)
    np.testing.assert_allclose(across, squares_of(one, two), **tolerance)
    np.testing.assert_array_equal(within, within.T)
    assert (np.diag(within) == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_make_no_difference(rng, monkeypatch, kind):
    one, two = rng.normal(size=(100, 20)), rng.normal(size=(30, 20))
    monkeypatch.setattr(module, "_NUMBERS", 20 * 16)
    x, y = KINDS[kind](one), KINDS[kind](two)
    for found, wanted in ((squared_distances(x), squares_of(one)), (squared_distances(x, y), squares_of(one, two))):
        np.testing.assert_allclose(torch.as_tensor(found).detach(), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, torch.tensor, KINDS["gradients"]])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_equal_rows_are_at_distance_zero_and_near_ones_are_not(rng, form, precision):
    """Far from the origin, where norms are large and differences small."""
    dense = (100.0 + rng.normal(size=(30, 20))).astype(np.float32)
    near = dense.copy()
    near[:, 0] += np.float32(1e-2)
    vectors = form(np.concatenate([dense, dense, near]).astype(precision))
    wanted = (near[:, 0].astype(float) - dense[:, 0]) ** 2
    for squares in (squared_distances(vectors), squared_distances(vectors, vectors)):
        squares = np.asarray(squares.detach() if isinstance(squares, torch.Tensor) else squares)
        assert (np.diag(squares[:30, 30:60]) == 0).all()
        assert (np.diag(squares) == 0).all()
        np.testing.assert_allclose(np.diag(squares[:30, 60:]), wanted, rtol=1e-3)
        assert (squares >= 0).all()


def test_gradients_are_those_of_the_sums_of_squares(rng):
    x, y = (torch.tensor(rng.normal(size=(count, 3)), requires_grad=True) for count in (5, 4))
    y.data[0] = x.data[0]  # a pair that is subtracted
    weights = torch.tensor(rng.normal(size=(5, 4)))
    found = torch.autograd.grad((weights * squared_distances(x, y)).sum(), [x, y])
    wanted = torch.autograd.grad((weights * (x[:, None] - y).square().sum(2)).sum(), [x, y])
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_no_rows_have_no_distances():
    for x in (np.zeros((0, 20)), np.zeros((0, 20), np.float32), np.zeros((0, 3))):
        assert squared_distances(x).shape == (0, 0)
        assert squared_distances(x, np.ones((2, x.shape[1]), x.dtype)).shape == (0, 2)
