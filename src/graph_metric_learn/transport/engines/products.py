"""Squared distances between curves of equal steps by matrix products: what the engines that multiply have in common.

With d² = |u|² + |v|² − 2 <u, v> only inner products of curves are needed. A curve of n equal steps is constant on the
cells of the n-grid, so against a curve of m >= n steps only the m-curve's averages on that grid matter. Curves are
grouped by size: for each size n, one product of (curves of n steps) by (averages of the curves of at least n steps).

The product loses digits where two curves nearly coincide, so such pairs are walked directly (see `walks`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import by_size, groups
from ...linalg.precision import products
from ...linalg.squared_distances import NEAR
from ..curves import Curves, have_equal_steps
from ..grids import cell_averages
from ..walks import walk_pairs
from .base import Engine, Run, pieces
from .pair_by_pair import WalkedEngine, is_few_rows

_AVERAGES = 2**20  # numbers in a block of averages: few enough to stay in the cache until the product reads them
_SERIAL = 2**16  # numbers up to which one thread is faster than waking the others


class Blocks(ABC):
    """The matrix of squared distances of curves sorted by size, made block by block."""

    @abstractmethod
    def __init__(self, u: Curves, v: Curves | None) -> None:
        """The empty matrix."""

    @abstractmethod
    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """Makes a block; all its rows, or all its columns, have n steps, the others as many or more."""

    @abstractmethod
    def result(self, rows: np.ndarray, cols: np.ndarray) -> Tensor:
        """The matrix whose entry (i, j) is entry (rows[i], cols[j]) of the sorted one."""


class ProductEngine(Engine):
    """An engine that makes the matrix by one product for each size; see `CompiledEngine` and `AutogradEngine`."""

    blocks: ClassVar[type[Blocks]]

    def prepared(self, u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
        return centred(u, v)

    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        order = by_size(u.sizes)
        order2 = order if v is None else by_size(v.sizes)
        u, v = u[order], None if v is None else v[order2]
        blocks = self.blocks(u, v)
        sizes, sizes2 = u.sizes, (u if v is None else v).sizes
        for n, lo, hi in groups(sizes):  # rows of n steps, columns of at least as many
            start = lo if v is None else int(np.searchsorted(sizes2, n))
            blocks.fill(n, slice(lo, hi), slice(start, len(sizes2)))
            pairs = (hi - lo) * (len(sizes2) - start)
            run.bar.update(pairs - (0 if v is not None else (hi - lo) * (hi - lo + 1) // 2))
        for n, lo, hi in groups(sizes2) if v is not None else ():  # the rest: columns of n steps, rows of more
            start = int(np.searchsorted(sizes, n, side="right"))
            blocks.fill(n, slice(start, len(sizes)), slice(lo, hi))
            run.bar.update((len(sizes) - start) * (hi - lo))
        return blocks.result(np.argsort(order), np.argsort(order2))


def centred(u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
    """Both sides shifted so that the mean of u's values is 0: distances stay the same, products lose fewer digits."""
    centre = u.values.detach().mean(0, dtype=torch.float64).to(u.values.dtype)
    return replace(u, values=u.values - centre), None if v is None else replace(v, values=v.values - centre)


def curves_per_piece(n: int, width: int, times: int = 1) -> int:
    """How many curves are averaged on n cells at a time; width: numbers per cell, times: factor for the memory used."""
    return max(1, times * _AVERAGES // (n * width))


class _Side(NamedTuple):
    """What the kernels need of curves with equal steps."""

    values: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    norms: np.ndarray

    @classmethod
    def of(cls, curves: Curves) -> _Side:
        from ..kernels.matrices import squared_norms

        values = curves.values.detach().contiguous().numpy()
        norms = np.empty(len(curves))
        squared_norms(values, curves.offsets, curves.sizes, norms, threads=values.size > _SERIAL)
        return cls(values, curves.offsets[:-1], curves.sizes, norms)

    def some(self, which: slice) -> _Side:
        return _Side(self.values, self.starts[which], self.sizes[which], self.norms[which])


class CompiledBlocks(Blocks):
    """Products on the CPU, by compiled loops."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        self.near = NEAR["float32", u.values.dtype]
        self.directions = u.values.shape[1]
        self.width = self.directions * u.values.shape[2]
        self.u = _Side.of(u)
        self.v = self.u if v is None else _Side.of(v)
        self.same = v is None
        self.out = u.values.new_empty(len(u), len(self.v.sizes))

    def fill(self, n: int, rows: slice, cols: slice) -> None:
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
                shared, threads = (triangle, u.norms, v.norms, lost), block.numel() > _SERIAL
                squares_from_products(block.numpy(), self.near, 2.0 / n, self.directions, *shared, threads=threads)
                if lost.any():
                    walk_near(block.numpy(), self.near, *shared, *u[:3], *v[:3], threads=threads)

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
        from ...linalg.loops import mirror
        from ..kernels.matrices import permute

        if self.same:
            mirror(self.out.numpy(), threads=self.out.numel() > _SERIAL)
        permute(self.out.numpy(), rows, cols, threads=self.out.numel() > _SERIAL)
        return self.out


class CompiledEngine(ProductEngine):
    """Products on the CPU; blocks of few rows are walked."""

    blocks = CompiledBlocks

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return have_equal_steps(u, v) and u.compiled and (v is None or v.compiled)

    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        return WalkedEngine().matrix(u, v, run) if is_few_rows(u, v) else super().matrix(u, v, run)


class AutogradBlocks(Blocks):
    """Products that torch differentiates."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        self.near = NEAR["float32", u.values.dtype]
        self.u, self.v, self.same = u, u if v is None else v, v is None
        self.norms = squared_norms(u)
        self.norms2 = self.norms if v is None else squared_norms(v)
        self.out = u.values.new_zeros(len(u), len(self.v))

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        width = self.u.values.shape[1] * self.u.values.shape[2]
        step = curves_per_piece(n, width, times=16)
        for some_rows in pieces(rows, step):
            left = cell_averages(self.u[some_rows], n).flatten(1)
            for some_cols in pieces(cols, step):
                both = self.norms[some_rows].unsqueeze(1) + self.norms2[some_cols]
                with products():
                    inner = left @ cell_averages(self.v[some_cols], n).flatten(1).T
                squares = (both - inner * (2.0 / (n * self.u.n_directions))).to(left.dtype)
                near = squares.detach() <= self.near * both.detach()
                if self.same:
                    near = near.triu(some_rows.start - some_cols.start + 1)
                a, b = near.nonzero(as_tuple=True)
                if len(a):
                    i, j = a.cpu().numpy() + some_rows.start, b.cpu().numpy() + some_cols.start
                    squares = squares.index_put((a, b), walk_pairs(self.u, self.v, i, j).to(squares.dtype))
                self.out[some_rows, some_cols] = squares

    def result(self, rows: np.ndarray, cols: np.ndarray) -> Tensor:
        out = self.out
        if self.same:
            right = out.triu(1)
            out = right + right.T
        at, at2 = (torch.from_numpy(places).to(out.device) for places in (rows, cols))
        return out[at][:, at2]


class AutogradEngine(ProductEngine):
    """Products that torch differentiates; takes all curves of equal steps, the engine of last resort for them."""

    blocks = AutogradBlocks

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return have_equal_steps(u, v)


def squared_norms(curves: Curves) -> Tensor:
    """|u|² of each curve [G] in float64: the mean over directions of ∫ |u|². The implementation with gradients."""
    squares = curves.values.double().square().sum(2) * curves.lengths
    out = squares.new_zeros(len(curves))
    return out.index_add(0, curves.owners, squares.mean(1))
