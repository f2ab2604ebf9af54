"""Inner products and squared distances of vectors, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from ...transport import Vectors, pairwise_distances

_COMMON = 0.02  # share of the rows that a column must have to be multiplied as a dense one


def inner_products(vectors: Any, others: Any) -> np.ndarray:
    """⟨v, w⟩ for rows of two arrays [N, M].

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
    """|v|² of each row [N]."""
    if sparse.issparse(vectors):
        return np.asarray(vectors.power(2).sum(1)).reshape(-1)
    return np.einsum("nd,nd->n", vectors, vectors)


def squares_between(vectors: Any) -> np.ndarray:
    """Squared distances between rows [N, N].

    Dense rows that are nearly equal are compared coordinate by coordinate; sparse ones are multiplied in float64.
    """
    if sparse.issparse(vectors):
        vectors = vectors.astype(np.float64)
        norms = squared_norms(vectors)
        sums = norms[:, None] + norms[None, :]
        squares = sums - 2.0 * inner_products(vectors, vectors)
        squares[squares < 1e-12 * sums] = 0.0
        return squares
    rows = Vectors(torch.from_numpy(np.ascontiguousarray(vectors)), numpy=True)
    return np.asarray(pairwise_distances(rows, squared=True, device="cpu", progress=False))
