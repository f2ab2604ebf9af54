"""All squared distances between many curves, exactly, at the speed of a matrix product.

With d² = |u|² + |v|² − 2 <u, v> only inner products of curves are needed. A curve of n equal steps is constant on the
cells of the n-grid, so against a curve of m >= n steps only the m-curve's averages on that grid matter. Curves are
grouped by size: for each size n, one product of (curves of n steps) by (averages of the curves of at least n steps).

The product loses digits where two curves nearly coincide, so such pairs are walked directly (see `walks`). Curves with
steps of unequal lengths share no grid: they are walked throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..._core.progress import progress_bar
from ..._core.ragged import by_size, groups
from ..curves import Curves
from ..devices import products
from ..grids import cell_averages
from ..walks import walk_pairs, walk_rows
from . import streaming
from .tiles import NEAR, Tiles

_AVERAGES = 2**20  # numbers in a block of averages: few enough to stay in the cache until the product reads them
_FEW_ROWS = 4  # rows up to which walking beats gathering what a product needs
_FEW = 2**16  # numbers up to which waking threads costs more than it saves
_PAIRS = 2**21  # pairs walked between two updates of the progress bar


def squared_distances(
    u: Curves, v: Curves | None = None, *, precision: str = "float32", progress: bool | None = False
) -> Tensor:
    """Squared distances of all curves of u to all of v [N, M], or within u: symmetric, 0 on the diagonal."""
    u, v = _prepared(u, v)
    pairs = len(u) * (len(u) - 1) // 2 if v is None else len(u) * len(v)
    with pair_bar(pairs, progress) as bar:
        return _squared(u, v, precision, bar)


def row_blocks(
    u: Curves, v: Curves | None, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> Iterator[tuple[np.ndarray, Tensor]]:
    """Blocks of rows of the matrix of squared distances: (which rows [R], their entries [R, M]), in order of size."""
    u, v = _prepared(u, v)
    width = len(u if v is None else v)
    with pair_bar(len(u) * width, progress) as bar:
        if _is_tiled(u, v):
            yield from streaming.row_blocks(Tiles(u, v, precision), block_bytes, bar)
            return
        for rows in _row_chunks(u, width, block_bytes):
            if v is None and len(rows) == len(u):
                yield np.arange(len(u)), _squared(u, None, precision, bar)
            else:
                yield rows, _squared(u[rows], u if v is None else v, precision, bar)


def pair_blocks(
    u: Curves, v: Curves | None, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> Iterator[tuple[np.ndarray, np.ndarray, Tensor]]:
    """Blocks (rows [R], columns [C], squared distances [R, C]) that hold every pair once.

    Within u (without v), the columns of a block begin with its rows, and pairs of rows stand there both ways.
    """
    u, v = _prepared(u, v)
    with pair_bar(len(u) * (len(u) - 1) // 2 if v is None else len(u) * len(v), progress) as bar:
        if _is_tiled(u, v):
            yield from streaming.pair_blocks(Tiles(u, v, precision), block_bytes, bar)
            return
        order, done = by_size(u.sizes), 0
        for rows in _row_chunks(u, len(u if v is None else v), block_bytes):
            done += len(rows)
            if v is not None:
                yield rows, np.arange(len(v)), _squared(u[rows], v, precision, bar)
                continue
            rest = order[done:]
            block = _squared(u[rows], None, precision, bar)
            if len(rest):
                block = torch.cat([block, _squared(u[rows], u[rest], precision, bar)], 1)
            yield rows, np.concatenate([rows, rest]), block


def fill(
    u: Curves, v: Curves | None, out: np.ndarray, finish: Any, block_bytes: int, *,
    precision: str = "float32", progress: bool | None = False,
) -> None:  # fmt: skip
    """Writes finish(squared distances) to `out` [N, M] in host memory, holding only a few blocks of it at a time."""
    if _is_tiled(u, v):
        with pair_bar(len(u) * len(u if v is None else v), progress) as bar:
            streaming.fill(Tiles(*_prepared(u, v), precision), out, finish, block_bytes, bar)
        return
    if v is not None:
        for rows, block in row_blocks(u, v, block_bytes, precision=precision, progress=progress):
            out[rows] = finish(block).detach().cpu().numpy()
        return
    for rows, cols, block in pair_blocks(u, None, block_bytes, precision=precision, progress=progress):
        part = finish(block).detach().cpu().numpy()
        out[np.ix_(rows, cols)] = part
        out[np.ix_(cols[len(rows) :], rows)] = part[:, len(rows) :].T


def nearest(
    u: Curves, v: Curves | None, k: int, block_bytes: int, *, precision: str = "float32", progress: bool | None = False
) -> tuple[Tensor, Tensor]:
    """The k smallest squared distances of each curve of u and whose they are [N, k]; without v, not its own."""
    with torch.no_grad():
        if _is_tiled(u, v):
            with pair_bar(len(u) * len(u if v is None else v), progress) as bar:
                return streaming.nearest(Tiles(*_prepared(u, v), precision), k, block_bytes, bar)
        best = u.values.new_empty(len(u), k)
        where = torch.empty(len(u), k, dtype=torch.int64, device=u.values.device)
        for rows, block in row_blocks(u, v, block_bytes, precision=precision, progress=progress):
            at = torch.from_numpy(rows).to(block.device)
            best[at], where[at] = _smallest(block, k, at if v is None else None)
    return best, where


def _is_walked(u: Curves, v: Curves | None) -> bool:
    """Whether the pairs are walked one by one: steps of any length share no grid, and for few rows a walk is faster."""
    weighted = u.steps is not None or (v is not None and v.steps is not None)
    return weighted or (v is not None and u.compiled and v.compiled and min(len(u), len(v)) <= _FEW_ROWS)


def _is_tiled(u: Curves, v: Curves | None) -> bool:
    """Whether the tiles apply: products, off the CPU's compiled path, and nobody asks for a gradient."""
    sides = [side for side in (u, v) if side is not None]
    grad = any(side.wants_grad for side in sides)
    return not (grad or _is_walked(u, v) or all(side.compiled for side in sides))


