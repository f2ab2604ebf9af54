"""The engine for the CPU without gradients: products by torch, all else compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...linalg.precision import products
from ...linalg.squared_distances import NEAR
from ..curves import Curves, have_equal_steps
from .base import Run, pieces
from .pair_by_pair import WalkedEngine, is_few_rows
from .products import ProductEngine, curves_per_piece

_SERIAL = 2**16  # numbers up to which one thread is faster than waking the others


class CompiledEngine(ProductEngine):
    """Products on the CPU; blocks of few rows are walked."""

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return have_equal_steps(u, v) and u.compiled and (v is None or v.compiled)

    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        return WalkedEngine().matrix(u, v, run) if is_few_rows(u, v) else super().matrix(u, v, run)

    def blocks(self, u: Curves, v: Curves | None) -> CompiledBlocks:
        return CompiledBlocks(u, v)


class _Side(NamedTuple):
    """What the kernels need of curves with equal steps."""

    values: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    norms: np.ndarray

    def some(self, which: slice) -> _Side:
        return _Side(self.values, self.starts[which], self.sizes[which], self.norms[which])


class CompiledBlocks:
    """The matrix of curves sorted by size, made block by block, see `products.Blocks`."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        self.near = NEAR["float32", u.values.dtype]
        self.directions = u.values.shape[1]
        self.width = self.directions * u.values.shape[2]
        self.u = _side(u)
        self.v = self.u if v is None else _side(v)
        self.same = v is None
        self.out = u.values.new_empty(len(u), len(self.v.sizes))

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """Makes a block; all its rows, or all its columns, have n steps, the others as many or more."""
        from ...linalg.loops import squares_from_products
        from ..kernels.matrices import walk_near

        step = curves_per_piece(n, self.width)
        for some_rows in pieces(rows, step):
            left = self._averages(self.u, some_rows, n)
            for some_cols in pieces(cols, step):
                block = self.out[some_rows, some_cols]
                with products():
                    torch.mm(left, self._averages(self.v, some_cols, n).T, out=block)
                triangle = some_rows.start - some_cols.start + 1 if self.same else -len(self.out)
                u, v, lost = self.u.some(some_rows), self.v.some(some_cols), np.empty(len(block), np.int64)
                known, threads = (triangle, u.norms, v.norms, lost), block.numel() > _SERIAL
                squares_from_products(block.numpy(), self.near, 2.0 / n, self.directions, *known, threads=threads)
                if lost.any():
                    walk_near(block.numpy(), self.near, *known, *u[:3], *v[:3], threads=threads)

    def _averages(self, side: _Side, which: slice, n: int) -> Tensor:
        """Averages of some curves on n cells [B, n · M · c]."""
        from ..kernels.averages import cell_averages

        values = side.values.reshape(-1, self.width)
        starts, sizes = side.starts[which], side.sizes[which]
        if sizes[-1] == n:  # all of n steps: their own averages, stored one after the other
            rows = values[starts[0] : starts[0] + n * len(starts)]
            return torch.from_numpy(rows.reshape(len(starts), n * self.width))
        out = np.empty((len(starts), n * self.width), dtype=values.dtype)
        cell_averages(values, starts, sizes, n, out, threads=out.size > _SERIAL)
        return torch.from_numpy(out)

    def result(self, rows: np.ndarray, cols: np.ndarray) -> Tensor:
        """The matrix whose entry (i, j) is entry (rows[i], cols[j]) of the sorted one."""
        from ...linalg.loops import mirror
        from ..kernels.matrices import permute

        if self.same:
            mirror(self.out.numpy(), threads=self.out.numel() > _SERIAL)
        permute(self.out.numpy(), rows, cols, threads=self.out.numel() > _SERIAL)
        return self.out


def _side(curves: Curves) -> _Side:
    from ..kernels.matrices import squared_norms

    values = curves.values.detach().contiguous().numpy()
    norms = np.empty(len(curves))
    squared_norms(values, curves.offsets, curves.sizes, norms, threads=values.size > _SERIAL)
    return _Side(values, curves.offsets[:-1], curves.sizes, norms)
