"""How loops are compiled: numba, cached on disk, shared by threads in two ways, safe after a fork.

Loops of short rounds, between matrix products, use numba's threads (`parallel`), which are awake in microseconds; loops
of long rounds use Python's (`shared`), for which numba has half as much to compile.

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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numba
from numba import prange
from numba.core import config

__all__ = ["FAST_MATH", "njit", "parallel", "prange", "share_of", "shared"]

# Sums may be reassociated (SIMD); NaN and infinities keep their meaning.
FAST_MATH = {"reassoc", "contract"}
_OPTIONS = {"fastmath": FAST_MATH, "error_model": "numpy"}
_PIECES = 8  # of a shared loop for each thread: who is done early takes another
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
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
    warnings.warn(
        "compiled loops cannot be kept beside the package or in the home folder: they are kept in a temporary folder, "
        "or compiled anew in every process; NUMBA_CACHE_DIR names a better place",
        UserWarning,
        stacklevel=2,
    )
    folder = Path(tempfile.gettempdir()) / f"graph-metric-learn-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
        if folder.is_symlink() or not own or not os.access(folder, os.W_OK):
            return False
    except OSError:
        return False
    config.CACHE_DIR = str(folder)
    return True


def parallel(function: Callable) -> Callable:
    """Compiles a loop over `prange` with and without threads; `threads=False` is for work too small to wake them.

    One Python thread is let in at a time: not every threading layer of numba can be shared. A forked process has no
    threads.
    """
    alone = njit(**_OPTIONS)(_named(function, "one_thread"))
    together = njit(parallel=True, **_OPTIONS)(_named(function, "threads"))

    @wraps(function)
    def call(*args: Any, threads: bool = True) -> Any:
        if not threads or _forked:
            return alone(*args)
        with _lock:
            return together(*args)

    return call


def shared(function: Callable) -> Callable:
    """Compiles a loop over ``share_of(count, part, parts)``; `part` and `parts`, its first arguments, are not given.

    Rounds must not depend on each other. `threads=False` is for work too small to wake threads. Returns what the loop
    returns, in a list with an entry for each part.
    """
    loop = njit(nogil=True, **_OPTIONS)(function)

    @wraps(function)
    def call(*args: Any, threads: bool = True) -> list[Any]:
        count = thread_count() if threads else 1
        if count == 1:
            return [loop(0, 1, *args)]
        parts = _PIECES * count
        results: list[Any] = [None] * parts
        left = iter(range(parts))

        def work() -> None:
            for part in left:
                results[part] = loop(part, parts, *args)

        with helped(work):
            work()
        return results

    return call


@njit(inline="always")
def share_of(count, part, parts):
    """The rounds of one of the parts of a loop of `count`."""
    return range(count * part // parts, count * (part + 1) // parts)


def thread_count() -> int:
    """How many threads a loop is shared by: those of numba, see NUMBA_NUM_THREADS."""
    return 1 if _forked else numba.get_num_threads()


@contextlib.contextmanager
def helped(work: Callable[[], Any]) -> Iterator[None]:
    """Inside, waiting threads call work(), too; at the end, those that have not begun are not needed any more."""
    helpers = [_helpers().submit(work) for _ in range(thread_count() - 1)]
    try:
        yield
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()


def _helpers() -> ThreadPoolExecutor:
    """Threads that wait for work, beside the one that calls."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "graph-metric-learn")
        return _pool


def _named(function: Callable, what: str) -> Any:
    """The same function by a name of its own: numba's cache goes by names, and would take one form for the other."""
    name, source = f"{function.__name__}_{what}", cast(FunctionType, function)
    made = FunctionType(source.__code__, source.__globals__, name, source.__defaults__, source.__closure__)
    made.__qualname__ = f"{function.__qualname__}_{what}"
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    return made


def _after_fork() -> None:
    """In the new process: one thread, and a lock that nobody holds."""
    global _lock, _pool, _forked, _limits
    _lock, _pool, _forked = threading.Lock(), None, True
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if "threadpoolctl" in sys.modules:
        _limits = sys.modules["threadpoolctl"].threadpool_limits(1, user_api="openmp")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
