"""Copying blocks of a matrix from a device into a host array while the next blocks are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

_BUFFER_BYTES = 2**26  # of a pinned buffer: pinning takes longer than copying


class HostCopy:
    """Copies blocks from the device into a host array, with at most two copies under way.

    Rows of a pinned array are copied to directly; to any other array, a file for instance, through two pinned buffers.

    Parameters
    ----------
    out : ndarray [N, M]
        Where the blocks go.
    like : Tensor
        A tensor on the device and of the type of the blocks.
    """

    def __init__(self, out: np.ndarray, like: Tensor) -> None:
        self.out, self.cuda = torch.from_numpy(out), like.device.type == "cuda"
        self.pinned = self.cuda and self.out.dtype == like.dtype and self.out.is_contiguous() and self.out.is_pinned()
        self.stream = torch.cuda.Stream(like.device) if self.cuda else None
        self.spare: list[Tensor] = []
        # buffer, event that tells when it is full, shape, rows and columns of `out`
        self.under_way: list[tuple[Tensor, Any, torch.Size, slice, slice]] = []

    def write(self, rows: slice, cols: slice, block: Tensor) -> None:
        """Queues a block for out[rows, cols]."""
        if self.stream is None:
            self.out[rows, cols] = block
            return
        block.record_stream(self.stream)
        self.stream.wait_stream(torch.cuda.current_stream(block.device))
        if self.pinned and cols == slice(0, self.out.shape[1]):
            with torch.cuda.stream(self.stream):
                self.out[rows].copy_(block, non_blocking=True)
            return
        step = max(1, _BUFFER_BYTES // (block.shape[1] * block.element_size()))
        for lo in range(0, len(block), step):
            self._send(block[lo : lo + step], slice(rows.start + lo, rows.start + min(lo + step, len(block))), cols)

    def _send(self, piece: Tensor, rows: slice, cols: slice) -> None:
        """Starts a copy from the device into a pinned buffer."""
        if len(self.under_way) == 2:
            self._receive()
        buffer = self.spare.pop() if self.spare else torch.empty(0)
        if buffer.numel() < piece.numel():
            buffer = torch.empty(piece.numel(), dtype=piece.dtype, pin_memory=True)
        with torch.cuda.stream(self.stream):
            buffer[: piece.numel()].view(piece.shape).copy_(piece, non_blocking=True)
            full = torch.cuda.Event()
            full.record()
        self.under_way.append((buffer, full, piece.shape, rows, cols))

    def _receive(self) -> None:
        """Waits for the oldest copy and writes its buffer to the array."""
        buffer, full, shape, rows, cols = self.under_way.pop(0)
        full.synchronize()
        self.out[rows, cols] = buffer[: shape.numel()].view(shape)
        self.spare.append(buffer)

    def flush(self) -> None:
        """Waits until everything is in the array."""
        while self.under_way:
            self._receive()
        if self.stream is not None:
            self.stream.synchronize()
