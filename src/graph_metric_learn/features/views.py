"""Views of graphs: what of a graph a block of node features gets to see."""

from __future__ import annotations

from dataclasses import replace

from ..graphs.collection import Graphs

VIEWS = {
    "edges": "labels, weights and directions of edges, which blocks do not see otherwise",
    "first": "of several labels of a node, the first one only",
}


def seen(graphs: Graphs, views: tuple[str, ...]) -> Graphs:
    """The graphs as blocks with these views see them.

    >>> from graph_metric_learn.graphs import as_graphs
    >>> import numpy as np
    >>> weighted = as_graphs([(np.array([[0.0, 2.0], [2.0, 0.0]]), None)])
    >>> seen(weighted, ()).edge_data is None, seen(weighted, ("edges",)).edge_data.carries
    (True, ['weights'])
    """
    if "edges" not in views:
        graphs = graphs.without_edge_data()
    if "first" in views and graphs.labels is not None and graphs.labels.shape[1] > 1:
        graphs = replace(graphs, labels=graphs.labels[:, :1])
    return graphs
