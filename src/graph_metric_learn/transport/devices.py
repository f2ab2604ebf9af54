"""Devices and precision by name: where to compute, and how exactly, whatever is set for torch as a whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .._core.validation import one_of

PRECISIONS = ("float32", "tf32")
WORTH_A_GPU = 2 * 10**10  # multiplications from which device="auto" takes a GPU, if there is one
_lock = threading.RLock()


def resolve_device(device: Any, *, auto: str = "cpu") -> torch.device:
    """The device of this name, or a `ValueError`; `auto` is what "auto" stands for.

    >>> resolve_device("auto"), resolve_device("cpu")
    (device(type='cpu'), device(type='cpu'))
    """
    try:
        wanted = torch.device(auto if device == "auto" else device)
    except (RuntimeError, TypeError):
        wanted = torch.device("meta")
    if wanted.type not in ("cpu", "cuda"):
        raise ValueError(f"unknown device={device!r}: use 'auto', 'cpu', 'cuda' or 'cuda:1'")
    if wanted.type == "cuda":
        if not torch.cuda.is_available():
            raise ValueError(f"device={device!r}, but torch sees no CUDA device")
        if wanted.index is None:
            return torch.device("cuda", torch.cuda.current_device())
        if wanted.index >= torch.cuda.device_count():
            raise ValueError(f"device={device!r}, but there are {torch.cuda.device_count()} CUDA devices")
    return wanted


def chosen_device(device: Any, values: Tensor, numpy: bool, work: float = 0.0) -> torch.device:
    """The device to compute on: that of torch tensors, and for NumPy input the one that the caller names.

    work: multiplications to be done, which decide for device="auto".
    """
    if device == "auto":
        worth = numpy and values.device.type == "cpu" and values.dtype == torch.float32 and work >= WORTH_A_GPU
        return resolve_device("cuda") if worth and torch.cuda.is_available() else values.device
    wanted = resolve_device(device)
    if not numpy and wanted != values.device:
        raise ValueError(f"the tensors are on {values.device}, but device={device!r}: move them with .to() first")
    return wanted


def free_memory(device: torch.device) -> int:
    """Bytes of a CUDA device that can be allocated, including those that torch holds in reserve."""
    spare = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + spare


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


class DeviceFlag:
    """A yes or no computed on the device, on its way to the host: `get` waits for what was queued before, not after."""

    def __init__(self, flag: Tensor) -> None:
        self._flag = flag
        if flag.device.type == "cuda":
            self._flag = torch.empty((), dtype=torch.bool, pin_memory=True)
            self._flag.copy_(flag, non_blocking=True)
            self._arrived = torch.cuda.Event()
            self._arrived.record(torch.cuda.current_stream(flag.device))

    def get(self) -> bool:
        """The answer, once it has arrived."""
        if self._flag.is_pinned():
            self._arrived.synchronize()
        return bool(self._flag)
