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
