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
from .smallest import smallest_of_block


class NoBar:
    """A progress bar that shows nothing."""

    def update(self, count: int = 1) -> None: ...


@dataclass(frozen=True)
class Run:
    """How a computation is to be run, the same for all engines.

    Attributes
    ----------
    precision : {"float32", "tf32"}
        Of products of float32 numbers on a GPU.
    block_bytes : int
        Upper bound for the size of a block, which has at least one row.
    bar : progress bar
        Its `update` is called with the number of pairs that were computed.
    """

    precision: str = "float32"
    block_bytes: int = 2**28
    bar: Any = NoBar()  # noqa: RUF009 (it has no state)


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
