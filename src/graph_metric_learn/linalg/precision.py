"""How exactly float32 matrix products are computed, whatever is set for torch as a whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .._core.validation import one_of

PRECISIONS = ("float32", "tf32")
_lock = threading.RLock()


def check_precision(precision: str) -> str:
    """The precision, if it is a known one."""
    return one_of("precision", precision, PRECISIONS)


@contextmanager
def products(precision: str = "float32") -> Iterator[None]:
    """A context in which float32 matrix products have this precision; torch's settings are restored afterwards.

    The settings belong to the process: while one thread computes in TF32, so do the GPU products of the others.
    """
    wanted = "ieee" if precision == "float32" else "tf32"
    backends: list[Any] = [torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)]
    if not hasattr(backends[0], "fp32_precision"):  # torch < 2.9
        with _lock:
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
            try:
                yield
            finally:
                torch.set_float32_matmul_precision(before)
        return
    is_default = wanted == "ieee" and getattr(torch.backends, "fp32_precision", "none") in ("none", "ieee")
    changes = [
        (backend, "fp32_precision", value)
        for backend, value in zip(backends, (wanted, "ieee"), strict=True)
        if not (is_default and backend.fp32_precision in ("none", "ieee"))
    ]
    with _replaced(changes):
        yield


@contextmanager
def _replaced(changes: list[tuple[Any, str, Any]]) -> Iterator[None]:
    """A context with (owner, attribute, value) set, restored afterwards; one thread at a time."""
    if not changes:
        yield
        return
    with _lock:
        kept = [getattr(owner, name) for owner, name, _ in changes]
        try:
            for owner, name, value in changes:
                setattr(owner, name, value)
            yield
        finally:
            for (owner, name, _), value in zip(changes, kept, strict=True):
                setattr(owner, name, value)
