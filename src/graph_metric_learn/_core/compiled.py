"""How loops are compiled: numba, with and without threads, cached on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from numba import njit, prange

__all__ = ["FAST_MATH", "parallel", "prange"]

# Sums may be reassociated (SIMD); NaN and infinities keep their meaning.
FAST_MATH = {"reassoc", "contract"}
_lock = threading.Lock()


def parallel(function: Callable) -> Callable:
    """Compiles a loop over `prange` with and without threads; `threads=False` is for work too small to wake them.

    One Python thread is let in at a time: not every threading layer of numba can be shared.
    """
    options = {"cache": True, "fastmath": FAST_MATH, "error_model": "numpy"}
    alone, together = njit(**options)(function), njit(parallel=True, **options)(function)

    @wraps(function)
    def call(*args: Any, threads: bool = True) -> Any:
        if not threads:
            return alone(*args)
        with _lock:
            return together(*args)

    return call
