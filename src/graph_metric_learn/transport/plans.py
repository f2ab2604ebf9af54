"""Transport plans between two clouds as dense matrices, averaged over the directions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .directions import project
from .measures import Measures
from .ordering import sort_orders

_LARGEST_PLAN = 2**30  # entries of a dense plan


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
