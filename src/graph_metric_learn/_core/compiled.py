"""How loops are compiled: numba, with and without threads, cached on disk, safe after a fork.

Two things about processes are settled here. After a fork the threads of GNU's OpenMP, which numba, torch and
scikit-learn may have started, are gone, and using them again ends the process or waits for ever: a forked process works
with one thread. And where compiled loops cannot be kept beside the package (read-only, no home), they are kept in a
temporary folder of the user.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba import prange
from numba.core import config

__all__ = ["FAST_MATH", "njit", "parallel", "prange"]

# Sums may be reassociated (SIMD); NaN and infinities keep their meaning.
FAST_MATH = {"reassoc", "contract"}
_lock = threading.Lock()
_forked = False
_limits: Any = None  # kept, since limits end with the object


def njit(*args: Any, **options: Any) -> Any:
    """`numba.njit` with a cache on disk, wherever there is a place for it; without one, loops are compiled anew.

    May be used with or without options, as that of numba.
    """
    if args:
        return njit()(*args)

    def compiled(function: Callable) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", numba.NumbaWarning)
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError:  # no place for the cache
                pass
            if _use_temporary_cache():
                with contextlib.suppress(RuntimeError):
                    return numba.njit(cache=True, **options)(function)
            return numba.njit(**options)(function)

    return compiled


def _use_temporary_cache() -> bool:
    """Makes numba keep compiled loops in a folder of the user below the temporary one; False if it cannot be.

    The folder must be the user's own: what is in it is executed.
    """
    if config.CACHE_DIR:
        return False
    _say_once()
    place = Path(tempfile.gettempdir()) / f"graph-metric-learn-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
        own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
        if place.is_symlink() or not own or not os.access(place, os.W_OK):
            return False
    except OSError:
        return False
    config.CACHE_DIR = str(place)
    return True


def _say_once() -> None:
    """One warning per process that loops are not kept beside the package."""
    warnings.warn(
        "compiled loops cannot be kept beside the package or in the home folder: they are kept in a temporary folder, "
        "or compiled anew in every process; NUMBA_CACHE_DIR names a better place",
        UserWarning,
        stacklevel=2,
    )


def parallel(function: Callable) -> Callable:
    """Compiles a loop over `prange` with and without threads; `threads=False` is for work too small to wake them.

    One Python thread is let in at a time: not every threading layer of numba can be shared. A forked process has no
    threads.
    """
    options = {"fastmath": FAST_MATH, "error_model": "numpy"}
    alone = njit(**options)(_named(function, "one_thread"))
    together = njit(parallel=True, **options)(_named(function, "threads"))

    @wraps(function)
    def call(*args: Any, threads: bool = True) -> Any:
        if not threads or _forked:
            return alone(*args)
        with _lock:
            return together(*args)

    return call


def _named(function: Callable, what: str) -> Any:
    """The same function by a name of its own: numba's cache goes by names, and would take one form for the other."""
    made: Any = FunctionType(
        function.__code__,
        function.__globals__,
        f"{function.__name__}_{what}",
        function.__defaults__,
        function.__closure__,
    )
    made.__qualname__ = f"{function.__qualname__}_{what}"
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    return made


def _after_fork() -> None:
    """In the new process: one thread, and a lock that nobody holds."""
    global _lock, _forked, _limits
    _lock, _forked = threading.Lock(), True
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if "threadpoolctl" in sys.modules:
        _limits = sys.modules["threadpoolctl"].threadpool_limits(1, user_api="openmp")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
