"""Edges as they were listed, of all graphs together → simple neighbours, directions, and what edges carry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .collection import EdgeData

UNDIRECTED, DIRECTED, UNKNOWN = 0, 1, 2  # orientation of a listed edge
_SAME = 1e-6  # relative difference up to which numbers of an edge and its reverse are the same


class Listed(NamedTuple):
    """Edges as they came: ends [2, e] as rows of all nodes, orientation [e] of each, and what they carry."""

    ends: np.ndarray
    orientation: np.ndarray
    labels: np.ndarray | None = None
    x: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def bare(self) -> bool:
        """Whether edges carry nothing."""
        return self.labels is None and self.x is None and self.weights is None

    def some(self, which: np.ndarray, *, flipped: bool = False) -> Listed:
        """Those that are chosen, by mask [e] or indices; with their ends exchanged where wanted."""
        ends = self.ends[:, which]
        rest = (None if part is None else part[which] for part in self[1:])
        return Listed(ends[::-1] if flipped else ends, *rest)  # type: ignore[arg-type]

    def together(self, other: Listed) -> Listed:
        """Both lists, one after the other."""
        ends = np.concatenate([self.ends, other.ends], axis=1)
        pairs = zip(self[1:], other[1:], strict=True)
        rest = (None if one is None else np.concatenate([one, two]) for one, two in pairs)
        return Listed(ends, *rest)  # type: ignore[arg-type]


class Combined(NamedTuple):
    """Neighbours [2, E], both ways and once; what edges carry, if anything; and whether every edge was listed once."""

    edges: np.ndarray
    data: EdgeData | None
    listed_once: bool


def combine(listed: Listed, n_nodes: int, directed: Any = "auto") -> Combined:
    """Neighbours and edge data from listed edges.

    Self-loops are dropped. Repeats of an edge that carries nothing count once; parallel edges with data stay apart.
    Weights that are all 1 are no weights.

    With directed="auto" edges have directions where a source says so, or where some have their reverse, with the same
    data, and others have not. If no edge has its reverse, every edge was listed once, and counts both ways.
    """
    listed = listed.some(listed.ends[0] != listed.ends[1])
    if listed.weights is not None and (listed.weights == 1).all():
        listed = listed._replace(weights=None)
    both_ways = listed.orientation == UNDIRECTED
    if both_ways.any():
        listed = listed.together(listed.some(both_ways, flipped=True))
    keys = listed.ends[0] * n_nodes + listed.ends[1]
    order = np.argsort(keys, kind="stable")  # fast where they are in order already, as most are
    if listed.bare:
        order = order[_first_of_equal(keys[order])]
    listed, keys = listed.some(order), keys[order]
    partner, has_reverse = _partners(listed, keys, n_nodes)
    edges = _neighbours(listed.ends, keys, has_reverse, n_nodes)
    unknown = listed.orientation == UNKNOWN
    once = bool(unknown.any() and not has_reverse[unknown].any())
    if isinstance(directed, str):
        directed = (listed.orientation == DIRECTED).any() or (unknown.any() and not once and not partner[unknown].all())
    if directed:
        return Combined(edges, _data(listed, directed=True), False)
    if listed.bare:
        return Combined(edges, None, once)
    if not partner.all():
        listed = listed.together(listed.some(~partner, flipped=True))
        listed = listed.some(np.lexsort(listed.ends[::-1]))
    return Combined(edges, _data(listed, directed=False), once)


def without_directions(data: EdgeData, n_nodes: int) -> EdgeData:
    """The same edges, read both ways."""
    listed = Listed(data.ends, np.full(data.ends.shape[1], DIRECTED), data.labels, data.x, data.weights)
    edges, combined, _ = combine(listed, n_nodes, directed=False)
    return EdgeData(edges) if combined is None else replace(combined, columns=data.columns)


def _data(listed: Listed, directed: bool) -> EdgeData:
    return EdgeData(np.ascontiguousarray(listed.ends), directed, *listed[2:])


def _first_of_equal(ascending: np.ndarray) -> np.ndarray:
    """Whether each of the numbers is the first of its value [e]."""
    return np.diff(ascending, prepend=-1) != 0


def _neighbours(ends: np.ndarray, keys: np.ndarray, has_reverse: np.ndarray, n_nodes: int) -> np.ndarray:
    """Both directions of every edge, once, in order of row and column [2, E]; the keys ascend."""
    if not has_reverse.all():
        tails, heads = ends[:, ~has_reverse]
        keys = np.sort(np.concatenate([keys, heads * n_nodes + tails]))
    keys = keys[_first_of_equal(keys)]
    return np.stack([keys // n_nodes, keys % n_nodes]) if n_nodes else np.zeros((2, 0), dtype=np.int64)


def _partners(listed: Listed, keys: np.ndarray, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether each edge has its reverse with the same data, each reverse used once; and whether it has any reverse [e].

    Edges come in ascending order of their keys.
    """
    reverse = listed.ends[1] * n_nodes + listed.ends[0]
    reverse_row = np.minimum(np.searchsorted(keys, reverse), max(len(keys) - 1, 0))
    has_reverse = keys[reverse_row] == reverse if len(keys) else np.zeros(0, dtype=bool)
    if listed.bare:
        return has_reverse, has_reverse
    if len(keys) and (np.diff(keys) == 0).any():
        return _matched(listed, keys, reverse), has_reverse
    same = has_reverse.copy()
    if listed.labels is not None:
        same &= (listed.labels == listed.labels[reverse_row]).all(1)
    for values in (listed.x, None if listed.weights is None else listed.weights[:, None]):
        if values is not None:
            tolerance = _SAME * np.maximum(np.abs(values), np.abs(values).max(initial=0.0) * 1e-6)
            same &= (np.abs(values - values[reverse_row]) <= tolerance).all(1)
    return same, has_reverse


def _matched(listed: Listed, keys: np.ndarray, reverse: np.ndarray) -> np.ndarray:
    """The same where edges are repeated: of equal edges, as many have a partner as there are reverse ones.

    Numbers are compared as float32: an edge and its reverse may differ by rounding.
    """
    columns = [np.minimum(keys, reverse)]
    for part in listed[2:]:
        if part is not None:
            part = part.astype(np.float32) if part.dtype.kind == "f" else part
            columns += [np.unique(column, return_inverse=True)[1] for column in np.atleast_2d(part.T)]
    _, group = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    group = group.reshape(-1)
    forward = (keys < reverse).astype(np.int64)
    counts = np.stack([np.bincount(group, forward == side, minlength=group.max() + 1) for side in (0, 1)])
    order = np.lexsort([forward, group])
    first = np.searchsorted(2 * group[order] + forward[order], 2 * group[order] + forward[order])
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - first
    return rank < counts[1 - forward, group]
