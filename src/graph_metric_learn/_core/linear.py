"""Linear algebra: principal axes, and how many threads matrix products have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

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


@contextmanager
def one_thread_for_products() -> Iterator[None]:
    """Inside, matrix products and decompositions (BLAS, LAPACK) take one thread each.

    Their other threads wait, for each other and for more work, without sleeping. Where another process works as well,
    decompositions take ten times as long with two threads as with one; and loops that have threads of their own are
    slowed down even where nobody else works.
    """
    with threadpool_limits(1, user_api="blas"):
        yield
