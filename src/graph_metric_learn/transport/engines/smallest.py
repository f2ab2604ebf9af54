"""The smallest entries of each row of a block, equal ones in a fixed order: two implementations.

On the CPU a compiled loop (`kernels.matrices`); on GPUs `torch.topk`, whose choice among equal entries is not
specified, so that rows with ties are looked at again.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..devices import DeviceFlag

_TIED_ROWS = 1024  # rows with ties looked at together


def smallest_of_block(block: Tensor, k: int, own: Tensor | None) -> tuple[Tensor, Tensor]:
    """The k smallest entries of each row and their columns [R, k], ascending, equal ones by column; not own[row]."""
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
    """The k smallest entries of each row, ascending, and the names [C] of their columns; equal ones by name."""
    more = min(k + 1, squares.shape[1])
    found, place = torch.topk(squares, more, largest=False, sorted=True)
    if more > k:
        tied = found[:, k] == found[:, k - 1]  # topk may have taken any of the equal entries
        if DeviceFlag(tied.any()).get():
            for some in tied.nonzero()[:, 0].split(_TIED_ROWS):
                place[some, :k] = _smallest_tied(squares[some], found[some, k - 1 : k], k, names)
            found = torch.gather(squares, 1, place)
    found, which = found[:, :k], names[place[:, :k]]
    which, by_name = which.sort(dim=1)
    found, by_value = torch.gather(found, 1, by_name).sort(dim=1, stable=True)
    return found, torch.gather(which, 1, by_value)


def _smallest_tied(squares: Tensor, last: Tensor, k: int, names: Tensor) -> Tensor:
    """Columns of all entries below `last` [R, 1], filled up to k with entries equal to it, in order of their names."""
    rank = torch.where(squares < last, -1, torch.where(squares == last, names, len(names)))
    return torch.topk(rank, k, dim=1, largest=False).indices
