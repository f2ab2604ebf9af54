"""Principal axes: the directions along which vectors vary most, from their coordinates or from their inner products."""

from __future__ import annotations

import numpy as np

MAX_COLUMNS = 96  # more columns than this are reduced to principal components
_NOISE = 1e-7  # relative variance along a direction that is left out
_SPANNED = 1e-6  # relative deviation along a direction below which vectors do not differ


def principal_axes(scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a symmetric matrix [q, q], descending, and its eigenvectors as columns [q, q], in float64.

    Of a scatter matrix Xᵀ X of centred rows X [n, q], these are the principal axes of the rows.

    >>> principal_axes(np.array([[2.0, 0.0], [0.0, 18.0]]))[0]
    array([18.,  2.])
    """
    variances, axes = np.linalg.eigh(scatter.astype(np.float64, copy=False))
    return variances[::-1], axes[:, ::-1]


def principal_components(centred: np.ndarray) -> np.ndarray:
    """A map [q, 96], float32, onto the axes along which rows [S, q] vary most; onto all of them where q is smaller."""
    _, axes = principal_axes(centred.T @ centred)
    return np.ascontiguousarray(axes[:, :MAX_COLUMNS], dtype=np.float32)


def axes_as_sums(products: np.ndarray, width: int) -> np.ndarray:
    """Orthonormal principal axes as weighted sums of the vectors: weights [n, r], r at most `width`.

    For vectors of more coordinates than there are vectors, or sparse ones: only inner products [n, n] are needed.
    Directions of hardly any variance are left out.

    >>> vectors = np.array([[3.0, 4.0], [0.0, 0.0], [-3.0, -4.0]])
    >>> np.abs(vectors.T @ axes_as_sums(vectors @ vectors.T, 2)).round(6)
    array([[0.6],
           [0.8]])
    """
    products = products - products.mean(0)
    products -= products.mean(1, keepdims=True)
    variances, axes = principal_axes(products)
    variances, axes = variances[:width], axes[:, :width]
    kept = variances > _NOISE * max(variances.max(initial=0.0), 1e-300)
    weights = axes[:, kept] / np.sqrt(variances[kept])
    return weights - weights.mean(0)  # the means are zero but for rounding


def spanning_directions(vectors: np.ndarray) -> np.ndarray:
    """Orthonormal directions [T, r] in which vectors [N, T] differ, those of largest variance first."""
    _, deviations, axes = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    return np.ascontiguousarray(axes[deviations > _SPANNED * max(deviations.max(), 1e-300)].T)
