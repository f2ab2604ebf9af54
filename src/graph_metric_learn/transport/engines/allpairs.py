"""All squared distances between many curves: the engine is chosen here, once per call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ..._core.progress import progress_bar
from ..._core.registry import Registry
from ..curves import Curves
from .base import Engine, Run
from .gpu import TiledEngine
from .pair_by_pair import WalkedEngine
from .products import AutogradEngine, CompiledEngine

# From the most general to the most special: engines registered later are asked first, see `choose_engine`.
ENGINES: Registry[Engine] = Registry("engine")
ENGINES["autograd"] = AutogradEngine()
ENGINES["tiled"] = TiledEngine()
ENGINES["compiled"] = CompiledEngine()
ENGINES["walked"] = WalkedEngine()


def choose_engine(u: Curves, v: Curves | None = None) -> Engine:
    """The engine registered last among those that take these curves."""
    for name in reversed(ENGINES):
        if ENGINES[name].takes(u, v):
            return ENGINES[name]
    raise ValueError(f"none of the engines {', '.join(map(repr, ENGINES))} takes these curves")


@contextmanager
def chosen(
    u: Curves, v: Curves | None, *, entries: bool = False, precision: str = "float32", block_bytes: int = 2**28,
    progress: bool | None = False,
) -> Iterator[tuple[Engine, Curves, Curves | None, Run]]:  # fmt: skip
    """The engine for these curves, both sides as it expects them, and how it is run.

    With a bar that counts pairs once, or (entries) all entries of the matrix.
    """
    engine = choose_engine(u, v)
    u, v = engine.prepared(u, v)
    total = len(u) * (len(u) - 1) // 2 if v is None and not entries else len(u) * len(u if v is None else v)
    with pair_bar(total, progress) as bar:
        yield engine, u, v, Run(precision, block_bytes, bar)


def squared_distances(
    u: Curves, v: Curves | None = None, *, precision: str = "float32", progress: bool | None = False
) -> Tensor:
    """Squared distances of all curves of u to all of v [N, M], or within u: symmetric, 0 on the diagonal."""
    with chosen(u, v, precision=precision, progress=progress) as (engine, u, v, run):
        return engine.matrix(u, v, run)


def nearest(
    u: Curves, v: Curves | None, k: int, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> tuple[Tensor, Tensor]:
    """The k smallest squared distances of each curve of u and their columns [N, k], see :meth:`Engine.nearest`."""
    running = chosen(u, v, entries=True, precision=precision, block_bytes=block_bytes, progress=progress)
    with torch.no_grad(), running as (engine, u, v, run):
        return engine.nearest(u, v, k, run)


def pair_bar(total: int, progress: bool | None) -> Any:
    """A bar that counts pairs, where the work is long."""
    return progress_bar(progress, "distances", total=total, unit="pair", delay=3.0, unit_scale=True)
