"""What is made of tiles: the matrix on the device or in host memory, its blocks one after the other, the nearest.

Tiles follow each other without gaps: others are queued before anything is asked about the present one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import groups
from ..devices import free_memory
from .tiles import Answer, Tile, Tiles

_ROWS_BYTES = 2**29  # of rows in the caller's order, made and copied at a time
_TIED = 1024  # rows with ties looked at together
_BUFFER_BYTES = 2**26  # of a pinned buffer: pinning takes longer than copying
_FITS = 0.7  # share of the free memory that the whole matrix and a few tiles may take


def pair_blocks(tiles: Tiles, block_bytes: int, bar: Any) -> Iterator[tuple[np.ndarray, np.ndarray, Tensor]]:
    """(rows, columns, squares), every pair once; the rows of a block are of one size."""
    for at, start, tile in _ahead(_tiles_of_pairs(tiles, block_bytes), 2 * block_bytes):
        squares = tile.finish()
        if tiles.same:
            _mirror(squares[:, : len(at)])
        bar.update(squares.numel() - (len(at) * (len(at) + 1) // 2 if tiles.same else 0))
        yield tiles.rows.order[at], tiles.cols.order[start:], squares


def _tiles_of_pairs(
    tiles: Tiles, block_bytes: int, out: Tensor | None = None
) -> Iterator[tuple[np.ndarray, int, Tile]]:
    """(places of the rows, place of the first column, tile), every pair once; into `out`, if it is given."""
    width, item = len(tiles.cols.sizes), tiles.rows.values.element_size()
    for _, first, last in groups(tiles.rows.sizes):
        while first < last:
            start = first if tiles.same else 0
            at = np.arange(first, min(last, first + max(1, block_bytes // ((width - start) * item))))
            first = int(at[-1]) + 1
            yield at, start, tiles.tile(at, start, None if out is None else out[at[0] : first, start:])


def row_blocks(tiles: Tiles, block_bytes: int, bar: Any) -> Iterator[tuple[np.ndarray, Tensor]]:
    """(rows, squares to all columns in the caller's order), rows in order of size."""
    back = _inverse(tiles.cols.order, tiles.rows.values.device)
    for at, tile in _ahead(_sized_rows(tiles, block_bytes), block_bytes):
        squares = _with_zeros(tile)
        bar.update(squares.numel())
        yield tiles.rows.order[at], squares.index_select(1, back)


def matrix(tiles: Tiles, bar: Any) -> Tensor:
    """The whole matrix in the caller's order, on the device."""
    values = tiles.rows.values
    out = values.new_empty(len(tiles.rows.sizes), len(tiles.cols.sizes))

    def write(rows: slice, cols: slice, block: Tensor) -> None:
        out[rows, cols] = block

    _pass_on(tiles, lambda squares: squares, write, 4 * _ROWS_BYTES, bar)
    return out


def fill(tiles: Tiles, out: np.ndarray, finish: Callable[[Tensor], Tensor], block_bytes: int, bar: Any) -> None:
    """finish(squares) in the caller's order into host memory, copied while the next rows are computed."""
    writer = _Writer(out, tiles.rows.values)
    _pass_on(tiles, finish, writer.write, min(block_bytes, _ROWS_BYTES), bar)
    writer.flush()


def _pass_on(
    tiles: Tiles,
    finish: Callable[[Tensor], Tensor],
    write: Callable[[slice, slice, Tensor], None],
    block_bytes: int,
    bar: Any,
) -> None:
    """Calls write(rows, columns, finish(squares)) for blocks that make up the matrix in the caller's order.

    Exactly symmetric within one side: each half comes from one computation. If the matrix fits into the device's
    memory, it is made there in order of size, where products are fastest, and then handed out row by row.
    """
    height, width = len(tiles.rows.sizes), len(tiles.cols.sizes)
    values = tiles.rows.values
    row_bytes = width * values.element_size()
    if _fits(height * row_bytes + 4 * block_bytes, values.device):
        held = values.new_empty(height, width)
        for at, start, tile in _ahead(_tiles_of_pairs(tiles, 4 * block_bytes, held), height * row_bytes):
            squares = tile.finish()
            if tiles.same:
                _mirror(squares[:, : len(at)])
                held[int(at[-1]) + 1 :, at[0] : int(at[-1]) + 1] = squares[:, len(at) :].T
            bar.update(len(at) * (width - start))
        place, back = (_inverse(side.order, values.device) for side in (tiles.rows, tiles.cols))
        for some in place.split(max(1, block_bytes // row_bytes)):
            first = some.storage_offset()
            part = held.index_select(0, some).index_select(1, back)
            write(slice(first, first + len(some)), slice(0, width), finish(part))
        return
    for rows, squares in _in_callers_order(tiles, block_bytes):
        part = finish(squares)
        start = rows.start if tiles.same else 0
        write(rows, slice(start, width), part[:, start:].contiguous())
        if tiles.same and rows.stop < width:
            write(slice(rows.stop, width), rows, part[:, rows.stop :].T.contiguous())
        bar.update(part.numel())


def nearest(tiles: Tiles, k: int, block_bytes: int, bar: Any) -> tuple[Tensor, Tensor]:
    """The k smallest squares of each row and their columns [N, k], in the caller's order; not a curve's own."""
    values = tiles.rows.values
    best = values.new_empty(len(tiles.rows.sizes), k)
    where = torch.empty(best.shape, dtype=torch.int64, device=values.device)
    order, order2 = (torch.from_numpy(side.order).to(values.device) for side in (tiles.rows, tiles.cols))
    for at, tile in _ahead(_sized_rows(tiles, block_bytes), block_bytes):
        squares = tile.finish()
        rows = order[at[0] : at[-1] + 1]
        best[rows], where[rows] = smallest(squares, k, order2)
        bar.update(squares.numel())
    return best, where


def smallest(squares: Tensor, k: int, names: Tensor) -> tuple[Tensor, Tensor]:
    """The k smallest entries of each row, ascending, and the names [C] of their columns; equal ones by name."""
    more = min(k + 1, squares.shape[1])
    found, place = torch.topk(squares, more, largest=False, sorted=True)
    if more > k:
        tied = found[:, k] == found[:, k - 1]  # which of the equal ones topk took is not said
        if Answer(tied.any()).get():
            for some in tied.nonzero()[:, 0].split(_TIED):
                place[some, :k] = _smallest_tied(squares[some], found[some, k - 1 : k], k, names)
            found = torch.gather(squares, 1, place)
    found, which = found[:, :k], names[place[:, :k]]
    which, by_name = which.sort(dim=1)
    found, by_value = torch.gather(found, 1, by_name).sort(dim=1, stable=True)
    return found, torch.gather(which, 1, by_value)


def _smallest_tied(squares: Tensor, last: Tensor, k: int, names: Tensor) -> Tensor:
    """Places of all entries below `last` [R, 1], and of as many equal ones as are wanted, those of the least names."""
    rank = torch.where(squares < last, -1, torch.where(squares == last, names, len(names)))
    return torch.topk(rank, k, dim=1, largest=False).indices


def _ahead(queued: Iterable[Any], most: int) -> Iterator[Any]:
    """The same tuples, whose last element is a tile, handed on when as many bytes of tiles are queued behind them.

    Small tiles are computed faster than they are queued: they have to be queued while the device is at large ones.
    """
    held: deque[Any] = deque()
    behind = 0
    for item in queued:
        behind += item[-1].squares.nbytes if held else 0
        held.append(item)
        while len(held) > 1 and behind >= most:
            yield held.popleft()
            behind -= held[0][-1].squares.nbytes
    while held:
        yield held.popleft()


def _sized_rows(tiles: Tiles, block_bytes: int) -> Iterator[tuple[np.ndarray, Tile]]:
    """Tiles of rows in order of size and all columns."""
    count = len(tiles.rows.sizes)
    step = max(1, block_bytes // (len(tiles.cols.sizes) * tiles.rows.values.element_size()))
    for lo in range(0, count, step):
        at = np.arange(lo, min(lo + step, count))
        yield at, tiles.tile(at)


def _in_callers_order(tiles: Tiles, block_bytes: int) -> Iterator[tuple[slice, Tensor]]:
    """(rows, squares to all columns), both in the caller's order; squares of rows among themselves are symmetric."""
    count, device = len(tiles.rows.sizes), tiles.rows.values.device
    places = np.argsort(tiles.rows.order)
    back = _inverse(tiles.cols.order, device)
    step = max(1, block_bytes // (len(tiles.cols.sizes) * tiles.rows.values.element_size()))

    def queued() -> Iterator[tuple[slice, np.ndarray, Tile]]:
        for lo in range(0, count, step):
            own = np.argsort(places[lo : lo + step])
            yield slice(lo, min(lo + step, count)), own, tiles.tile(places[lo : lo + step][own])

    for rows, own, tile in _ahead(queued(), block_bytes):
        squares = _with_zeros(tile).index_select(1, back).index_select(0, _inverse(own, device))
        if tiles.same:
            _mirror(squares[:, rows])
        yield rows, squares


def _with_zeros(tile: Tile) -> Tensor:
    """Finished squares, a curve's own distance being 0."""
    squares = tile.finish()
    tile.set_own(0.0)
    return squares


def _mirror(square: Tensor) -> None:
    """Copies the part right of the diagonal to the left of it and puts 0 on the diagonal."""
    right = square.triu(1)
    square.copy_(right + right.T)


def _inverse(order: np.ndarray, device: torch.device) -> Tensor:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return torch.from_numpy(inverse).to(device)


def _fits(needed: int, device: torch.device) -> bool:
    """Whether the device has memory for it; in that of the CPU nothing is gained."""
    return device.type == "cuda" and needed <= _FITS * free_memory(device)


class _Writer:
    """Copies blocks from the device into a host array, two at a time under way.

    Rows of a pinned array are written to directly; any other array, a file for instance, by way of two pinned buffers.
    """

    def __init__(self, out: np.ndarray, like: Tensor) -> None:
        self.out, self.cuda = torch.from_numpy(out), like.device.type == "cuda"
        self.pinned = self.cuda and self.out.dtype == like.dtype and self.out.is_contiguous() and self.out.is_pinned()
        self.stream = torch.cuda.Stream(like.device) if self.cuda else None
        self.spare: list[Tensor] = []
        self.under_way: list[
            tuple[Tensor, Any, torch.Size, slice, slice]
        ] = []  # buffer, when it is full, where it goes

    def write(self, rows: slice, cols: slice, block: Tensor) -> None:
        """Queues a block for out[rows, cols]."""
        if self.stream is None:
            self.out[rows, cols] = block
            return
        block.record_stream(self.stream)
        self.stream.wait_stream(torch.cuda.current_stream(block.device))
        if self.pinned and cols == slice(0, self.out.shape[1]):
            with torch.cuda.stream(self.stream):
                self.out[rows].copy_(block, non_blocking=True)
            return
        step = max(1, _BUFFER_BYTES // (block.shape[1] * block.element_size()))
        for lo in range(0, len(block), step):
            self._send(block[lo : lo + step], slice(rows.start + lo, rows.start + min(lo + step, len(block))), cols)

    def _send(self, piece: Tensor, rows: slice, cols: slice) -> None:
        if len(self.under_way) == 2:
            self._arrive()
        buffer = self.spare.pop() if self.spare else torch.empty(0)
        if buffer.numel() < piece.numel():
            buffer = torch.empty(piece.numel(), dtype=piece.dtype, pin_memory=True)
        with torch.cuda.stream(self.stream):
            buffer[: piece.numel()].view(piece.shape).copy_(piece, non_blocking=True)
            full = torch.cuda.Event()
            full.record()
        self.under_way.append((buffer, full, piece.shape, rows, cols))

    def _arrive(self) -> None:
        buffer, full, shape, rows, cols = self.under_way.pop(0)
        full.synchronize()
        self.out[rows, cols] = buffer[: shape.numel()].view(shape)
        self.spare.append(buffer)

    def flush(self) -> None:
        """Waits until everything is there."""
        while self.under_way:
            self._arrive()
        if self.stream is not None:
            self.stream.synchronize()
