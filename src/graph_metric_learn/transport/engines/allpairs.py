"""All squared distances between many curves: the engine is chosen here, once per call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
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


def squared_distances(
    u: Curves, v: Curves | None = None, *, precision: str = "float32", progress: bool | None = False
) -> Tensor:
    """Squared distances of all curves of u to all of v [N, M], or within u: symmetric, 0 on the diagonal."""
    engine, u, v = _prepared(u, v)
    with pair_bar(_pairs(u, v), progress) as bar:
        return engine.matrix(u, v, Run(precision, bar=bar))


def row_blocks(
    u: Curves, v: Curves | None, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> Iterator[tuple[np.ndarray, Tensor]]:
    """See :meth:`Engine.row_blocks`."""
    engine, u, v = _prepared(u, v)
    with pair_bar(_entries(u, v), progress) as bar:
        yield from engine.row_blocks(u, v, Run(precision, block_bytes, bar))


def pair_blocks(
    u: Curves, v: Curves | None, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> Iterator[tuple[np.ndarray, np.ndarray, Tensor]]:
    """See :meth:`Engine.pair_blocks`."""
    engine, u, v = _prepared(u, v)
    with pair_bar(_pairs(u, v), progress) as bar:
        yield from engine.pair_blocks(u, v, Run(precision, block_bytes, bar))


def fill(
    u: Curves, v: Curves | None, out: np.ndarray, finish: Callable[[Tensor], Tensor], block_bytes: int, *,
    precision: str = "float32", progress: bool | None = False,
) -> None:  # fmt: skip
    """See :meth:`Engine.fill`."""
    engine, u, v = _prepared(u, v)
    with pair_bar(_pairs(u, v), progress) as bar:
        engine.fill(u, v, out, finish, Run(precision, block_bytes, bar))


def nearest(
    u: Curves, v: Curves | None, k: int, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> tuple[Tensor, Tensor]:
    """See :meth:`Engine.nearest`; without gradients."""
    with torch.no_grad():
        engine, u, v = _prepared(u, v)
        with pair_bar(_entries(u, v), progress) as bar:
            return engine.nearest(u, v, k, Run(precision, block_bytes, bar))


def pair_bar(total: int, progress: bool | None) -> Any:
    """A bar that counts pairs, where the work is long."""
    return progress_bar(progress, "distances", total=total, unit="pair", delay=3.0, unit_scale=True)


def _prepared(u: Curves, v: Curves | None) -> tuple[Engine, Curves, Curves | None]:
    engine = choose_engine(u, v)
    return engine, *engine.prepared(u, v)


def _pairs(u: Curves, v: Curves | None) -> int:
    """How many pairs there are, each counted once."""
    return len(u) * (len(u) - 1) // 2 if v is None else len(u) * len(v)


def _entries(u: Curves, v: Curves | None) -> int:
    """How many entries the matrix has."""
    return len(u) * len(u if v is None else v)
