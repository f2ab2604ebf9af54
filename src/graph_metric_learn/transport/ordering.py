"""The order in which a walk along a direction passes the points of a cloud, and the rule for equal projections.

The same order, by projection and then (ties="canonical") by the coordinates, has three implementations, chosen in
`sort_orders`. A stable sort of points that are in lexicographic order is canonical; that is what all three do.

1. `kernels.sorting`, compiled: many small clouds on the CPU. Other compiled loops call its `sort_cloud`: pairs of small
   clouds (`kernels.walks`) and the training of SGML.
2. `_sort_large`, NumPy: large clouds on the CPU, where NumPy's vectorised sort is faster.
3. `_sort_torch`: GPUs, all clouds in a few sorts.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import offsets
from .._core.validation import one_of
from .measures import Measures

TIES = ("canonical", "optimal", "first")
_SERIAL_KEYS = 2000  # sort keys up to which one thread is faster than two
_THREADED_POINTS = 20_000  # points from which a cloud is sorted along several directions at a time
_LARGE = 256  # points from which NumPy's vectorised sort beats the compiled merge sort


def check_ties(ties: str) -> str:
    """The rule, if it is a known one."""
    return one_of("ties", ties, TIES)


def sort_orders(measures: Measures, projections: Tensor, ties: str) -> Tensor:
    """Rows of the points of each measure, in increasing order of each of their projections [S, M].

    Equal projections are ordered, if ties="canonical", by the points' coordinates, the first coordinate first, so that
    the walk is a function of the measure alone; if ties="first", as the points were given.
    """
    canonical = ties == "canonical"
    points, projections = measures.points.detach(), projections.detach()
    if points.device.type != "cpu":
        return _sort_torch(points, projections, measures.sizes, canonical)
    starts = offsets(measures.sizes)
    if measures.sizes.min() >= _LARGE:
        parts = [_sort_large(points[s:e], projections[s:e], canonical) + s for s, e in pairwise(starts)]
        return torch.from_numpy(parts[0] if len(parts) == 1 else np.concatenate(parts))
    from .kernels.sorting import sort_clouds

    order = np.empty(projections.shape, dtype=np.int64)
    sort_clouds(points.numpy(), projections.numpy(), starts, canonical, order, threads=order.size > _SERIAL_KEYS)
    return torch.from_numpy(order)


def _sort_large(points: Tensor, projections: Tensor, canonical: bool) -> np.ndarray:
    """One large cloud: NumPy's quick sort, and a stable sort only along directions with equal projections."""
    x, keys = points.numpy(), projections.numpy()
    order = np.empty(keys.shape, dtype=np.int64)

    def sort_along(k: int) -> bool:
        key = np.ascontiguousarray(keys[:, k])
        along = np.argsort(key)
        ascending = key[along]
        tied = bool((ascending[1:] == ascending[:-1]).any())
        order[:, k] = np.argsort(key, kind="stable") if tied and not canonical else along
        return tied

    if len(x) < _THREADED_POINTS:
        tied = [sort_along(k) for k in range(keys.shape[1])]
    else:  # NumPy releases the interpreter lock while it sorts
        with ThreadPoolExecutor(torch.get_num_threads()) as pool:
            tied = list(pool.map(sort_along, range(keys.shape[1])))
    if canonical and any(tied):
        first = np.lexsort(x.T[::-1])
        for k in np.flatnonzero(tied):
            order[:, k] = first[np.argsort(keys[first, k], kind="stable")]
    return order


def _sort_torch(points: Tensor, projections: Tensor, sizes: np.ndarray, canonical: bool) -> Tensor:
    """All clouds at once: stable sorts from the least to the most significant key."""
    device = points.device
    count = torch.as_tensor(sizes, device=device)
    owner = torch.repeat_interleave(torch.arange(len(sizes), device=device), count, output_size=len(points))
    first = torch.arange(len(points), device=device)
    if canonical:
        for d in reversed(range(points.shape[1])):
            first = first[torch.argsort(points[first, d] + 0.0, stable=True)]  # + 0.0: -0.0 becomes 0.0
    keys = (projections[first] + 0.0).T.contiguous()
    if keys.dtype != torch.float32:
        order = first[torch.argsort(keys, dim=1, stable=True)]
        return torch.gather(order, 1, torch.argsort(owner[order], dim=1, stable=True)).T.contiguous()
    # owner and projection in one 64-bit integer: one sort instead of two
    bits = keys.view(torch.int32)
    ascending = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)  # integers in the order of the floats
    return first[torch.argsort((owner[first] << 32) + ascending, dim=1, stable=True)].T.contiguous()
