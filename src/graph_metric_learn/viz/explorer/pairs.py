"""Which graphs of an explorer are near which, and for which pairs of them an explanation is stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...metrics.base import BaseGraphMetric, clear_rounding
from ...transport import Embedded, kneighbors
from .predictions import Targets

_MOST_CLASSES = 50  # up to which the nearest of the own and of other classes are looked for


@dataclass
class Near:
    """Neighbours of each graph, by index; −1 where there is none."""

    indices: np.ndarray  # [N, k] the nearest others, nearest first
    distances: np.ndarray  # [N, k]
    own: np.ndarray  # [N] the nearest of the same class
    own_distances: np.ndarray  # [N]
    other: np.ndarray  # [N] the nearest of another class
    other_distances: np.ndarray  # [N]


def find_near(metric: BaseGraphMetric, embedded: Embedded, targets: Targets, k: int) -> Near:
    """The k nearest others of each graph, exactly, and the nearest of its own class and of another one."""
    count = len(embedded)
    k = min(k, count - 1)
    nearest = partial(kneighbors, device=metric.place(embedded), progress=False)
    nobody, nowhere = np.full(count, -1), np.full(count, np.nan)
    near = Near(np.zeros((count, 0), int), np.zeros((count, 0)), nobody, nowhere, nobody.copy(), nowhere.copy())
    if k < 1:
        return near
    near.distances, near.indices = nearest(embedded, n_neighbors=k)
    clear_rounding(near.distances, metric.rounding)
    if targets.kind != "classes" or targets.values is None or len(targets.classes) > _MOST_CLASSES:
        return near
    for code in np.unique(targets.values):
        members, others = np.flatnonzero(targets.values == code), np.flatnonzero(targets.values != code)
        if len(members) > 1:
            distances, rows = nearest(embedded[members], n_neighbors=1)
            near.own[members], near.own_distances[members] = members[rows[:, 0]], distances[:, 0]
        if len(others):
            distances, rows = nearest(embedded[members], embedded[others], n_neighbors=1)
            near.other[members], near.other_distances[members] = others[rows[:, 0]], distances[:, 0]
    return near


def choose_pairs(
    near: Near, targets: Targets, costs: np.ndarray, budget: int, most: int, drawn: np.ndarray
) -> list[tuple[int, int]]:
    """Pairs to explain, most wanted first, until their bytes or their number reach a limit; then in order of graphs.

    First come graphs that are predicted wrongly, each with the nearest of its own and of another class; then all graphs
    with their nearest neighbour, with their second, and so on; then all with the nearest of both classes.
    Limits are `budget` bytes, of which an explanation needs `costs` [N] for each of its two graphs, and `most` pairs.
    Only graphs that are `drawn` [N] are in a pair.
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
            if two < 0 or (one, two) in chosen or (two, one) in chosen or not (drawn[one] and drawn[two]):
                continue
            used += int(costs[one] + costs[two])
            if used > budget or len(chosen) >= most:
                return sorted(chosen)
            chosen[one, two] = None
    return sorted(chosen)
