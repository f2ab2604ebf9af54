"""ties="optimal": of all plans that are optimal in one dimension, the one of least full cost.

Points with equal projections form blocks. Between blocks the one-dimensional plan is unique, and the pairs of blocks
that exchange mass form a staircase; within a pair of blocks, mass may be matched freely. A staircase has no cycles, so
forbidding all other pairs of blocks already fixes how much each pair exchanges: what remains is one optimal transport
problem for each connected piece of the staircase.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

_SAME = 1e-12  # cumulated masses this close are equal


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
        exchanged = np.minimum(left.end[rows, None], right.end[cols]) - np.maximum(
            left.start[rows, None], right.start[cols]
        )
        exchanged = np.maximum(exchanged, 0.0)
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
    """The points in increasing order of their projection, each with its block of equal projections.

    Attributes
    ----------
    order : ndarray [n]
        The points.
    start, end : ndarray [n]
        When the walk enters and leaves the point's block, between 0 and 1.
    share : ndarray [n]
        The point's share of the mass of its block.
    alike : ndarray [n] of bool
        Whether all points of its block are the same point.
    """

    order: np.ndarray
    start: np.ndarray
    end: np.ndarray
    share: np.ndarray
    alike: np.ndarray


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
    ot = _pot()

    plan, log = ot.emd(a, b, cost, numItermax=10_000_000, log=True)
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
