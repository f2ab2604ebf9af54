"""Walking two curves at equal times: ∫ |u − v|^order, exactly, for listed pairs. The direct form of the distance."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import concatenated_ranges
from .curves import Curves

_FEW = 20_000  # numbers of a curve up to which one thread is faster than two
_CHUNK = 2**25  # numbers held at once by the torch form


def walk_one(u: Curves, v: Curves, order: float = 2.0) -> Tensor:
    """∫ |u − v|^order for two single curves, one number per direction [M] in float64."""
    if u.compiled and v.compiled:
        from .kernels import loops as kernels

        uniform = u.steps is None and v.steps is None
        (values, ends), (values2, ends2) = (_by_direction(side, uniform) for side in (u, v))
        out = np.empty(u.n_directions)
        kernels.walk_one(values, ends, values2, ends2, uniform, order / 2, out, threads=values.size > _FEW)
        return torch.from_numpy(out)
    return _walk_torch(u, v, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), order)[0]


def walk_pairs(u: Curves, v: Curves, first: np.ndarray, second: np.ndarray) -> Tensor:
    """Squared distances of the pairs (u[first[q]], v[second[q]]) [P] in float64."""
    if u.compiled and v.compiled:
        from .kernels import loops as kernels

        uniform = u.steps is None and v.steps is None
        sides = [(*_by_direction(side, uniform, copy=True), side.offsets) for side in (u, v)]
        out = np.empty(len(first))
        kernels.walk_pairs(*sides[0], first, *sides[1], second, uniform, out)
        return torch.from_numpy(out)
    rows = u.sizes[first] + v.sizes[second]
    chunk = np.cumsum(rows) * (u.values.shape[1] * u.values.shape[2]) // _CHUNK
    parts = [
        _walk_torch(u, v, first[which], second[which]).mean(1)
        for which in (np.flatnonzero(chunk == c) for c in np.unique(chunk))
    ]
    return torch.cat(parts) if parts else u.values.new_zeros(0, dtype=torch.float64)


def walk_uniform(u: Curves, v: Curves, first: Tensor, second: Tensor) -> Tensor:
    """As :func:`walk_pairs`, for curves of equal steps and pairs listed on the device: nothing is asked of the host."""
    most, most2 = int(u.sizes.max()), int(v.sizes.max())
    width = u.values.shape[1] * u.values.shape[2]
    out = torch.empty(len(first), dtype=torch.float64, device=first.device)
    sides = [
        (
            side.values.detach().reshape(-1, width),
            *(torch.from_numpy(x).to(first.device) for x in (side.sizes, side.offsets)),
        )
        for side in (u, v)
    ]
    (values, sizes, starts), (values2, sizes2, starts2) = sides
    steps, steps2 = (torch.arange(1, most + 1, device=first.device) for most in (most, most2))
    for some in torch.arange(len(first), device=first.device).split(max(1, _CHUNK // ((most + most2) * width))):
        i, j = first[some], second[some]
        n, m = sizes[i].unsqueeze(1), sizes2[j].unsqueeze(1)
        # times in units of 1 / (n m), exact; those beyond the end are moved to it, where nothing lasts
        times = torch.cat([steps * m, steps2 * n], 1).minimum(n * m).sort(dim=1).values
        begun = torch.cat([torch.zeros_like(n), times[:, :-1]], 1)
        met = starts[i].unsqueeze(1) + (begun // m).minimum(n - 1)
        met2 = starts2[j].unsqueeze(1) + (begun // n).minimum(m - 1)
        squares = (values[met] - values2[met2]).square().sum(2).double()
        out[some] = (squares * (times - begun)).sum(1) / (n * m * u.n_directions)[:, 0]
    return out


def walk_rows(u: Curves, v: Curves | None, rows: np.ndarray, out: np.ndarray) -> None:
    """Squared distances of some curves of u to all of v, into those rows of out; without v, within u, both halves."""
    from .kernels import loops as kernels

    uniform = u.steps is None and (v is None or v.steps is None)
    copy = len(rows) > 4  # not worth it for few rows
    sides = [(*_by_direction(side, uniform, copy), side.offsets) for side in ((u,) if v is None else (u, v))]
    kernels.walk_block(*sides[0], *sides[-1], rows, v is None, uniform, out)


def _by_direction(curves: Curves, uniform: bool, copy: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Values [M, S, c] and ends [M, S] for the kernels; copied where they are read more than once."""
    values = curves.values.detach().numpy().transpose(1, 0, 2)
    ends = np.empty((0, 0)) if uniform else curves.ends.detach().numpy().T
    return (np.ascontiguousarray(values), np.ascontiguousarray(ends)) if copy else (values, ends)


def _walk_torch(u: Curves, v: Curves, first: np.ndarray, second: np.ndarray, order: float = 2.0) -> Tensor:
    """The listed pairs, direction by direction [P, M]: differentiable in the values and the step lengths."""
    device = u.values.device
    n, m = u.sizes[first], v.sizes[second]
    rows = torch.from_numpy(concatenated_ranges(u.offsets[first], n)).to(device)
    rows2 = torch.from_numpy(concatenated_ranges(v.offsets[second], m)).to(device)
    uniform = u.steps is None and v.steps is None
    if uniform and np.array_equal(n, m):
        met, met2, counts = rows.unsqueeze(1), rows2.unsqueeze(1), n
        lengths = torch.from_numpy(np.repeat(1.0 / n, n)).to(device).unsqueeze(1)
    else:
        # pair q lives on the time interval (q, q + 1], so one sort and one search serve all pairs
        columns = 1 if uniform else u.n_directions
        ends = u.ends[rows, :columns] + torch.from_numpy(np.repeat(np.arange(len(n)), n)).to(device).unsqueeze(1)
        ends2 = v.ends[rows2, :columns] + torch.from_numpy(np.repeat(np.arange(len(m)), m)).to(device).unsqueeze(1)
        times, _ = torch.cat([ends, ends2]).sort(dim=0)
        lengths = times.diff(dim=0, prepend=torch.zeros_like(times[:1]))
        met, met2 = rows[_steps_at(ends, times)], rows2[_steps_at(ends2, times)]
        counts = n + m
    directions = torch.arange(u.n_directions, device=device)
    squares = (u.values[met, directions] - v.values[met2, directions]).square().sum(2).double()
    if order != 2.0:
        apart = squares > 0  # the root of 0 has no gradient
        squares = torch.where(apart, torch.where(apart, squares, 1.0) ** (order / 2), 0.0)
    pair = torch.from_numpy(np.repeat(np.arange(len(n)), counts)).to(device)
    out = torch.zeros(len(n), u.n_directions, dtype=torch.float64, device=device)
    return out.index_add(0, pair, squares * lengths)


def _steps_at(ends: Tensor, times: Tensor) -> Tensor:
    """Which step is under way just before each time [L, columns]."""
    found = torch.searchsorted(ends.detach().T.contiguous(), times.detach().T.contiguous())
    return found.T.clamp(max=len(ends) - 1)
