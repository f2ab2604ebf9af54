"""Compiled walks through two curves at equal times: implementation 1 of those listed in `walks`.

Kernels that walk several curves take them direction by direction: values [M, S, c], ends [M, S].
"""

from __future__ import annotations

import numpy as np

from ..._core.compiled import FAST_MATH, njit, parallel, prange, share_of, shared
from .sorting import sort_cloud


@njit(fastmath=FAST_MATH, error_model="numpy", inline="always")
def _step_cost(values, i, values2, j, half):
    """|u − v|^order between step i of one curve and step j of another; half = order / 2."""
    difference = values[i, 0] - values2[j, 0]
    total = difference * difference
    for d in range(1, values.shape[1]):
        difference = values[i, d] - values2[j, d]
        total += difference * difference
    return total if half == 1.0 else total**half


@njit(fastmath=FAST_MATH, error_model="numpy")
def walk(values, values2, half):
    """∫ |u − v|^order of two curves of equal steps along one direction [n, c], [m, c]; half = order / 2."""
    n, m = len(values), len(values2)
    total = 0.0
    if n == m:
        for i in range(n):
            total += _step_cost(values, i, values2, i, half)
        return total / n
    i = j = now = 0  # times in units of 1 / (n m), exact
    while i < n and j < m:
        end, end2 = (i + 1) * m, (j + 1) * n
        then = min(end, end2)
        total += (then - now) * _step_cost(values, i, values2, j, half)
        now = then
        i += end <= end2
        j += end2 <= end
    return total / (float(n) * m)


@njit(fastmath=FAST_MATH, error_model="numpy")
def walk_weighted(values, ends, values2, ends2, half):
    """As `walk`, for steps of any length that end at the times ends [n], ends2 [m]."""
    n, m = len(values), len(values2)
    total = now = 0.0
    i = j = 0
    while i < n and j < m:
        end, end2 = ends[i], ends2[j]
        then = min(end, end2)
        total += (then - now) * _step_cost(values, i, values2, j, half)
        now = then
        i += end <= end2
        j += end2 <= end
    return total


@njit
def _curve_values(points, projections, canonical, whole):
    """Values [M, n, c] of the curve of one cloud: the points in each order, or (not whole) their projections."""
    n, directions = projections.shape
    order = np.empty((n, directions), np.int64)
    sort_cloud(points, projections, 0, n, canonical, order)
    width = points.shape[1] if whole else 1
    values = np.empty((directions, n, width), points.dtype)
    for k in range(directions):
        for i in range(n):
            for d in range(width):
                values[k, i, d] = points[order[i, k], d] if whole else projections[order[i, k], k]
    return values


@njit
def small_pair(x, along_x, y, along_y, canonical, whole, half):
    """Costs of one pair of small clouds with uniform masses, per direction [M]: sorting and walking in one call.

    x [n, p], y [m, p] and their projections [n, M], [m, M]; canonical and whole as in `_curve_values`.
    """
    values, values2 = _curve_values(x, along_x, canonical, whole), _curve_values(y, along_y, canonical, whole)
    costs = np.empty(len(values))
    for k in range(len(values)):
        costs[k] = walk(values[k], values2[k], half)
    return costs


@parallel
def walk_one(values, ends, values2, ends2, uniform, half, out):
    """∫ |u − v|^order for two single curves, into out [M]. uniform: both have equal steps, and ends are not read."""
    for k in prange(len(values)):
        if uniform:
            out[k] = walk(values[k], values2[k], half)
        else:
            out[k] = walk_weighted(values[k], ends[k], values2[k], ends2[k], half)


@njit(fastmath=FAST_MATH, error_model="numpy", inline="always")
def _square(values, ends, s, e, values2, ends2, s2, e2, uniform):
    """Squared distance of two curves, the rows s … e-1 of one side and s2 … e2-1 of the other."""
    total = 0.0
    for k in range(len(values)):
        if uniform:
            total += walk(values[k, s:e], values2[k, s2:e2], 1.0)
        else:
            total += walk_weighted(values[k, s:e], ends[k, s:e], values2[k, s2:e2], ends2[k, s2:e2], 1.0)
    return total / len(values)


@shared
def walk_pairs(part, parts, values, ends, starts, first, values2, ends2, starts2, second, uniform, out):
    """Squared distances of the pairs (first[q], second[q]), into out [P]; starts [G + 1]."""
    for q in share_of(len(first), part, parts):
        i, j = first[q], second[q]
        out[q] = _square(
            values, ends, starts[i], starts[i + 1], values2, ends2, starts2[j], starts2[j + 1], uniform
        )  # fmt: skip


@shared
def walk_block(part, parts, values, ends, starts, values2, ends2, starts2, rows, same, uniform, out):
    """Squared distances of the listed rows to all curves of the other side, into out [G, G2]; starts [G + 1].

    same: both sides are one; only i < j is walked, and written to both places.
    """
    last = len(rows) - 1
    count = len(starts2) - 1
    if len(rows) == 1 and not same:
        i = rows[0]
        for j in share_of(count, part, parts):
            out[i, j] = _square(
                values, ends, starts[i], starts[i + 1], values2, ends2, starts2[j], starts2[j + 1], uniform
            )
        return
    for q in share_of(len(rows), part, parts):
        i = rows[q // 2] if q % 2 == 0 else rows[last - q // 2]  # long and short rows in turn: threads end together
        for j in range(i + 1 if same else 0, count):
            out[i, j] = _square(
                values, ends, starts[i], starts[i + 1], values2, ends2, starts2[j], starts2[j + 1], uniform
            )
            if same:
                out[j, i] = out[i, j]


@njit
def plan_entries(ends, ends2):
    """The monotone plan of two walks whose steps end at ends [n] and ends2 [m]: steps i, steps j, and the mass.

    Three arrays of at most n + m - 1 entries: steps i and j are under way together for that long.
    """
    n, m = len(ends), len(ends2)
    first, second = np.empty(n + m, np.int64), np.empty(n + m, np.int64)
    mass = np.empty(n + m)
    i = j = count = 0
    now = 0.0
    while i < n and j < m:
        then = min(ends[i], ends2[j])
        first[count], second[count], mass[count] = i, j, then - now
        count += 1
        now = then
        together = ends[i] == ends2[j]
        if ends[i] < ends2[j] or together:
            i += 1
            if together:
                j += 1
        else:
            j += 1
    return first[:count], second[:count], mass[:count]
