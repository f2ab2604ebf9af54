"""What an engine is: a way to compute all squared distances between two lists of curves, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.ragged import by_size
from ..curves import Curves
from ..devices import DeviceFlag

_TIED_ROWS = 1024  # rows with ties looked at together


class NoBar:
    """A progress bar that shows nothing."""

    def update(self, count: int = 1) -> None: ...


@dataclass(frozen=True)
class Run:
    """How a computation is to be run, the same for all engines."""

    precision: str = "float32"  # of products of float32 numbers on a GPU; or "tf32"
    block_bytes: int = 2**28  # upper bound for the size of a block, which has at least one row
    bar: Any = NoBar()  # noqa: RUF009 (no state): its `update` is called with the number of pairs that were computed


class Engine(ABC):
    """A way to compute all squared distances between curves u and v, or, where v is None, within u.

    An engine must say which curves it takes and make the matrix; blocks, files and neighbours follow from these two.
    Engines that have something better override the rest. To add one: ``ENGINES["name"] = MyEngine()``; engines added
    later are asked first.
    """

    @abstractmethod
    def takes(self, u: Curves, v: Curves | None) -> bool:
        """Whether the engine can compute these distances and should be preferred to the engines registered before."""

    @abstractmethod
    def matrix(self, u: Curves, v: Curves | None, run: Run) -> Tensor:
        """Squared distances [N, M] on the device of u; within u exactly symmetric, and 0 on the diagonal."""

    def prepared(self, u: Curves, v: Curves | None) -> tuple[Curves, Curves | None]:
        """Both sides as the other methods expect them: done once per call, before anything else."""
        return u, v

    def row_blocks(self, u: Curves, v: Curves | None, run: Run) -> Iterator[tuple[np.ndarray, Tensor]]:
        """Blocks of rows of the matrix: (indices of the rows [R], their squared distances [R, M]), in order of size."""
        width = len(u if v is None else v)
        for rows in _row_chunks(u, width, run.block_bytes):
            if v is None and len(rows) == len(u):
                yield np.arange(len(u)), self.matrix(u, None, run)
            else:
                yield rows, self.matrix(u[rows], u if v is None else v, run)

    def pair_blocks(self, u: Curves, v: Curves | None, run: Run) -> Iterator[tuple[np.ndarray, np.ndarray, Tensor]]:
        """Blocks (rows [R], columns [C], squared distances [R, C]) that hold every pair once.

        Within u the columns of a block begin with its rows, whose pairs are there both ways.
        """
        order, done = by_size(u.sizes), 0
        for rows in _row_chunks(u, len(u if v is None else v), run.block_bytes):
            done += len(rows)
            if v is not None:
                yield rows, np.arange(len(v)), self.matrix(u[rows], v, run)
                continue
            rest = order[done:]
            block = self.matrix(u[rows], None, run)
            if len(rest):
                block = torch.cat([block, self.matrix(u[rows], u[rest], run)], 1)
            yield rows, np.concatenate([rows, rest]), block

    def fill(self, u: Curves, v: Curves | None, out: np.ndarray, finish: Callable[[Tensor], Tensor], run: Run) -> None:
        """Writes finish(squared distances) to `out` [N, M] in host memory, holding only a few blocks at a time."""
        if v is not None:
            for rows, block in self.row_blocks(u, v, run):
                out[rows] = finish(block).detach().cpu().numpy()
            return
        for rows, cols, block in self.pair_blocks(u, None, run):
            part = finish(block).detach().cpu().numpy()
            out[np.ix_(rows, cols)] = part
            out[np.ix_(cols[len(rows) :], rows)] = part[:, len(rows) :].T

    def nearest(self, u: Curves, v: Curves | None, k: int, run: Run) -> tuple[Tensor, Tensor]:
        """The k smallest squared distances of each curve of u and their columns [N, k]; within u, not its own."""
        best = u.values.new_empty(len(u), k)
        where = torch.empty(len(u), k, dtype=torch.int64, device=u.values.device)
        for rows, block in self.row_blocks(u, v, run):
            at = torch.from_numpy(rows).to(block.device)
            best[at], where[at] = smallest_of_block(block, k, at if v is None else None)
        return best, where


def _row_chunks(u: Curves, width: int, block_bytes: int) -> Iterator[np.ndarray]:
    """Rows in order of size, as many at a time as fit into block_bytes: rows of a block then share most of the work."""
    order = by_size(u.sizes)
    step = max(1, int(block_bytes // max(1, width * u.values.element_size())))
    for lo in range(0, len(order), step):
        yield order[lo : lo + step]


def pieces(where: slice, width: int) -> Iterator[slice]:
    """A slice cut into consecutive ones of at most this width.

    >>> list(pieces(slice(1, 6), 3))
    [slice(1, 4, None), slice(4, 6, None)]
    """
    for lo in range(where.start, where.stop, width):
        yield slice(lo, min(lo + width, where.stop))


def smallest_of_block(block: Tensor, k: int, own: Tensor | None) -> tuple[Tensor, Tensor]:
    """The k smallest entries of each row and their columns [R, k], ascending, equal ones by column; not own[row].

    Compiled on the CPU; on GPUs by :func:`smallest`.
    """
    if block.device.type == "cpu":
        from ..kernels.matrices import smallest as compiled_smallest

        best, where = np.empty((len(block), k), block.numpy().dtype), np.empty((len(block), k), np.int64)
        skip = np.full(len(block), -1) if own is None else own.numpy()
        compiled_smallest(block.numpy(), skip, best, where)
        return torch.from_numpy(best), torch.from_numpy(where)
    if own is not None:
        block[torch.arange(len(block), device=block.device), own] = torch.inf
    return smallest(block, k, torch.arange(block.shape[1], device=block.device))


def smallest(squares: Tensor, k: int, names: Tensor) -> tuple[Tensor, Tensor]:
    """The k smallest entries of each row, ascending, and the names [C] of their columns; equal ones by name.

    The choice of `torch.topk` among equal entries is not specified, so rows with ties are looked at again.
    """
    more = min(k + 1, squares.shape[1])
    values, columns = torch.topk(squares, more, largest=False, sorted=True)
    if more > k:
        tied = values[:, k] == values[:, k - 1]  # topk may have taken any of the equal entries
        if DeviceFlag(tied.any()).get():
            for some in tied.nonzero()[:, 0].split(_TIED_ROWS):
                columns[some, :k] = _smallest_tied(squares[some], values[some, k - 1 : k], k, names)
            values = torch.gather(squares, 1, columns)
    values, which = values[:, :k], names[columns[:, :k]]
    which, by_name = which.sort(dim=1)
    values, by_value = torch.gather(values, 1, by_name).sort(dim=1, stable=True)
    return values, torch.gather(which, 1, by_value)


def _smallest_tied(squares: Tensor, last: Tensor, k: int, names: Tensor) -> Tensor:
    """Columns of all entries below `last` [R, 1], filled up to k with entries equal to it, in order of their names."""
    rank = torch.where(squares < last, -1, torch.where(squares == last, names, len(names)))
    return torch.topk(rank, k, dim=1, largest=False).indices
