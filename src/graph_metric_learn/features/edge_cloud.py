"""Blocks whose points are edges, not nodes: what an edge carries, and the nodes at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from .._core.hashing import ODD, mix
from .._core.ragged import offsets
from .._core.schema import Saved, join, read
from ..graphs.collection import Graphs
from .block_kind import Block, lacking_of_edges
from .edge_features import MAX_LABELS, OfEdgeFeatures
from .node_features import FeaturesState, NodeFeatures
from .propagation import hop_by_hop
from .tree_hashes import hashed_rows, names_of_level, shared_hashes


def edge_rows(graphs: Graphs) -> tuple[np.ndarray, np.ndarray]:
    """Which arcs are points of the clouds [P], −1 for a graph without edges, and how many points each graph has [G].

    Without directions an edge is a point once. A graph without edges has one point, which is made the mean of all.
    """
    ends = graphs.edges if graphs.edge_data is None else graphs.edge_data.ends
    directed = graphs.edge_data is not None and graphs.edge_data.directed
    chosen = np.arange(ends.shape[1]) if directed else np.flatnonzero(ends[0] < ends[1])
    counts = np.bincount(graphs.owner[ends[0][chosen]], minlength=len(graphs))
    sizes = np.maximum(counts, 1)
    rows = np.full(int(sizes.sum()), -1)
    positions = np.arange(len(chosen)) + np.repeat(offsets(sizes)[:-1] - offsets(counts)[:-1], counts)
    rows[positions] = chosen
    return rows, sizes


def cloud_edges(graphs: Graphs, rows: np.ndarray) -> list[np.ndarray]:
    """Ends of the edges in each graph's cloud [2, e], nodes numbered from 0; −1 where a graph has no edge."""
    ends = graphs.edges if graphs.edge_data is None else graphs.edge_data.ends
    picked = np.full((2, len(rows)), -1)
    picked[:, rows >= 0] = ends[:, rows[rows >= 0]]
    _, sizes = edge_rows(graphs)
    parts = np.split(picked, offsets(sizes)[1:-1], axis=1)
    return [np.where(part >= 0, part - start, -1) for part, start in zip(parts, graphs.offsets[:-1], strict=True)]


class EdgeOwn(OfEdgeFeatures):
    """What edges carry themselves: labels one-hot, vectors, weights."""

    cloud = "edges"

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return lacking_of_edges(graphs, "labels", "vectors", "weights")

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        values = _picked(self.features.transform(graphs), edge_rows(graphs)[0])
        return [values for _ in levels]

    def widths(self) -> tuple[int, ...]:
        return (self.features.width,)


class _EndsState(Saved):
    features: Annotated[list[FeaturesState], Meta(max_length=2)]


class EdgeEnds(Block):
    """The nodes at both ends of an edge, smoothed over as many hops as the level says.

    Without directions, the mean of the two and the absolute difference; with directions, tail and head.
    """

    cloud = "edges"
    scaling = "apart"
    needs_edges = True

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return "labels, vectors, weights or directions of edges" if graphs.edge_data is None else None

    def fit(self, graphs: Graphs, sample: Graphs) -> EdgeEnds:
        few = graphs.labels is not None and sum(len(np.unique(c)) for c in graphs.labels.T) <= MAX_LABELS
        kinds = ["attributes"] * (graphs.x is not None) + ["labels"] * few
        self.features = [NodeFeatures(kind).fit(graphs) for kind in kinds]
        return self

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        parts: list[Any] = [features.transform(graphs).x for features in self.features]
        parts.append(np.log1p(graphs.degrees)[:, None].astype(np.float32))
        if graphs.weights is not None:
            parts.append(np.asarray(abs(graphs.weights).sum(1), dtype=np.float32)[:, None])
        hops = hop_by_hop(replace(graphs, x=np.concatenate(parts, axis=1)), max(levels))
        assert graphs.edge_data is not None
        tails, heads = graphs.edge_data.ends
        rows, _ = edge_rows(graphs)
        by_level = []
        for level in levels:
            one, two = hops[level][tails], hops[level][heads]
            both = [one, two] if graphs.edge_data.directed else [(one + two) / 2, np.abs(one - two)]
            by_level.append(_picked(np.concatenate(both, axis=1), rows))
        return by_level

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"features": [features.state() for features in self.features]}, {}

    def set_state(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        saved = read(_EndsState, join(config, arrays))
        self.features = [NodeFeatures.from_state(state) for state in saved.features]

    def widths(self) -> tuple[int, ...]:
        ends = sum(features.columns_ for features in self.features)
        return 2 * (ends + 1), 2 * (ends + 2)


class EdgeTrees(Block):
    """The name of an edge with its label and the trees of depth h at both ends, a 64-bit hash: an edge as a root."""

    cloud = "edges"
    scaling = "none"
    categorical = True
    reads_labels = True
    needs_edges = True
    n_columns = 1

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return lacking_of_edges(graphs, "labels", "directions")

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        names = shared_hashes(graphs, max(levels), shared)
        rows, _ = edge_rows(graphs)
        return [names_of_level(edge_hashes(graphs, names[level])[rows], level) for level in levels]


def edge_hashes(graphs: Graphs, names: np.ndarray) -> np.ndarray:
    """A hash of each arc's labels and of the names [S] of its ends [A], and one more for an edge that is not there."""
    data = graphs.edge_data
    assert data is not None
    with np.errstate(over="ignore"):
        tails, heads = (mix(names[ends] ^ ODD) for ends in data.ends)
        hashes = mix(tails * ODD) + heads if data.directed else tails + heads
        if data.labels is not None:
            hashes = mix(hashes) + hashed_rows(data.labels)
    return np.concatenate([mix(hashes), np.zeros(1, np.uint64)])


def _picked(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows of values [A, q], NaN for those that are −1 [P, q], float32."""
    picked = np.full((len(rows), values.shape[1]), np.nan, dtype=np.float32)
    picked[rows >= 0] = values[rows[rows >= 0]]
    return picked
