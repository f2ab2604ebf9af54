"""Squared distances between curves of equal steps, tile by tile, on any device, without gradients.

As in `allpairs`, a tile is made of products, one for each size. Here a row of an operand holds, beside the averages of
a curve on a grid, its squared norm and a one, so that the product is |u|² + |v|² − 2 <u, v> at once and no other pass
over the tile is needed. Averages are kept from tile to tile while memory allows. Sizes are known on the host, so that
nothing waits for the device; what has to be asked of it (are there pairs too near for the product?) is asked once per
tile, and answered while others are under way.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import by_size, groups
from ..curves import Curves
from ..devices import free_memory, products
from ..grids import cell_averages, has_kernels
from ..walks import walk_uniform

# Where d² is below this share of |u|² + |v|², the product form has lost too many digits (1e-5 of the scale of the data
# in float32) and the pair is walked. By precision of the products and type of the curves.
NEAR = {("float32", torch.float32): 1e-3, ("tf32", torch.float32): 1e-2, ("float32", torch.float64): 1e-6}
_SHARE = 0.3  # of the free memory, for averages
_HOST_BYTES = 2**28  # the same on the CPU
_ROWS = 1024  # of a tile, searched for near pairs at a time


class Side:
    """Curves in order of size, and operands made of their averages.

    Attributes
    ----------
    order : ndarray [G]
        Whose curve stands at each place.
    sizes : ndarray [G]
        Ascending.
    norms : Tensor [G]
        |u|² in float64: the mean over directions of ∫ |u|².
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
        self._kept: dict[int, Tensor] = {}
        whole = sum((len(self.sizes) - first) * self._columns(n) for n, first, _ in groups(self.sizes))
        self._keeps_all = whole * self.values.element_size() <= _budget(device)

    def _columns(self, n: int) -> int:
        """Columns of an operand: averages, parts of the norm and as many ones, filled up to a multiple of 8."""
        return -(-(n * self.width + 2 * self.parts) // 8) * 8

    def first(self, n: int) -> int:
        """The first place with a size of at least n."""
        return int(np.searchsorted(self.sizes, n))

    def right(self, n: int, where: slice | np.ndarray) -> Tensor:
        """Operand (averages on n cells, |v|², 1) of the curves at some places, all of at least n steps."""
        if n not in self._kept:
            if not self._keeps_all:
                self._kept.clear()
            self._kept[n] = self._operand(n, self.first(n))
        kept, first = self._kept[n], self.first(n)
        if isinstance(where, slice):
            return kept[where.start - first : where.stop - first]
        if where[-1] - where[0] + 1 == len(where):
            return kept[where[0] - first : where[-1] + 1 - first]
        return kept[torch.from_numpy(where - first).to(kept.device, non_blocking=True)]

    def left(self, n: int, where: slice | np.ndarray) -> Tensor:
        """Operand (−2 averages / steps, 1, |u|²)."""
        right, K = self.right(n, where), n * self.width
        left = right * (-2.0 / (n * self.curves.n_directions))
        left[:, K : K + self.parts] = 1.0
        left[:, K + self.parts : K + 2 * self.parts] = right[:, K : K + self.parts]
        return left

    def _operand(self, n: int, first: int) -> Tensor:
        K = n * self.width
        out = self.values.new_empty(len(self.sizes) - first, self._columns(n))
        if has_kernels(out.device):
            from ..kernels import triton_averages as triton_kernels

            starts, counts = self.starts[first:-1], self.counts[first:]
            triton_kernels.cell_averages(self.values, starts, counts, int(self.sizes[-1]), n, out)
        else:
            out[:, :K] = cell_averages(self.curves[first:], n).flatten(1)
        out[:, K : K + self.parts] = self._norm_parts[first:]
        out[:, K + self.parts : K + 2 * self.parts] = 1.0
        out[:, K + 2 * self.parts :] = 0.0
        return out


class Tiles:
    """Tiles of the matrix of squared distances, rows and columns in order of size.

    Parameters
    ----------
    u, v : Curves
        Both sides, with equal steps; without v, within u.
    precision : {"float32", "tf32"}
    """

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
        """Rows at ascending places `at` against all columns from place `start` on; unfinished, see :class:`Tile`."""
        sizes, columns = self.rows.sizes[at], self.cols.sizes
        if out is None:
            out = self.rows.values.new_empty(len(at), len(columns) - start)
        with products(self.precision):
            for n, lo, hi in groups(sizes):  # rows of n steps, columns of at least as many
                first = max(start, self.cols.first(n))
                self._multiply(out[lo:hi, first - start :], n, at[lo:hi], slice(first, len(columns)))
            for m, lo, hi in groups(
                columns[start : self.cols.first(int(sizes[-1]))]
            ):  # columns of m steps, rows of more
                above = int(np.searchsorted(sizes, m, side="right"))
                self._multiply(out[above:, lo:hi], m, at[above:], slice(start + lo, start + hi))
        return Tile(self, at, start, out)

    def _multiply(self, out: Tensor, n: int, rows: np.ndarray, cols: slice) -> None:
        if out.numel():
            torch.mm(self.rows.left(n, rows), self.cols.right(n, cols).T, out=out)


class Tile:
    """A block of squared distances [R, C] on its way: `finish` repairs what the product could not give.

    While unfinished, the distance of a curve to itself is infinite (where rows and columns are the same curves).
    """

    def __init__(self, tiles: Tiles, at: np.ndarray, start: int, squares: Tensor) -> None:
        self.tiles, self.start, self.squares = tiles, start, squares
        self.places = torch.from_numpy(at).to(squares.device, non_blocking=True)
        self._bounds = tiles._bounds[self.places]
        self.set_own(torch.inf)
        self._near = squares.amin(1) <= self._bounds
        self._any = Answer(self._near.any())

    def set_own(self, value: float) -> None:
        """Puts a value where a curve meets itself; not by indexing, which would send the number and wait for it."""
        if self.tiles.same:
            self.squares.scatter_(1, (self.places - self.start).unsqueeze(1), value)

    def finish(self) -> Tensor:
        """Squared distances, near pairs walked; a curve is still infinitely far from itself."""
        if self._any.get():
            for some in self._near.nonzero()[:, 0].split(_ROWS):
                a, b = (self.squares[some] <= self._bounds[some].unsqueeze(1)).nonzero(as_tuple=True)
                rows, cols = self.tiles.rows.curves, self.tiles.cols.curves
                walked = walk_uniform(rows, cols, self.places[some[a]], b + self.start)
                self.squares[some[a], b] = walked.to(self.squares.dtype)
        return self.squares


class Answer:
    """Yes or no from the device, on its way to the host: asking waits for what was queued before, not after."""

    def __init__(self, answer: Tensor) -> None:
        self._answer = answer
        if answer.device.type == "cuda":
            self._answer = torch.empty((), dtype=torch.bool, pin_memory=True)
            self._answer.copy_(answer, non_blocking=True)
            self._there = torch.cuda.Event()
            self._there.record(torch.cuda.current_stream(answer.device))

    def get(self) -> bool:
        if self._answer.is_pinned():
            self._there.synchronize()
        return bool(self._answer)


def _split(numbers: Tensor, parts: int) -> list[Tensor]:
    """Numbers that add up to the given ones, all but the last short enough for TF32 (11 bits)."""
    out = []
    for _ in range(parts - 1):
        out.append((numbers.view(torch.int32) & ~0x1FFF).view(torch.float32))
        numbers = numbers - out[-1]
    return [*out, numbers]


def _budget(device: torch.device) -> float:
    """Bytes that averages may take."""
    return _SHARE * free_memory(device) if device.type == "cuda" else _HOST_BYTES
