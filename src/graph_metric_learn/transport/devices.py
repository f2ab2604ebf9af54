"""Devices by name: where to compute."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

WORTH_A_GPU = 2 * 10**10  # multiplications from which device="auto" takes a GPU, if there is one


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
