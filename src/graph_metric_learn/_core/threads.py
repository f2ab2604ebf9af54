"""How many threads matrix products have."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

_lock = threading.Lock()
_inside = 0  # how many blocks of `one_thread_for_products` are being executed
_limits: Any = None  # what ends with the last of them


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
