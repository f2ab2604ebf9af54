"""Principal axes of points, from either side of the data matrix."""

from __future__ import annotations

import numpy as np

MAX_COLUMNS = 96  # more columns than this are reduced to principal components


def principal_axes(scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a scatter matrix [q, q], descending, and its eigenvectors as columns [q, q], in float64.

    >>> principal_axes(np.array([[2.0, 0.0], [0.0, 18.0]]))[0]
    array([18.,  2.])
    """
    along, axes = np.linalg.eigh(scatter.astype(np.float64))
    return along[::-1], axes[:, ::-1]


def principal_components(centred: np.ndarray) -> np.ndarray:
    """A map [q, 96], float32, onto the axes along which rows [S, q] vary most; onto all of them where q is smaller."""
    _, axes = principal_axes(centred.T @ centred)
    return np.ascontiguousarray(axes[:, :MAX_COLUMNS], dtype=np.float32)


def principal_directions(vectors: np.ndarray, rank: int) -> np.ndarray:
    """Principal axes of few long vectors [N, D], as orthonormal columns [D, r] with r at most `rank`, float32.

    From the N × N Gram matrix: a D × D scatter matrix would not fit into memory. Directions along which the vectors
    hardly vary are left out.
    """
    centred = vectors - vectors.mean(0)
    values, weights = np.linalg.eigh((centred @ centred.T).astype(np.float64))
    chosen = [i for i in np.argsort(-values)[:rank] if values[i] > 1e-6 * values.max()]
    return np.linalg.qr(centred.T @ (weights[:, chosen] / np.sqrt(values[chosen])).astype(np.float32))[0]
