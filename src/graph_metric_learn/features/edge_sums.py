"""What edges carry, summed into nodes: the block "around", and extra columns of the one matrix that SGML takes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._core.schema import FieldError, Number, Positive, Saved, or_infinite, or_none, read, split
from ..graphs.collection import Graphs
from .block_kind import SmoothBlock, lacking_of_edges
from .edge_features import MAX_LABELS, EdgeFeatures, EdgeFeaturesState, OfEdgeFeatures
from .edge_reading import EdgeReading

_ROUNDING = 1e-6  # deviation of a constant column of float32 sums, relative to its largest value


class EdgeSumsState(Saved):
    """What files hold of :class:`EdgeSums`."""

    reading: EdgeReading
    edges: EdgeFeaturesState
    mean: list[Number]
    scale: list[Positive | None]  # None: of a column that never varies


class EdgeSums:
    """Sums and means, over the edges of a node, of edge labels (one-hot), vectors, weights and squared weights.

    Vectors and weights are standardised over all edges before they are summed, and squares are taken of standardised
    weights: an offset costs no digits. The columns, and the logarithm of the degree with them, are then standardised
    over all nodes. All of it is learned in `fit`; new graphs go through the same rule.

    Attributes
    ----------
    reading : EdgeReading
        What edges carry. Of directed edges, those that leave a node and those that arrive are summed apart.
    edges : EdgeFeatures
        The columns of each edge.
    mean, scale : ndarray [q]
        Of the sums over all nodes; a column that never varies has an infinite scale.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> weights = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    >>> triangle = as_graphs([(weights, None)])
    >>> EdgeSums().fit(triangle).transform(triangle)[:, 1].round(2)
    array([-1.22,  0.  ,  1.22], dtype=float32)
    """

    def fit(self, graphs: Graphs) -> EdgeSums:
        """Learns columns and statistics from graphs whose edges carry something."""
        self.reading = EdgeReading.of(graphs)
        if not self.reading.carries:
            raise ValueError("edges carry nothing: there is nothing to sum")
        self.edges = EdgeFeatures().fit(self.reading.apply(graphs))
        if any(len(values) == 0 for values in self.edges.label_values):
            warnings.warn(f"edges have more than {MAX_LABELS} different labels, which are not summed", stacklevel=6)
        sums = self._sums(graphs)
        self.mean, spread = sums.mean(0), sums.std(0)
        self.scale = np.where(spread <= _ROUNDING * np.abs(sums).max(0), np.inf, spread)
        return self

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.mean)

    def transform(self, graphs: Graphs) -> np.ndarray:
        """Standardised sums of all nodes [S, width], float32."""
        return ((self._sums(graphs) - self.mean) / self.scale).astype(np.float32)

    def _sums(self, graphs: Graphs) -> np.ndarray:
        """The columns before they are standardised [S, width], float64."""
        ready = self.reading.apply(graphs)
        values = self.edges.transform(ready)
        if self.reading.weighted:
            values = np.concatenate([values, values[:, -1:] ** 2], axis=1)  # weights come last
        return edge_sums(ready, values).astype(np.float64)

    def state(self) -> dict[str, Any]:
        """All that was fitted, as JSON can hold it."""
        rules = {"reading": split(self.reading)[0], "edges": self.edges.state()}
        return {**rules, "mean": self.mean.tolist(), "scale": or_none(self.scale)}

    @classmethod
    def from_state(cls, state: Any) -> EdgeSums:
        """The rule that `state` came from, or a :class:`FieldError`."""
        saved, sums = read(EdgeSumsState, state, "edge_sums"), cls()
        sums.reading, sums.edges = saved.reading, EdgeFeatures.from_state(saved.edges)
        wanted = (1 + sums.reading.directed) * (1 + 2 * (sums.edges.width + sums.reading.weighted))
        if not len(saved.mean) == len(saved.scale) == wanted:
            raise FieldError("edge_sums.mean", f"and scale must have {wanted} numbers each")
        sums.mean, sums.scale = np.array(saved.mean, dtype=float), or_infinite(saved.scale)
        return sums


class Around(OfEdgeFeatures, SmoothBlock):
    """Sums and means of what a node's edges carry; of directed edges, those that leave and those that arrive apart."""

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return lacking_of_edges(graphs, "labels", "vectors", "directions")

    def start(self, graphs: Graphs) -> np.ndarray:
        if graphs.edge_data is None:
            raise ValueError("edges carry nothing, those that were fitted did")
        return edge_sums(graphs, self.features.transform(graphs))

    def widths(self) -> tuple[int, ...]:
        one_way = 1 + 2 * self.features.width
        return one_way, 2 * one_way


def edge_sums(graphs: Graphs, values: np.ndarray) -> np.ndarray:
    """Logarithm of the degree, sums and means of the values [A, q] of a node's arcs [S, columns], float32.

    With directions, first for the arcs that leave the node, then for those that arrive.
    """
    data = graphs.edge_data
    assert data is not None
    nodes, count = int(graphs.sizes.sum()), data.ends.shape[1]
    blocks = []
    for ends in data.ends if data.directed else data.ends[:1]:
        at = sparse.csr_array((np.ones(count), (ends, np.arange(count))), shape=(nodes, count))
        degree = np.bincount(ends, minlength=nodes)[:, None]
        sums = at @ values
        blocks += [np.log1p(degree), sums, sums / np.maximum(degree, 1)]
    return np.concatenate(blocks, axis=1).astype(np.float32)
