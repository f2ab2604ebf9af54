"""Transport plans between two clouds as dense matrices, averaged over the directions: monotone, or of least full cost.

ties="optimal": of all plans that are optimal in one dimension, the one of least full cost. Points with equal
projections form blocks. Between blocks the one-dimensional plan is unique, and the pairs of blocks that exchange mass
form a staircase; within a pair of blocks, mass may be matched freely. A staircase has no cycles, so forbidding all
other pairs of blocks already fixes how much each pair exchanges: what remains is one optimal transport problem for each
connected piece of the staircase.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import offsets
from .directions import near_origin, project
from .engines.allpairs import pair_bar
from .measures import Measures
from .ordering import sort_orders
from .sides import PairOptions, check_out, measured_sides
from .walks import distances_from_squares, power

_LARGEST_PLAN = 2**30  # entries of a dense plan
_SAME = 1e-12  # cumulated masses this close are equal


def check_plan_size(n: int, m: int) -> None:
    """A `ValueError` if a dense [n, m] plan is too large to hold."""
    if n * m > _LARGEST_PLAN:
        raise ValueError(f"a dense {n} x {m} plan would take {n * m * 8 / 2**30:.0f} GiB: call without log=True")


def averaged_plan(source: Measures, target: Measures, directions: Tensor | None, ties: str) -> Tensor:
    """The monotone plans along the directions, averaged [n, m]. A constant: no gradient goes through it."""
    from .kernels.walks import plan_entries

    n, m = len(source.points), len(target.points)
    check_plan_size(n, m)
    along_s, along_t = (project(side.points.detach(), directions) for side in (source, target))
    order_s, order_t = sort_orders(source, along_s, ties), sort_orders(target, along_t, ties)
    plan = np.zeros((n, m))
    uniform = source.weights is None and target.weights is None
    for k in range(along_s.shape[1]):
        rows, cols = order_s[:, k].cpu(), order_t[:, k].cpu()
        if uniform:  # times in units of 1 / (n m), exact
            i, j, mass = plan_entries(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
            mass = mass / (n * m)
        else:
            i, j, mass = plan_entries(_ends(source, rows), _ends(target, cols))
        np.add.at(plan, (rows.numpy()[i], cols.numpy()[j]), mass)
    return torch.from_numpy(plan / along_s.shape[1]).to(source.points)


def masses(side: Measures) -> Tensor:
    """Masses of the points of a single cloud [n] in float64, on the CPU, without gradient."""
    if side.weights is None:
        return torch.full((len(side.points),), 1.0 / len(side.points), dtype=torch.float64)
    return side.weights.detach().cpu()


def _ends(side: Measures, order: Tensor) -> np.ndarray:
    """Cumulated masses of the points in the order of the walk [n]; the last is exactly 1."""
    ends = np.minimum(np.cumsum(masses(side).numpy()[order.numpy()]), 1.0)
    ends[-1] = 1.0
    return ends


def least_costs(source: Measures, target: Measures, directions: Tensor | None, order: float) -> tuple[Tensor, Tensor]:
    """Costs [M] of the least-cost plans between two clouds, and these plans averaged over the directions [n, m]."""
    for side in (source, target):
        if side.weights is not None and side.weights.requires_grad:
            raise ValueError('ties="optimal" has no gradient with respect to the weights: use ties="canonical"')
    n, m = len(source.points), len(target.points)
    check_plan_size(n, m)
    x, y = (side.points.detach().double().cpu().numpy() for side in (source, target))
    a, b = masses(source).numpy(), masses(target).numpy()
    along_s, along_t = (project(side.points.detach(), directions).cpu().numpy() for side in (source, target))
    plan, costs = np.zeros((n, m)), []
    for k in range(along_s.shape[1]):
        entries = optimal_entries(x, y, a, b, along_s[:, k], along_t[:, k], order)
        np.add.at(plan, (entries.source, entries.target), entries.mass)
        costs.append(_plan_cost(source.points, target.points, entries, order))
    return torch.stack(costs), torch.from_numpy(plan / along_s.shape[1]).to(source.points)


def _plan_cost(x: Tensor, y: Tensor, entries: Entries, order: float) -> Tensor:
    """Σ π |x − y|^order, differentiable in the points: the plan is locally constant in them."""
    i, j = (torch.from_numpy(side).to(x.device) for side in (entries.source, entries.target))
    gaps = (x[i] - y[j]).square().sum(1).double()
    return torch.dot(torch.from_numpy(entries.mass).to(x.device), power(gaps, order / 2))


def least_cost_distances(
    measures: Any, others: Any, options: PairOptions, *, squared: bool, out: np.ndarray | None
) -> Any:
    """The matrix of distances, one pair after the other; see :func:`pairwise_distances`."""
    if options.metric == "sw":
        raise ValueError('metric="sw" carries projections only, so ties make no difference: leave out ties="optimal"')
    sides = measured_sides(measures, others, options)
    points, numpy = sides[0].points, sides[0].numpy
    directions, _ = options.directions(sides[0].dim, points)
    sides = sides if directions is None else near_origin(*sides)
    rows_of, columns_of = (list(_single_measures(side)) for side in (sides[0], sides[-1]))
    if out is not None:
        check_out(out, (len(rows_of), len(columns_of)))
    rows: list[list[Tensor]] = []
    with pair_bar(len(rows_of) * len(columns_of), options.progress) as bar:
        for i, x in enumerate(rows_of):
            row = [above[i] for above in rows] + [points.new_zeros(())] if others is None else []
            bar.update(len(row))
            for y in columns_of[len(row) :]:
                square = least_costs(x, y, directions, 2.0)[0].mean().to(points.dtype)
                row.append(distances_from_squares(square, squared))
                bar.update()
            rows.append(row)
    stacked = torch.stack([torch.stack(row) for row in rows])
    if out is None:
        return stacked.detach().numpy() if numpy else stacked
    out[:] = stacked.detach().cpu().numpy()
    return out


def _single_measures(measures: Measures) -> Iterator[Measures]:
    """Each measure on its own."""
    for g, (s, e) in enumerate(pairwise(offsets(measures.sizes))):
        weights = None if measures.weights is None else measures.weights[s:e]
        yield Measures(measures.points[s:e], measures.sizes[g : g + 1], weights, measures.numpy)


class Entries(NamedTuple):
    """The non-zero entries of a plan: mass[q] goes from point source[q] to point target[q]."""

    source: np.ndarray
    target: np.ndarray
    mass: np.ndarray


def optimal_entries(
    x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray, along_x: np.ndarray, along_y: np.ndarray, order: float
) -> Entries:
    """The plan of least Σ π |x − y|^order among those optimal between the projections `along_x` [n], `along_y` [m].

    x [n, p] and y [m, p] are the points, a [n] and b [m] their masses.
    """
    _pot()  # also where no points are tied: an answer must not depend on that
    left, right = _walk(x, a, along_x), _walk(y, b, along_y)
    source, target, mass = [], [], []
    for rows, cols in _pieces(left, right):
        i, j = left.order[rows], right.order[cols]
        # two blocks exchange as much mass as both walks spend time in them together
        start = np.maximum(left.start[rows, None], right.start[cols])
        exchanged = np.maximum(np.minimum(left.end[rows, None], right.end[cols]) - start, 0.0)
        if left.alike[rows].all() and right.alike[cols].all():  # within blocks, all plans cost the same
            plan = exchanged * (left.share[rows, None] * right.share[cols])
        elif len(i) == 1 or len(j) == 1:
            plan = np.outer(a[i], b[j]) / a[i].sum()
        else:
            cost = np.linalg.norm(x[i, None] - y[None, j], axis=2) ** order
            forbidden = (cost.max() + 1.0) * (len(i) + len(j))
            plan = _emd(a[i], b[j] * (a[i].sum() / b[j].sum()), np.where(exchanged > _SAME, cost, forbidden))
        k, l = np.nonzero(plan)
        source.append(i[k])
        target.append(j[l])
        mass.append(plan[k, l])
    return Entries(np.concatenate(source), np.concatenate(target), np.concatenate(mass))


class _Walk(NamedTuple):
    """The points in increasing order of their projection, each with its block of equal projections; all arrays [n]."""

    order: np.ndarray  # the points
    start: np.ndarray  # when the walk enters the point's block, between 0 and 1
    end: np.ndarray  # when it leaves the block
    share: np.ndarray  # the point's share of the mass of its block
    alike: np.ndarray  # whether all points of its block are the same point


def _walk(points: np.ndarray, masses: np.ndarray, along: np.ndarray) -> _Walk:
    """The walk through points [n, p] in the order of their projections [n]."""
    order = np.argsort(along, kind="stable")
    new = np.diff(along[order], prepend=np.nan) != 0
    block = np.cumsum(new) - 1
    mass = np.bincount(block, masses[order])
    ends = np.cumsum(mass)
    ends[-1] = 1.0
    starts = np.concatenate([[0.0], ends[:-1]])
    differs = (points[order] != points[order][np.flatnonzero(new)[block]]).any(1)
    alike = np.bincount(block, differs) == 0
    share = np.divide(masses[order], mass[block], out=np.zeros(len(order)), where=mass[block] > 0)
    return _Walk(order, starts[block], ends[block], share, alike[block])


def _pieces(left: _Walk, right: _Walk) -> Iterator[tuple[slice, slice]]:
    """Stretches of both walks that exchange mass only with each other: cut where both leave a block at once."""
    ends = np.unique(right.end)
    near = ends[np.minimum(np.searchsorted(ends, left.end - _SAME), len(ends) - 1)]
    cuts = np.unique(near[np.abs(near - left.end) <= _SAME])
    i = np.concatenate([[0], np.searchsorted(left.end, cuts + 2 * _SAME)])
    j = np.concatenate([[0], np.searchsorted(right.end, cuts + 2 * _SAME)])
    for k in range(len(cuts)):
        if i[k] < i[k + 1] and j[k] < j[k + 1]:
            yield slice(i[k], i[k + 1]), slice(j[k], j[k + 1])


def _emd(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The optimal plan by POT's exact solver."""
    plan, log = _pot().emd(a, b, cost, numItermax=10_000_000, log=True)
    if log["warning"] is not None:
        raise RuntimeError(f'ties="optimal": POT did not solve a block of {cost.shape} points: {log["warning"]}')
    return plan


def _pot() -> Any:
    """The module `ot`, or an error that says how to install it."""
    try:
        import ot
    except ImportError:
        raise ImportError('ties="optimal" needs POT: pip install graph-metric-learn[optimal]') from None
    return ot
