"""The engine with gradients: products by torch, on any device. See `tiles` for the same without gradients."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ...linalg.precision import products
from ...linalg.squared_distances import NEAR
from ..curves import Curves, have_equal_steps
from ..grids import cell_averages
from ..walks import walk_pairs
from .base import pieces
from .products import ProductEngine, curves_per_piece


class AutogradEngine(ProductEngine):
    """Products that torch differentiates; takes all curves of equal steps, the engine of last resort for them."""

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return have_equal_steps(u, v)

    def blocks(self, u: Curves, v: Curves | None) -> AutogradBlocks:
        return AutogradBlocks(u, v)


class AutogradBlocks:
    """The matrix of curves sorted by size, made block by block, see `products.Blocks`."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        self.near = NEAR["float32", u.values.dtype]
        self.u, self.v, self.same = u, u if v is None else v, v is None
        self.norms = squared_norms(u)
        self.norms2 = self.norms if v is None else squared_norms(v)
        self.out = u.values.new_zeros(len(u), len(self.v))

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """Makes a block; all its rows, or all its columns, have n steps, the others as many or more."""
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
        """The matrix whose entry (i, j) is entry (rows[i], cols[j]) of the sorted one."""
        out = self.out
        if self.same:
            right = out.triu(1)
            out = right + right.T
        at, at2 = (torch.from_numpy(places).to(out.device) for places in (rows, cols))
        return out[at][:, at2]


def squared_norms(curves: Curves) -> Tensor:
    """|u|² of each curve [G] in float64: the mean over directions of ∫ |u|². The twin with gradients."""
    squares = curves.values.double().square().sum(2) * curves.lengths
    out = squares.new_zeros(len(curves))
    return out.index_add(0, curves.owners, squares.mean(1))