def _prepared(u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
    return (u, v) if _is_walked(u, v) else centred(u, v)


def centred(u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
    """Both sides moved so that the mean of u's values is 0: distances stay, digits are gained."""
    centre = u.values.detach().mean(0, dtype=torch.float64).to(u.values.dtype)

    def moved(side: Curves) -> Curves:
        return replace(side, values=side.values - centre)

    return moved(u), None if v is None else moved(v)


def pair_bar(total: int, progress: bool | None) -> Any:
    """A bar that counts pairs, where the work is long."""
    return progress_bar(progress, "distances", total=total, unit="pair", delay=3.0, unit_scale=True)


def _row_chunks(u: Curves, width: int, block_bytes: int) -> Iterator[np.ndarray]:
    """Rows in order of size, as many at a time as fit into block_bytes: rows of a block then share most of the work."""
    order = by_size(u.sizes)
    step = max(1, int(block_bytes // max(1, width * u.values.element_size())))
    for lo in range(0, len(order), step):
        yield order[lo : lo + step]


def _squared(u: Curves, v: Curves | None, precision: str, bar: Any) -> Tensor:
    """The matrix, by the engine that fits the curves."""
    compiled = u.compiled and (v is None or v.compiled)
    if _is_walked(u, v):
        return (_walk_compiled if compiled else _walk_all)(u, v, bar)
    if _is_tiled(u, v):
        return streaming.matrix(Tiles(u, v, precision), bar)
    order = by_size(u.sizes)
    order2 = order if v is None else by_size(v.sizes)
    u, v = u[order], None if v is None else v[order2]
    engine = _Compiled(u, v) if compiled else _Torch(u, v)
    sizes, sizes2 = u.sizes, (u if v is None else v).sizes
    for n, lo, hi in groups(sizes):  # rows of n steps, columns of at least as many
        start = lo if v is None else int(np.searchsorted(sizes2, n))
        engine.fill(n, slice(lo, hi), slice(start, len(sizes2)))
        bar.update((hi - lo) * (len(sizes2) - start) - (0 if v is not None else (hi - lo) * (hi - lo + 1) // 2))
    for n, lo, hi in groups(sizes2) if v is not None else ():  # the rest: columns of n steps, rows of more
        start = int(np.searchsorted(sizes, n, side="right"))
        engine.fill(n, slice(start, len(sizes)), slice(lo, hi))
        bar.update((len(sizes) - start) * (hi - lo))
    return engine.result(np.argsort(order), np.argsort(order2))


def _pieces(where: slice, width: int) -> Iterator[slice]:
    for lo in range(where.start, where.stop, width):
        yield slice(lo, min(lo + width, where.stop))


class _Side(NamedTuple):
    """What the kernels need of curves with equal steps."""

    values: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    norms: np.ndarray

    def some(self, which: slice) -> _Side:
        return _Side(self.values, self.starts[which], self.sizes[which], self.norms[which])


class _Compiled:
    """Blocks on the CPU: all but the products are compiled loops. Curves come sorted by size."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        from ..kernels import loops as kernels

        self.kernels = kernels
        self.near = NEAR["float32", u.values.dtype]
        self.width = u.values.shape[1] * u.values.shape[2]
        self.u = self._side(u)
        self.v = self.u if v is None else self._side(v)
        self.same = v is None
        self.out = u.values.new_empty(len(u), len(self.v.sizes))

    def _side(self, curves: Curves) -> _Side:
        values = curves.values.detach().contiguous().numpy()
        norms = np.empty(len(curves))
        self.kernels.squared_norms(values, curves.offsets, curves.sizes, norms, threads=values.size > _FEW)
        return _Side(values, curves.offsets[:-1], curves.sizes, norms)

    def _averages(self, side: _Side, which: slice, n: int) -> Tensor:
        values = side.values.reshape(-1, self.width)
        starts, sizes = side.starts[which], side.sizes[which]
        if sizes[-1] == n:  # all of n steps: their own averages, and one after the other
            rows = values[starts[0] : starts[0] + n * len(starts)]
            return torch.from_numpy(rows.reshape(len(starts), n * self.width))
        out = np.empty((len(starts), n * self.width), dtype=values.dtype)
        self.kernels.cell_averages(values, starts, sizes, n, out, threads=out.size > _FEW)
        return torch.from_numpy(out)

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """A block of the matrix; all rows, or all columns, are of n steps, the others of as many or more."""
        step = max(1, _AVERAGES // (n * self.width))
        for some_rows in _pieces(rows, step):
            left = self._averages(self.u, some_rows, n)
            for some_cols in _pieces(cols, step):
                block = self.out[some_rows, some_cols]
                with products():
                    torch.mm(left, self._averages(self.v, some_cols, n).T, out=block)
                triangle = some_rows.start - some_cols.start + 1 if self.same else -len(self.out)
                self.kernels.finish(
                    block.numpy(), self.near, n, triangle, *self.u.some(some_rows), *self.v.some(some_cols),
                    threads=block.numel() > _FEW,
                )  # fmt: skip

    def result(self, rows: np.ndarray, cols: np.ndarray) -> Tensor:
        """The matrix in the caller's order."""
        if self.same:
            self.kernels.mirror(self.out.numpy(), threads=self.out.numel() > _FEW)
        self.kernels.permute(self.out.numpy(), rows, cols, threads=self.out.numel() > _FEW)
        return self.out


class _Torch:
    """Blocks with gradients, on any device. Curves come sorted by size. See `tiles` for the same without gradients."""

    def __init__(self, u: Curves, v: Curves | None) -> None:
        self.near = NEAR["float32", u.values.dtype]
        self.u, self.v, self.same = u, u if v is None else v, v is None
        self.norms = squared_norms(u)
        self.norms2 = self.norms if v is None else squared_norms(v)
        self.out = u.values.new_zeros(len(u), len(self.v))

    def fill(self, n: int, rows: slice, cols: slice) -> None:
        """A block of the matrix; all rows, or all columns, are of n steps, the others of as many or more."""
        width = self.u.values.shape[1] * self.u.values.shape[2]
        step = max(1, 16 * _AVERAGES // (n * width))
        for some_rows in _pieces(rows, step):
            left = cell_averages(self.u[some_rows], n).flatten(1)
            for some_cols in _pieces(cols, step):
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
        """The matrix in the caller's order."""
        out = self.out
        if self.same:
            right = out.triu(1)
            out = right + right.T
        at, at2 = (torch.from_numpy(places).to(out.device) for places in (rows, cols))
        return out[at][:, at2]


def squared_norms(curves: Curves) -> Tensor:
    """|u|² of each curve [G] in float64: the mean over directions of ∫ |u|²."""
    squares = curves.values.double().square().sum(2) * curves.lengths
    out = squares.new_zeros(len(curves))
    return out.index_add(0, curves.owners, squares.mean(1))


def _walk_compiled(u: Curves, v: Curves | None, bar: Any) -> Tensor:
    """Every pair walked, on the CPU."""
    width = len(u if v is None else v)
    out = u.values.new_zeros(len(u), width)
    for some in _pieces(slice(0, len(u)), max(1, _PAIRS // width)):
        rows = np.arange(some.start, some.stop)
        walk_rows(u, v, rows, out.numpy())
        bar.update(int((len(u) - 1 - rows).sum()) if v is None else len(rows) * width)
    return out


def _walk_all(u: Curves, v: Curves | None, bar: Any) -> Tensor:
    """Every pair walked, on any device, with gradients."""
    same, v = v is None, u if v is None else v
    first, second = np.triu_indices(len(u), 1) if same else np.indices((len(u), len(v))).reshape(2, -1)
    squares = walk_pairs(u, v, first, second).to(u.values.dtype)
    bar.update(len(first))
    i, j = (torch.from_numpy(side).to(squares.device) for side in (first, second))
    out = u.values.new_zeros(len(u), len(v)).index_put((i, j), squares)
    return out.index_put((j, i), squares) if same else out


def _smallest(block: Tensor, k: int, own: Tensor | None) -> tuple[Tensor, Tensor]:
    """The k smallest entries of each row and their columns, in increasing order, equal ones by column; not own[row]."""
    if block.device.type == "cpu":
        from ..kernels import loops as kernels

        best, where = np.empty((len(block), k), block.numpy().dtype), np.empty((len(block), k), np.int64)
        skip = np.full(len(block), -1) if own is None else own.numpy()
        kernels.smallest(block.numpy(), skip, best, where)
        return torch.from_numpy(best), torch.from_numpy(where)
    if own is not None:
        block[torch.arange(len(block), device=block.device), own] = torch.inf
    return streaming.smallest(block, k, torch.arange(block.shape[1], device=block.device))
