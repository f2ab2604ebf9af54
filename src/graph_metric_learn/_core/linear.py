"""Linear algebra: principal axes, and how many threads matrix products have."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

MAX_COLUMNS = 96  # more columns than this are reduced to principal components
_lock = threading.Lock()
_inside = 0  # how many blocks of `one_thread_for_products` are being executed
_limits: Any = None  # what ends with the last of them


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
    slowed down even where nobody else works. Blocks may be nested, and executed by several threads at a time: looking
    for the libraries takes milliseconds, so only the first does it.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


def _after_fork() -> None:
    """In the new process: a lock that nobody holds."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
