"""Squared Euclidean distances between rows, exactly 0 between equal ones: one door, an engine for each kind of rows.

By products, d² = |x|² + |y|² − 2 ⟨x, y⟩, and where that has lost too many digits, coordinate by coordinate. What stands
elsewhere, since measurement justifies it: the same for curves, where rows have many lengths (`transport.engines`), the
training of SGML, with gradients of its own (`metrics.sgml.training`), and the search loop of an index, which stops as
soon as a row is too far (`index`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from .precision import products

Rows = TypeVar("Rows", np.ndarray, Tensor)

# Where d² is below this share of |x|² + |y|², the difference has lost too many digits (1e-5 of the scale of the data in
# float32). By precision of the products and type of the numbers.
NEAR = {("float32", torch.float32): 1e-3, ("tf32", torch.float32): 1e-2, ("float32", torch.float64): 1e-6}
_NARROW = 16  # coordinates up to which subtracting is as fast as a product, in float64
_COMMON = 0.02  # share of the rows that a column of a sparse array must have to be multiplied as a dense one
_EQUAL = 1e-12  # share of the norms below which sparse rows are equal
_NUMBERS = 2**20  # in a block of rows: few enough to stay in the cache
_SERIAL = 2**16  # numbers up to which one thread is faster than waking the others


def squared_distances(x: Any, y: Any = None) -> Any:
    """Squared distances between the rows of x [n, d] and those of y [m, d]: [n, m].

    Parameters
    ----------
    x, y : ndarray, csr_array or Tensor [n, d], [m, d]
        float32 or float64, both of one kind. Without y, distances within x: exactly symmetric, 0 on the diagonal.

    Returns
    -------
    squares : ndarray or Tensor [n, m]
        In the precision of the rows, of sparse ones in float64; of torch tensors on their device, and differentiable.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    if sparse.issparse(x):
        return _of_sparse_rows(x, y)
    if isinstance(x, Tensor):
        grad = torch.is_grad_enabled() and (x.requires_grad or (y is not None and y.requires_grad))
        if x.device.type != "cpu" or grad:
            return _by_torch(x, y)
        other = None if y is None else y.detach().numpy()
        return torch.from_numpy(squared_distances(x.detach().numpy(), other))
    if x.dtype != np.float32 and x.shape[1] <= _NARROW:
        from scipy.spatial.distance import cdist

        return cdist(x, x if y is None else y, "sqeuclidean")
    return _compiled(x, y)


def inner_products(vectors: Any, others: Any) -> np.ndarray:
    """⟨v, w⟩ for rows of two arrays [N, d], [M, d]: [N, M].

    Of sparse ones, columns that many rows have go through a dense product, the others through a sparse one: their
    product would be dense anyway, and takes twenty times as long in sparse form.
    """
    if not sparse.issparse(vectors):
        return vectors @ others.T
    counts = np.bincount(others.indices, minlength=others.shape[1])
    common = counts > _COMMON * others.shape[0]
    rare = np.flatnonzero(~common & (counts > 0))
    dense = np.flatnonzero(common)
    result = vectors[:, dense].toarray() @ others[:, dense].toarray().T
    if len(rare):
        result += (vectors[:, rare] @ others[:, rare].T).toarray()
    return result


def squared_norms(vectors: Any) -> np.ndarray:
    """|v|² of each row of [N, d]: [N]."""
    if sparse.issparse(vectors):
        return np.asarray(vectors.power(2).sum(1)).reshape(-1)
    return np.einsum("nd,nd->n", vectors, vectors)


def _of_sparse_rows(x: sparse.csr_array, y: sparse.csr_array | None) -> np.ndarray:
    """By products in float64; what is left of equal rows is rounding."""
    x = x.astype(np.float64)
    y = x if y is None else y.astype(np.float64)
    sums = squared_norms(x)[:, None] + squared_norms(y)[None, :]
    squares = sums - 2.0 * inner_products(x, y)
    squares[squares < _EQUAL * sums] = 0.0
    return squares


def _compiled(x: np.ndarray, y: np.ndarray | None) -> np.ndarray:
    """Dense rows on the CPU: products by torch, block by block, all else compiled loops."""
    from .loops import mirror, squares_from_products, subtract_near

    same, dtype = y is None, x.dtype if x.dtype == np.float32 else np.dtype(np.float64)
    x, y = _centred(x.astype(dtype, copy=False), None if y is None else y.astype(dtype, copy=False))
    norms = [np.square(side).sum(1, dtype=np.float64) for side in ((x,) if same else (x, y))]
    out = np.empty((len(x), len(y)), dtype)
    near = NEAR["float32", torch.float32 if dtype == np.float32 else torch.float64]
    for rows in _blocks(x):
        for columns in _blocks(y):
            if same and columns.stop <= rows.start:
                continue
            left, right, block = x[rows], y[columns], out[rows, columns]
            threads, lost = block.size > _SERIAL, np.empty(len(left), np.int64)
            with products():
                torch.mm(torch.from_numpy(left), torch.from_numpy(right).T, out=torch.from_numpy(block))
            triangle = rows.start - columns.start + 1 if same else -len(out)
            shared = triangle, norms[0][rows], norms[-1][columns], lost
            squares_from_products(block, near, 2.0, 1, *shared, threads=threads)
            if lost.any():
                subtract_near(block, near, *shared, left, right, threads=threads)
    if same:
        mirror(out, threads=out.size > _SERIAL)
    return out


def _by_torch(x: Tensor, y: Tensor | None) -> Tensor:
    """Dense rows on any device, with or without gradients: whole matrices at a time."""
    same = y is None
    x, y = _centred(x, y)
    norms = x.double().square().sum(1).unsqueeze(1) + y.double().square().sum(1)
    with products():
        squares = (norms - 2.0 * (x @ y.T)).to(x.dtype)
    near = squares.detach() <= NEAR["float32", x.dtype] * norms.detach()
    for some in (near.triu(1) if same else near).nonzero().split(max(1, _NUMBERS // x.shape[1])):
        i, j = some.T
        squares = squares.index_put((i, j), (x[i] - y[j]).square().sum(1))
    right = squares.triu(1)
    return right + right.T if same else squares


def _centred(x: Rows, y: Rows | None) -> tuple[Rows, Rows]:
    """Both sides, shifted so that the mean of x [n, d] is 0: distances stay the same, products lose fewer digits."""
    if isinstance(x, Tensor):
        centre: Any = x.detach().mean(0, dtype=torch.float64).to(x.dtype) if len(x) else 0.0
    else:
        centre = x.mean(0, dtype=np.float64).astype(x.dtype) if len(x) else x.dtype.type(0)
    x = x - centre
    return x, x if y is None else y - centre


def _blocks(rows: np.ndarray) -> Iterator[slice]:
    """Consecutive rows of [n, d], as many at a time as stay in the cache."""
    step = max(1, _NUMBERS // max(1, rows.shape[1]))
    return (slice(lo, min(lo + step, len(rows))) for lo in range(0, len(rows), step))
