"""ties="optimal": of all plans that are optimal in one dimension, the one of least full cost.

Points with equal projections form blocks. Between blocks the one-dimensional plan is unique, and which blocks exchange
mass is a staircase; inside it, mass may be matched freely. A staircase has no cycles, so forbidding all other block
pairs already fixes how much each pair of blocks exchanges: what remains is one optimal transport problem for each
connected piece of the staircase.
"""

from __future__ import annotations

from typing import NamedTuple

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
    """The plan of least Σ π |x − y|^order among those optimal between the projections `along_x` [n], `along_y` [m]."""
    source, target, mass = [], [], []
    blocks_x, blocks_y = _blocks(along_x), _blocks(along_y)
    for piece in _pieces(blocks_x, blocks_y, a, b):
        rows = np.concatenate([blocks_x[k] for k in dict.fromkeys(k for k, _ in piece)])
        cols = np.concatenate([blocks_y[l] for l in dict.fromkeys(l for _, l in piece)])
        if a[rows].sum() <= _SAME:
            continue
        if len(rows) == 1 or len(cols) == 1:
            plan = np.outer(a[rows], b[cols]) / a[rows].sum()
        else:
            cost = np.linalg.norm(x[rows, None] - y[None, cols], axis=2) ** order
            if len(piece) > 1:
                allowed = np.zeros((len(x), len(y)), dtype=bool)
                for k, l in piece:
                    allowed[np.ix_(blocks_x[k], blocks_y[l])] = True
                forbidden = (cost.max() + 1.0) * (len(rows) + len(cols))
                cost = np.where(allowed[np.ix_(rows, cols)], cost, forbidden)
            plan = _emd(a[rows], b[cols] * (a[rows].sum() / b[cols].sum()), cost)
        i, j = np.nonzero(plan)
        source.append(rows[i])
        target.append(cols[j])
        mass.append(plan[i, j])
    return Entries(np.concatenate(source), np.concatenate(target), np.concatenate(mass))


def _blocks(along: np.ndarray) -> list[np.ndarray]:
    """Indices of the points, grouped by equal projection, in increasing order of it."""
    order = np.argsort(along, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(along[order]) != 0) + 1)


def _pieces(
    blocks_x: list[np.ndarray], blocks_y: list[np.ndarray], a: np.ndarray, b: np.ndarray
) -> list[list[tuple[int, int]]]:
    """The staircase of block pairs that exchange mass, cut where both cumulated masses agree."""
    ends_x = np.cumsum([a[block].sum() for block in blocks_x])
    ends_y = np.cumsum([b[block].sum() for block in blocks_y])
    ends_x[-1] = ends_y[-1] = 1.0
    pieces: list[list[tuple[int, int]]] = [[]]
    k = l = 0
    while k < len(blocks_x) and l < len(blocks_y):
        pieces[-1].append((k, l))
        gap = ends_x[k] - ends_y[l]
        if abs(gap) <= _SAME:
            pieces.append([])
        k, l = k + (gap <= _SAME), l + (gap >= -_SAME)
    return [piece for piece in pieces if piece]


def _emd(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> np.ndarray:
    try:
        import ot
    except ImportError:
        raise ImportError('ties="optimal" needs POT: pip install graph-metric-learn[ot]') from None
    plan, log = ot.emd(a, b, cost, numItermax=10_000_000, log=True)
    if log["warning"] is not None:
        raise RuntimeError(f'ties="optimal": POT did not solve a block of {cost.shape} points: {log["warning"]}')
    return plan
