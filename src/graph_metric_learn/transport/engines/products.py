"""Squared distances between curves of equal steps by matrix products: what the engines that multiply have in common.

With d² = |u|² + |v|² − 2 <u, v> only inner products of curves are needed. A curve of n equal steps is constant on the
cells of the n-grid, so against a curve of m >= n steps only the m-curve's averages on that grid matter. Curves are
grouped by size: for each size n, one product of (curves of n steps) by (averages of the curves of at least n steps).

The product loses digits where two curves nearly coincide, so such pairs are walked directly (see `walks`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import by_size, groups
from ..curves import Curves
from .base import Engine, Run

_AVERAGES = 2**20  # numbers in a block of averages: few enough to stay in the cache until the product reads them


class Blocks(Protocol):
    """A matrix of squared distances of curves sorted by size, made block by block."""

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """Makes a block; all its rows, or all its columns, have n steps, the others as many or more."""

    def result(self, rows: np.ndarray, cols: np.ndarray) -> Tensor:
        """The matrix whose entry (i, j) is entry (rows[i], cols[j]) of the sorted one."""


class ProductEngine(Engine):
    """An engine that makes the matrix by one product for each size; see `CompiledEngine` and `AutogradEngine`."""

    @abstractmethod
    def blocks(self, u: Curves, v: Curves | None) -> Blocks:
        """The empty matrix of curves sorted by size."""

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

    def shifted(side: Curves) -> Curves:
        return replace(side, values=side.values - centre)

    return shifted(u), None if v is None else shifted(v)


def curves_per_piece(n: int, width: int, times: int = 1) -> int:
    """How many curves are averaged on n cells at a time; width: numbers per cell, times: factor for the memory used."""
    return max(1, times * _AVERAGES // (n * width))
