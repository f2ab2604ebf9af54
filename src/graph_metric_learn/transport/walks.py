"""Walking two curves at equal times: ∫ |u − v|^order, exactly, for listed pairs. The direct form of the distance.

Three implementations:

1. `kernels.walks`, compiled: CPU, no gradients.
2. `_walk_torch`: gradients, any device, steps of any length.
3. `walk_uniform`: pairs that a GPU has found, equal steps; nothing waits for the host.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import concatenated_ranges
from .curves import Curves, have_equal_steps

_SERIAL_NUMBERS = 20_000  # numbers of a curve up to which one thread is faster than two
_UNCOPIED_ROWS = 4  # rows up to which copying the curves into the order of the walk takes longer than it saves
_CHUNK = 2**25  # numbers that the torch implementations hold at once


def walk_one(u: Curves, v: Curves, order: float = 2.0) -> Tensor:
    """∫ |u − v|^order for two single curves, one number per direction [M] in float64."""
    if u.compiled and v.compiled:
        from .kernels import walks as kernel

        uniform = have_equal_steps(u, v)
        (values, ends), (values2, ends2) = (_by_direction(side, uniform) for side in (u, v))
        out = np.empty(u.n_directions)
        kernel.walk_one(values, ends, values2, ends2, uniform, order / 2, out, threads=values.size > _SERIAL_NUMBERS)
        return torch.from_numpy(out)
    return _walk_torch(u, v, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), order)[0]


def walk_pairs(u: Curves, v: Curves, first: np.ndarray, second: np.ndarray) -> Tensor:
    """Squared distances of the pairs (u[first[q]], v[second[q]]) [P] in float64."""
    if u.compiled and v.compiled:
        from .kernels import walks as kernel

        uniform = have_equal_steps(u, v)
        sides = [(*_by_direction(side, uniform, copy=True), side.offsets) for side in (u, v)]
        out = np.empty(len(first))
        kernel.walk_pairs(*sides[0], first, *sides[1], second, uniform, out)
        return torch.from_numpy(out)
    rows = u.sizes[first] + v.sizes[second]
    chunk = np.cumsum(rows) * (u.values.shape[1] * u.values.shape[2]) // _CHUNK
    some = [np.flatnonzero(chunk == c) for c in np.unique(chunk)]
    parts = [_walk_torch(u, v, first[which], second[which]).mean(1) for which in some]
    return torch.cat([u.values.new_zeros(0, dtype=torch.float64), *parts])


def walk_uniform(u: Curves, v: Curves, first: Tensor, second: Tensor) -> Tensor:
    """As :func:`walk_pairs`, for curves of equal steps and pairs listed on the device."""
    most, most2 = int(u.sizes.max()), int(v.sizes.max())
    width = u.values.shape[1] * u.values.shape[2]
    out = torch.empty(len(first), dtype=torch.float64, device=first.device)
    values, values2 = (side.values.detach().reshape(-1, width) for side in (u, v))
    sizes, sizes2, starts, starts2 = (
        torch.from_numpy(x).to(first.device) for x in (u.sizes, v.sizes, u.offsets, v.offsets)
    )
    steps, steps2 = (torch.arange(1, most + 1, device=first.device) for most in (most, most2))
    for some in torch.arange(len(first), device=first.device).split(max(1, _CHUNK // ((most + most2) * width))):
        i, j = first[some], second[some]
        n, m = sizes[i].unsqueeze(1), sizes2[j].unsqueeze(1)
        # times in units of 1 / (n m), exact; those beyond the end are clamped to it, so that they last 0
        times = torch.cat([steps * m, steps2 * n], 1).minimum(n * m).sort(dim=1).values
        begun = torch.cat([torch.zeros_like(n), times[:, :-1]], 1)
        row = starts[i].unsqueeze(1) + (begun // m).minimum(n - 1)
        row2 = starts2[j].unsqueeze(1) + (begun // n).minimum(m - 1)
        squares = (values[row] - values2[row2]).square().sum(2).double()
        out[some] = (squares * (times - begun)).sum(1) / (n * m * u.n_directions)[:, 0]
    return out


def walk_rows(u: Curves, v: Curves | None, rows: np.ndarray, out: np.ndarray) -> None:
    """Squared distances of some curves of u to all of v, into these rows of out [N, M], compiled.

    Without v, within u: only pairs i < j are walked, and written to both places.
    """
    from .kernels import walks as kernel

    uniform = have_equal_steps(u, v)
    copy = len(rows) > _UNCOPIED_ROWS
    sides = [(*_by_direction(side, uniform, copy), side.offsets) for side in ((u,) if v is None else (u, v))]
    kernel.walk_block(*sides[0], *sides[-1], rows, v is None, uniform, out)


def _by_direction(curves: Curves, uniform: bool, copy: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Values [M, S, c] and ends [M, S] for the kernels; copy: contiguous, for curves that are read more than once."""
    values = curves.values.detach().numpy().transpose(1, 0, 2)
    ends = np.empty((0, 0)) if uniform else curves.ends.detach().numpy().T
    return (np.ascontiguousarray(values), np.ascontiguousarray(ends)) if copy else (values, ends)


