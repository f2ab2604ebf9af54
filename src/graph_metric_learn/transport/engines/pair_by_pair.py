"""The engine that walks every pair directly: for steps of unequal lengths, and for few rows."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..curves import Curves, have_equal_steps
from ..walks import walk_pairs, walk_rows
from .base import Engine, Run, pieces

_FEW_ROWS = 4  # rows up to which walking is faster than collecting what a product needs
_PAIRS = 2**21  # pairs walked between two updates of the progress bar


class WalkedEngine(Engine):
    """Pair by pair, on any device, with or without gradients."""

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return not have_equal_steps(u, v) or is_few_rows(u, v)

    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        compiled = u.compiled and (v is None or v.compiled)
        return (_walk_compiled if compiled else _walk_torch)(u, v, run)


def is_few_rows(u: Curves, v: Curves | None) -> bool:
    """Whether one side is so short that compiled walks beat products."""
    return v is not None and u.compiled and v.compiled and min(len(u), len(v)) <= _FEW_ROWS


def _walk_compiled(u: Curves, v: Curves | None, run: Run) -> Tensor:
    """On the CPU, without gradients."""
    width = len(u if v is None else v)
    out = u.values.new_zeros(len(u), width)
    for some in pieces(slice(0, len(u)), max(1, _PAIRS // width)):
        rows = np.arange(some.start, some.stop)
        walk_rows(u, v, rows, out.numpy())
        run.bar.update(int((len(u) - 1 - rows).sum()) if v is None else len(rows) * width)
    return out


def _walk_torch(u: Curves, v: Curves | None, run: Run) -> Tensor:
    """As `_walk_compiled`, for any device and for gradients."""
    same, v = v is None, u if v is None else v
    first, second = np.triu_indices(len(u), 1) if same else np.indices((len(u), len(v))).reshape(2, -1)
    squares = walk_pairs(u, v, first, second).to(u.values.dtype)
    run.bar.update(len(first))
    i, j = (torch.from_numpy(side).to(squares.device) for side in (first, second))
    out = u.values.new_zeros(len(u), len(v)).index_put((i, j), squares)
    return out.index_put((j, i), squares) if same else out
