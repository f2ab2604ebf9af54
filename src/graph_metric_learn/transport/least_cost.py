"""ties="optimal": distances by the plan of least full cost along each direction, for one pair or for all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import offsets
from .directions import near_origin, project
from .engines.allpairs import pair_bar
from .measures import Measures
from .options import PairOptions, check_out
from .plans import check_plan_size, masses
from .powers import distances_from_squares, power
from .sides import measured_sides
from .solvers.ties import Entries, optimal_entries


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
    u, v = measured_sides(measures, others, options)
    directions, _ = options.directions(u.dim, u.points)
    if directions is not None:
        moved = near_origin(*(side for side in (u, v) if side is not None))
        u, v = moved[0], None if v is None else moved[1]
    rows_of, columns_of = (list(_single_measures(side)) for side in (u, u if v is None else v))
    if out is not None:
        check_out(out, (len(rows_of), len(columns_of)))
    with pair_bar(len(rows_of) * len(columns_of), options.progress) as bar:
        rows: list[list[Tensor]] = []
        for i, x in enumerate(rows_of):
            row = []
            for j, y in enumerate(columns_of):
                bar.update()
                if v is None and j <= i:
                    row.append(rows[j][i] if j < i else u.points.new_zeros(()))
                else:
                    square = least_costs(x, y, directions, 2.0)[0].mean().to(u.points.dtype)
                    row.append(distances_from_squares(square, squared))
            rows.append(row)
    stacked = torch.stack([torch.stack(row) for row in rows])
    if out is None:
        return stacked.detach().numpy() if u.numpy else stacked
    out[:] = stacked.detach().cpu().numpy()
    return out


def _single_measures(measures: Measures) -> Iterator[Measures]:
    """Each measure on its own."""
    starts = offsets(measures.sizes)
    for g, (s, e) in enumerate(pairwise(starts)):
        weights = None if measures.weights is None else measures.weights[s:e]
        yield Measures(measures.points[s:e], measures.sizes[g : g + 1], weights, measures.numpy)
