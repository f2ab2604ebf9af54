"""Block of the size of a node's graph."""

from __future__ import annotations

import numpy as np

from ..graphs.collection import Graphs
from .base import SmoothBlock


class Size(SmoothBlock):
    """How large the graph is: the same for all its nodes, so that only the mean of a cloud makes sense."""

    scaling = "apart"
    embeddings = ("mean",)

    def start(self, graphs: Graphs) -> np.ndarray:
        return graph_size(graphs)

    def widths(self) -> tuple[int, ...]:
        return (2,)


def graph_size(graphs: Graphs) -> np.ndarray:
    """How large the graph of each node is: logarithms of its nodes, and of its edges + 1 [S, 2].

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> np.exp(graph_size(as_graphs([(1 - np.eye(3), None)])))[0].round(3)
    array([3., 4.], dtype=float32)
    """
    edges = np.add.reduceat(graphs.degrees, graphs.offsets[:-1]) / 2
    of_graph = np.stack([np.log(graphs.sizes), np.log1p(edges)], axis=1)
    return np.repeat(of_graph, graphs.sizes, axis=0).astype(np.float32)
