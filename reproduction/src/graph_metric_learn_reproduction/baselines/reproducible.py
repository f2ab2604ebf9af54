"""PyTorch for small networks: a local seed, sums in a fixed order, one thread; afterwards everything is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def local_seed(seed: int, device: torch.device) -> Iterator[None]:
    """PyTorch's generators with a seed; afterwards as they were."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        torch.manual_seed(seed)
        yield


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """On a GPU, sums in a fixed order: the seed then decides the result. On a CPU they always are."""
    if device.type == "cpu":
        yield
        return
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch with one thread: on a busy machine, small networks trained 50 times slower with two."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
