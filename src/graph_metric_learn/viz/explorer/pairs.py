"""Which graphs of an explorer are near which, and for which pairs of them an explanation is stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...metrics.base import BaseGraphMetric
from ...transport import Embedded, kneighbors
from .predictions import Targets

_MOST_CLASSES = 50  # up to which the nearest of the own and of other classes are looked for


@dataclass
class Near:
    """Neighbours of each graph.

    Attributes
    ----------
    indices : ndarray [N, k]
        The nearest others, nearest first.
    distances : ndarray [N, k]
    own, other : ndarray [N]
        The nearest of the same class and of another one; −1 where there is none.
    own_distances, other_distances : ndarray [N]
    """

    indices: np.ndarray
    distances: np.ndarray
    own: np.ndarray
    own_distances: np.ndarray
    other: np.ndarray
    other_distances: np.ndarray


def find_near(metric: BaseGraphMetric, embedded: Embedded, targets: Targets, k: int) -> Near:
    """The k nearest others of each graph, exactly, and the nearest of its own class and of another one."""
    count = len(embedded)
    k = min(k, count - 1)
    device = metric.place(embedded)
    nobody, nowhere = np.full(count, -1), np.full(count, np.nan)
    near = Near(np.zeros((count, 0), int), np.zeros((count, 0)), nobody, nowhere, nobody.copy(), nowhere.copy())
    if k < 1:
        return near
    near.distances, near.indices = kneighbors(embedded, n_neighbors=k, device=device, progress=False)
    near.distances = np.where(near.distances < metric.rounding, 0.0, near.distances)
    if targets.kind != "classes" or targets.values is None or len(targets.classes) > _MOST_CLASSES:
        return near
    for code in np.unique(targets.values):
        members, others = np.flatnonzero(targets.values == code), np.flatnonzero(targets.values != code)
        if len(members) > 1:
            distances, rows = kneighbors(embedded[members], n_neighbors=1, device=device, progress=False)
            near.own[members], near.own_distances[members] = members[rows[:, 0]], distances[:, 0]
        if len(others):
            distances, rows = kneighbors(
                embedded[members], embedded[others], n_neighbors=1, device=device, progress=False
            )
            near.other[members], near.other_distances[members] = others[rows[:, 0]], distances[:, 0]
    return near


def choose_pairs(
    near: Near, targets: Targets, costs: np.ndarray, budget: int, most: int, drawn: np.ndarray | None = None
) -> list[tuple[int, int]]:
    """Pairs to explain, most wanted first, until their bytes or their number reach a limit; then in order of graphs.

    First come graphs that are predicted wrongly, each with the nearest of its own and of another class; then all graphs
    with their nearest neighbour, with their second, and so on; then all with the nearest of both classes.

    Parameters
    ----------
    costs : ndarray [N]
        Bytes that an explanation needs for each of its two graphs.
    budget, most : int
        Bytes and pairs, at most.
    drawn : ndarray [N] of bool, optional
        Graphs that may be in a pair; all when None.
    """
    wrong = np.flatnonzero(targets.wrong)
    everyone = np.arange(len(near.indices))
    wanted = [(wrong, near.own[wrong]), (wrong, near.other[wrong])]
    wanted += [(everyone, near.indices[:, rank]) for rank in range(near.indices.shape[1])]
    wanted += [(everyone, near.own), (everyone, near.other)]
    chosen: dict[tuple[int, int], None] = {}
    used = 0
    for sources, others in wanted:
        for one, two in zip(sources.tolist(), others.tolist(), strict=True):
            if two < 0 or (one, two) in chosen or (two, one) in chosen:
                continue
            if drawn is not None and not (drawn[one] and drawn[two]):
                continue
            used += int(costs[one] + costs[two])
            if used > budget or len(chosen) >= most:
                return sorted(chosen)
            chosen[one, two] = None
    return sorted(chosen)
