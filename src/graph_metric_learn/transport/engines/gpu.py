"""The engine for GPUs without gradients: the matrix, its blocks, and the nearest, made of tiles.

Tiles follow each other without gaps: later tiles are queued before the result of the present one is used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import groups
from ..curves import Curves, have_equal_steps
from ..devices import free_memory
from .base import Engine, Run, pieces, smallest
from .products import centred
from .tiles import Tile, Tiles

_ROWS_BYTES = 2**29  # of rows in the caller's order, made and copied at a time
_MATRIX_SHARE = 0.7  # of the free memory that the whole matrix and a few tiles may take
_BUFFER_BYTES = 2**26  # of a pinned buffer: pinning takes longer than copying


class TiledEngine(Engine):
    """Tiles of products on any device, without gradients; see `tiles`."""

    def takes(self, u: Curves, v: Curves | None) -> bool:
        return have_equal_steps(u, v) and not (u.wants_grad or (v is not None and v.wants_grad))

    def prepared(self, u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
        return centred(u, v)

    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        tiles = Tiles(u, v, run.precision)
        out = u.values.new_empty(len(u), len(u if v is None else v))

        def write(rows: slice, cols: slice, block: Tensor) -> None:
            out[rows, cols] = block

        _write_matrix(tiles, lambda squares: squares, write, 4 * _ROWS_BYTES, run.bar)
        return out

    def row_blocks(self, u: Curves, v: Curves | None, run: Run) -> Iterator[tuple[np.ndarray, Tensor]]:
        tiles = Tiles(u, v, run.precision)
        back = _inverse(tiles.cols.order, tiles.rows.values.device)
        for at, tile in _prefetch(_row_tiles(tiles, run.block_bytes), run.block_bytes):
            squares = _with_zeros(tile)
            run.bar.update(squares.numel())
            yield tiles.rows.order[at], squares.index_select(1, back)

    def pair_blocks(self, u: Curves, v: Curves | None, run: Run) -> Iterator[tuple[np.ndarray, np.ndarray, Tensor]]:
        """As in the base; the rows of a block are of one size."""
        tiles = Tiles(u, v, run.precision)
        for at, start, tile in _prefetch(_pair_tiles(tiles, run.block_bytes), 2 * run.block_bytes):
            squares = tile.finish()
            if tiles.same:
                _mirror(squares[:, : len(at)])
            run.bar.update(squares.numel() - (len(at) * (len(at) + 1) // 2 if tiles.same else 0))
            yield tiles.rows.order[at], tiles.cols.order[start:], squares

    def fill(self, u: Curves, v: Curves | None, out: np.ndarray, finish: Callable[[Tensor], Tensor], run: Run) -> None:
        """As in the base; blocks are copied while the next rows are computed."""
        tiles = Tiles(u, v, run.precision)
        copy = HostCopy(out, tiles.rows.values)
        _write_matrix(tiles, finish, copy.write, min(run.block_bytes, _ROWS_BYTES), run.bar)
        copy.flush()

    def nearest(self, u: Curves, v: Curves | None, k: int, run: Run) -> tuple[Tensor, Tensor]:
        tiles = Tiles(u, v, run.precision)
        values = tiles.rows.values
        best = values.new_empty(len(tiles.rows.sizes), k)
        where = torch.empty(best.shape, dtype=torch.int64, device=values.device)
        order, order2 = (torch.from_numpy(side.order).to(values.device) for side in (tiles.rows, tiles.cols))
        for at, tile in _prefetch(_row_tiles(tiles, run.block_bytes), run.block_bytes):
            squares = tile.finish()
            rows = order[at[0] : at[-1] + 1]
            best[rows], where[rows] = smallest(squares, k, order2)
            run.bar.update(squares.numel())
        return best, where


def _write_matrix(
    tiles: Tiles, finish: Callable[[Tensor], Tensor], write: Callable[[slice, slice, Tensor], None], block_bytes: int,
    bar: Any,
) -> None:  # fmt: skip
    """Calls write(rows, columns, finish(squares)) for blocks that make up the matrix in the caller's order.

    Exactly symmetric within one side: each half comes from one computation. If the matrix fits into the device's
    memory, it is made there in order of size, where products are fastest, and then written in the caller's order.
    """
    height, width = len(tiles.rows.sizes), len(tiles.cols.sizes)
    values = tiles.rows.values
    row_bytes = width * values.element_size()
    if _fits(height * row_bytes + 4 * block_bytes, values.device):
        matrix = values.new_empty(height, width)
        for at, start, tile in _prefetch(_pair_tiles(tiles, 4 * block_bytes, matrix), height * row_bytes):
            squares = tile.finish()
            if tiles.same:
                _mirror(squares[:, : len(at)])
                matrix[int(at[-1]) + 1 :, at[0] : int(at[-1]) + 1] = squares[:, len(at) :].T
            bar.update(len(at) * (width - start) - (len(at) * (len(at) + 1) // 2 if tiles.same else 0))
        rows_back, back = (_inverse(side.order, values.device) for side in (tiles.rows, tiles.cols))
        for some in rows_back.split(max(1, block_bytes // row_bytes)):
            first = some.storage_offset()
            part = matrix.index_select(0, some).index_select(1, back)
            write(slice(first, first + len(some)), slice(0, width), finish(part))
        return
    for rows, squares in _rows_in_callers_order(tiles, block_bytes):
        part = finish(squares)
        start = rows.start if tiles.same else 0
        write(rows, slice(start, width), part[:, start:].contiguous())
        if tiles.same and rows.stop < width:
            write(slice(rows.stop, width), rows, part[:, rows.stop :].T.contiguous())
        count = rows.stop - rows.start
        bar.update(count * (width - start) - (count * (count + 1) // 2 if tiles.same else 0))


def _pair_tiles(tiles: Tiles, block_bytes: int, out: Tensor | None = None) -> Iterator[tuple[np.ndarray, int, Tile]]:
    """(places of the rows, place of the first column, tile), every pair once; into `out`, if it is given."""
    width, item = len(tiles.cols.sizes), tiles.rows.values.element_size()
    for _, first, last in groups(tiles.rows.sizes):
        while first < last:
            start = first if tiles.same else 0
            at = np.arange(first, min(last, first + max(1, block_bytes // ((width - start) * item))))
            first = int(at[-1]) + 1
            yield at, start, tiles.tile(at, start, None if out is None else out[at[0] : first, start:])


def _row_tiles(tiles: Tiles, block_bytes: int) -> Iterator[tuple[np.ndarray, Tile]]:
    """(places of the rows, tile of these rows and all columns), rows in order of size."""
    for some in pieces(slice(0, len(tiles.rows.sizes)), _rows_that_fit(tiles, block_bytes)):
        at = np.arange(some.start, some.stop)
        yield at, tiles.tile(at)


def _rows_that_fit(tiles: Tiles, block_bytes: int) -> int:
    """How many rows of the matrix fit into a block, at least one."""
    return max(1, block_bytes // (len(tiles.cols.sizes) * tiles.rows.values.element_size()))


def _rows_in_callers_order(tiles: Tiles, block_bytes: int) -> Iterator[tuple[slice, Tensor]]:
    """(rows, squares to all columns), both in the caller's order; squares of rows among themselves are symmetric."""
    device = tiles.rows.values.device
    places, back = np.argsort(tiles.rows.order), _inverse(tiles.cols.order, device)

    def queued() -> Iterator[tuple[slice, np.ndarray, Tile]]:
        for rows in pieces(slice(0, len(places)), _rows_that_fit(tiles, block_bytes)):
            by_place = np.argsort(places[rows])
            yield rows, by_place, tiles.tile(places[rows][by_place])

    for rows, by_place, tile in _prefetch(queued(), block_bytes):
        squares = _with_zeros(tile).index_select(1, back).index_select(0, _inverse(by_place, device))
        if tiles.same:
            _mirror(squares[:, rows])
        yield rows, squares