def _walk_torch(u: Curves, v: Curves, first: np.ndarray, second: np.ndarray, order: float = 2.0) -> Tensor:
    """∫ |u − v|^order of the listed pairs, per direction [P, M], differentiable in values and step lengths."""
    device = u.values.device
    n, m = u.sizes[first], v.sizes[second]
    rows = torch.from_numpy(concatenated_ranges(u.offsets[first], n)).to(device)
    rows2 = torch.from_numpy(concatenated_ranges(v.offsets[second], m)).to(device)
    uniform = have_equal_steps(u, v)
    if uniform and np.array_equal(n, m):
        at, at2, counts = rows.unsqueeze(1), rows2.unsqueeze(1), n
        lengths = torch.from_numpy(np.repeat(1.0 / n, n)).to(device).unsqueeze(1)
    else:
        # the times of pair q are shifted to (q, q + 1], so that one sort and one search serve all pairs
        columns = 1 if uniform else u.n_directions
        ends = u.ends[rows, :columns] + torch.from_numpy(np.repeat(np.arange(len(n)), n)).to(device).unsqueeze(1)
        ends2 = v.ends[rows2, :columns] + torch.from_numpy(np.repeat(np.arange(len(m)), m)).to(device).unsqueeze(1)
        times, _ = torch.cat([ends, ends2]).sort(dim=0)
        lengths = times.diff(dim=0, prepend=torch.zeros_like(times[:1]))
        at, at2 = rows[_steps_at(ends, times)], rows2[_steps_at(ends2, times)]
        counts = n + m
    directions = torch.arange(u.n_directions, device=device)
    squares = (u.values[at, directions] - v.values[at2, directions]).square().sum(2).double()
    costs = power(squares, order / 2)
    pair = torch.from_numpy(np.repeat(np.arange(len(n)), counts)).to(device)
    out = torch.zeros(len(n), u.n_directions, dtype=torch.float64, device=device)
    return out.index_add(0, pair, costs * lengths)


def _steps_at(ends: Tensor, times: Tensor) -> Tensor:
    """Which step is under way just before each time [L, columns]."""
    steps = torch.searchsorted(ends.detach().T.contiguous(), times.detach().T.contiguous())
    return steps.T.clamp(max=len(ends) - 1)


def power(costs: Tensor, exponent: float) -> Tensor:
    """costs ** exponent, for costs that are not negative; the gradient at 0 is 0.

    >>> cost = torch.zeros(1, requires_grad=True)
    >>> power(cost, 0.5).backward()
    >>> cost.grad
    tensor([0.])
    """
    if exponent == 1.0 or not costs.requires_grad:
        return costs if exponent == 1.0 else costs**exponent
    positive = costs > 0
    return torch.where(positive, torch.where(positive, costs, 1.0) ** exponent, 0.0)


def distances_from_squares(squares: Tensor, squared: bool) -> Tensor:
    """Distances, or, if `squared`, the squares as they are. Without gradients in place: no second matrix is needed."""
    if squared:
        return squares
    return power(squares, 0.5) if squares.requires_grad else squares.sqrt_()
