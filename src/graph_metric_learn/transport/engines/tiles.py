"""Squared distances between curves of equal steps, tile by tile, on any device, without gradients.

As in `products`, a tile is made of one product for each size. Here a row of an operand holds, beside the averages of
a curve on a grid, its squared norm and a one, so that the product is |u|² + |v|² − 2 <u, v> at once and no other pass
over the tile is needed. Averages are kept from tile to tile while memory allows. Sizes are known on the host, so that
nothing waits for the device; the one question that only the device can answer (are there pairs too near for the
product?) is asked once per tile, and answered while other tiles are computed.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import by_size, groups
from ...linalg.precision import products
from ...linalg.squared_distances import NEAR
from ..curves import Curves
from ..devices import DeviceFlag, free_memory
from ..grids import cell_averages, has_kernels
from ..walks import walk_uniform

_AVERAGES_SHARE = 0.3  # of the free memory of a GPU that averages may take
_AVERAGES_BYTES = 2**28  # that averages may take on the CPU
_SEARCHED_ROWS = 1024  # rows of a tile that are searched for near pairs at a time


class Side:
    """Curves in order of size, and operands made of their averages.

    `order` [G] has the index of the curve at each place, `sizes` [G] its number of steps, ascending, and `norms` [G]
    its |u|² in float64: the mean over directions of ∫ |u|². This implementation never waits for the device.
    """

    def __init__(self, curves: Curves, parts: int) -> None:
        self.order = by_size(curves.sizes)
        self.curves = curves[self.order]
        self.sizes, self.parts = self.curves.sizes, parts
        device = curves.device
        self.width = curves.values.shape[1] * curves.values.shape[2]
        self.values = self.curves.values.detach().reshape(-1, self.width)
        self.starts = torch.from_numpy(self.curves.offsets).to(device)
        self.counts = torch.from_numpy(self.sizes).to(device)
        squares = self.values.square().sum(1, dtype=torch.float64).cumsum(0)
        sums = torch.cat([squares.new_zeros(1), squares])[self.starts].diff()
        self.norms = sums / (self.counts * curves.n_directions)
        self._norm_parts = torch.stack(_split(self.norms.to(self.values.dtype), parts), 1)
        self._operands: dict[int, Tensor] = {}  # by number of cells
        whole = sum((len(self.sizes) - first) * self._columns(n) for n, first, _ in groups(self.sizes))
        self._keeps_all = whole * self.values.element_size() <= _budget(device)

    def _columns(self, n: int) -> int:
        """Columns of an operand: averages, parts of the norm and as many ones, padded to a multiple of 8."""
        return -(-(n * self.width + 2 * self.parts) // 8) * 8

    def first(self, n: int) -> int:
        """The first place with a size of at least n."""
        return int(np.searchsorted(self.sizes, n))

    def right(self, n: int, where: slice | np.ndarray) -> Tensor:
        """Operand (averages on n cells, |v|², 1) of the curves at some places, all of at least n steps."""
        if n not in self._operands:
            if not self._keeps_all:
                self._operands.clear()
            self._operands[n] = self._operand(n, self.first(n))
        operand, first = self._operands[n], self.first(n)
        if not isinstance(where, slice) and where[-1] - where[0] + 1 == len(where):
            where = slice(where[0], where[-1] + 1)
        if isinstance(where, slice):
            return operand[where.start - first : where.stop - first]
        return operand[torch.from_numpy(where - first).to(operand.device, non_blocking=True)]

    def left(self, n: int, where: slice | np.ndarray) -> Tensor:
        """Operand (−2 averages / steps, 1, |u|²)."""
        right, K = self.right(n, where), n * self.width
        left = right * (-2.0 / (n * self.curves.n_directions))
        left[:, K : K + self.parts] = 1.0
        left[:, K + self.parts : K + 2 * self.parts] = right[:, K : K + self.parts]
        return left

    def _operand(self, n: int, first: int) -> Tensor:
        """The right operand on n cells of all curves from place `first` on."""
        K = n * self.width
        out = self.values.new_empty(len(self.sizes) - first, self._columns(n))
        if has_kernels(out.device):
            from ..kernels import triton_averages

            starts, counts = self.starts[first:-1], self.counts[first:]
            triton_averages.cell_averages(self.values, starts, counts, int(self.sizes[-1]), n, out)
        else:
            out[:, :K] = cell_averages(self.curves[first:], n).flatten(1)
        out[:, K : K + self.parts] = self._norm_parts[first:]
        out[:, K + self.parts : K + 2 * self.parts] = 1.0
        out[:, K + 2 * self.parts :] = 0.0
        return out


class Tiles:
    """Tiles of the matrix of squared distances of curves with equal steps, rows and columns in order of size."""

    def __init__(self, u: Curves, v: Curves | None, precision: str) -> None:
        single = u.values.dtype == torch.float32
        parts = 3 if single and precision == "tf32" else 1  # a norm takes three numbers of TF32's length
        self.precision, self.same = precision, v is None
        self.rows = Side(u, parts)
        self.cols = self.rows if v is None else Side(v, parts)
        near = NEAR[precision if single else "float32", u.values.dtype]
        # if d² <= near (|u|² + |v|²), then |v|² <= r² |u|²: a bound by |u|² alone finds all such pairs
        ratio = (1 + math.sqrt(1 - (1 - near) ** 2)) / (1 - near)
        self._bounds = (1.01 * near * (1 + ratio**2) * self.rows.norms).to(u.values.dtype)

    def tile(self, at: np.ndarray, start: int = 0, out: Tensor | None = None) -> Tile:
        """Rows at ascending places `at` against all columns from place `start` on; unfinished, see :class:`Tile`.

        Within one side `start` is at most at[0]. out [R, C]: where to put the tile, optional.
        """
        sizes, columns = self.rows.sizes[at], self.cols.sizes
        if out is None:
            out = self.rows.values.new_empty(len(at), len(columns) - start)
        with products(self.precision):
            for n, lo, hi in groups(sizes):  # rows of n steps, columns of at least as many
                first = max(start, self.cols.first(n))
                self._multiply(out[lo:hi, first - start :], n, at[lo:hi], slice(first, len(columns)))
            smaller = columns[start : self.cols.first(int(sizes[-1]))]
            for m, lo, hi in groups(smaller):  # columns of m steps, rows of more
                above = int(np.searchsorted(sizes, m, side="right"))
                self._multiply(out[above:, lo:hi], m, at[above:], slice(start + lo, start + hi))
        return Tile(self, at, start, out)

    def _multiply(self, out: Tensor, n: int, rows: np.ndarray, cols: slice) -> None:
        if out.numel():
            torch.mm(self.rows.left(n, rows), self.cols.right(n, cols).T, out=out)


class Tile:
    """A block of squared distances [R, C], perhaps still being computed: `finish` walks pairs too near for the product.

    Where rows and columns are the same curves, the distance of a curve to itself is infinite until `set_own`.
    """

    def __init__(self, tiles: Tiles, at: np.ndarray, start: int, squares: Tensor) -> None:
        self.tiles, self.start, self.squares = tiles, start, squares
        self.places = torch.from_numpy(at).to(squares.device, non_blocking=True)
        self._bounds = tiles._bounds[self.places]
        self.set_own(torch.inf)
        self._near = squares.amin(1) <= self._bounds
        self._any = DeviceFlag(self._near.any())

    def set_own(self, value: float) -> None:
        """Sets the distance of each curve to itself; not by indexing, which would copy the number and wait for it."""
        if self.tiles.same:
            self.squares.scatter_(1, (self.places - self.start).unsqueeze(1), value)

    def finish(self) -> Tensor:
        """Squared distances, near pairs walked; a curve's distance to itself is still infinite."""
        if self._any.get():
            for some in self._near.nonzero()[:, 0].split(_SEARCHED_ROWS):
                a, b = (self.squares[some] <= self._bounds[some].unsqueeze(1)).nonzero(as_tuple=True)
                rows, cols = self.tiles.rows.curves, self.tiles.cols.curves
                exact = walk_uniform(rows, cols, self.places[some[a]], b + self.start)
                self.squares[some[a], b] = exact.to(self.squares.dtype)
        return self.squares


def _split(numbers: Tensor, parts: int) -> list[Tensor]:
    """Tensors that add up to the given one, all but the last exact in TF32 (11 bits)."""
    out = []
    for _ in range(parts - 1):
        out.append((numbers.view(torch.int32) & ~0x1FFF).view(torch.float32))
        numbers = numbers - out[-1]
    return [*out, numbers]


def _budget(device: torch.device) -> float:
    """Bytes that averages may take on a device."""
    return _AVERAGES_SHARE * free_memory(device) if device.type == "cuda" else _AVERAGES_BYTES