def _prefetch(queued: Iterable[Any], most: int) -> Iterator[Any]:
    """The same tuples, whose last element is a tile, each yielded when `most` bytes of later tiles are queued.

    Small tiles are computed faster than they are queued: they have to be queued while the device works on large ones.
    """
    waiting: deque[Any] = deque()
    behind = 0
    for item in queued:
        behind += item[-1].squares.nbytes if waiting else 0
        waiting.append(item)
        while len(waiting) > 1 and behind >= most:
            yield waiting.popleft()
            behind -= waiting[0][-1].squares.nbytes
    while waiting:  # a tile is let go when the next is asked for
        yield waiting.popleft()


def _with_zeros(tile: Tile) -> Tensor:
    """Finished squares; the distance of a curve to itself is 0."""
    squares = tile.finish()
    tile.set_own(0.0)
    return squares


def _mirror(square: Tensor) -> None:
    """Copies the part right of the diagonal to the left of it and puts 0 on the diagonal; on the CPU `linalg.loops`."""
    right = square.triu(1)
    square.copy_(right + right.T)


def _inverse(order: np.ndarray, device: torch.device) -> Tensor:
    """The inverse permutation, on the device."""
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return torch.from_numpy(inverse).to(device)


def _fits(needed: int, device: torch.device) -> bool:
    """Whether so many bytes fit into the memory of a GPU; False on the CPU, where nothing would be gained."""
    return device.type == "cuda" and needed <= _MATRIX_SHARE * free_memory(device)


class HostCopy:
    """Copies blocks from the device into a host array, with at most two copies under way.

    Rows of a pinned array out [N, M] are copied to directly; to any other, a file for instance, through two pinned
    buffers. `like` is a tensor on the device and of the type of the blocks.
    """

    def __init__(self, out: np.ndarray, like: Tensor) -> None:
        self.out, self.cuda = torch.from_numpy(out), like.device.type == "cuda"
        self.pinned = self.cuda and self.out.dtype == like.dtype and self.out.is_contiguous() and self.out.is_pinned()
        self.stream = torch.cuda.Stream(like.device) if self.cuda else None
        self.spare: list[Tensor] = []
        # buffer, event that tells when it is full, shape, rows and columns of `out`
        self.under_way: list[tuple[Tensor, Any, torch.Size, slice, slice]] = []

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
        """Starts a copy from the device into a pinned buffer."""
        if len(self.under_way) == 2:
            self._receive()
        buffer = self.spare.pop() if self.spare else torch.empty(0)
        if buffer.numel() < piece.numel():
            buffer = torch.empty(piece.numel(), dtype=piece.dtype, pin_memory=True)
        with torch.cuda.stream(self.stream):
            buffer[: piece.numel()].view(piece.shape).copy_(piece, non_blocking=True)
            full = torch.cuda.Event()
            full.record()
        self.under_way.append((buffer, full, piece.shape, rows, cols))

    def _receive(self) -> None:
        """Waits for the oldest copy and writes its buffer to the array."""
        buffer, full, shape, rows, cols = self.under_way.pop(0)
        full.synchronize()
        self.out[rows, cols] = buffer[: shape.numel()].view(shape)
        self.spare.append(buffer)

    def flush(self) -> None:
        """Waits until everything is in the array."""
        while self.under_way:
            self._receive()
        if self.stream is not None:
            self.stream.synchronize()
