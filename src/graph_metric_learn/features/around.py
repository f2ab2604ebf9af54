"""Block of what edges carry around a node: counts of labels, sums and means of vectors, degrees in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._core.schema import join
from ..graphs.collection import Graphs
from .base import SmoothBlock
from .edge_features import EdgeFeatures


class Around(SmoothBlock):
    """Sums and means of what a node's edges carry; of directed edges, those that leave and those that arrive apart."""

    scaling = "apart"
    needs_edges = True

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        data = graphs.edge_data
        found = data is not None and (data.labels is not None or data.x is not None or data.directed)
        return None if found else "labels, vectors or directions of edges"

    def fit(self, graphs: Graphs, sample: Graphs) -> Around:
        self.features = EdgeFeatures().fit(graphs)
        return self

    def start(self, graphs: Graphs) -> np.ndarray:
        if graphs.edge_data is None:
            raise ValueError("edges carry nothing, those that were fitted did")
        return edge_sums(graphs, self.features.transform(graphs))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.features.state(), {}

    def set_state(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.features = EdgeFeatures.from_state(join(config, arrays))

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
