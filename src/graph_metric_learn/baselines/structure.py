"""What the systems read off a graph: features, labels, adjacency, hops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import shortest_path

from ..features.onehot import decoded
from ..graphs import Graphs


def node_features(graphs: Graphs) -> np.ndarray:
    """The features of all nodes [S, q], float64, or a clear error."""
    if graphs.x is None:
        raise ValueError("the graphs have no node features: load them with features=..., or give every node an x")
    return graphs.x.astype(np.float64)


def is_discrete(graphs: Graphs) -> bool:
    """Whether the features are one-hot codes (a row of zeros, for an unknown label or degree 0, is a code too)."""
    return bool((decoded(node_features(graphs)) >= 0).all())


def node_labels(graphs: Graphs) -> np.ndarray:
    """A number per node [S]: which of the distinct rows of x it has. One-hot labels and degrees become labels again.

    >>> from graph_metric_learn.graphs import as_graphs
    >>> node_labels(as_graphs([(np.zeros((3, 3)), np.array([[0, 1], [1, 0], [0, 1]]))]))
    array([0, 1, 0])
    """
    return np.unique(node_features(graphs), axis=0, return_inverse=True)[1].reshape(-1)


def per_graph(graphs: Graphs, rows: np.ndarray) -> list[np.ndarray]:
    """Node values [S, ...] cut into one array per graph."""
    return np.split(rows, graphs.offsets[1:-1])


def adjacencies(graphs: Graphs) -> Iterator[np.ndarray]:
    """The 0/1 adjacency matrix of each graph [n, n], float64."""
    source, target = graphs.edges[:, np.argsort(graphs.edges[0], kind="stable")]
    cuts = np.searchsorted(source, graphs.offsets)
    for g, n in enumerate(graphs.sizes):
        adjacency = np.zeros((n, n))
        mine = slice(cuts[g], cuts[g + 1])
        adjacency[source[mine] - graphs.offsets[g], target[mine] - graphs.offsets[g]] = 1.0
        yield adjacency


def hops(adjacency: np.ndarray) -> np.ndarray:
    """Number of edges on a shortest path [n, n]; infinite between components.

    >>> hops(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([[ 0.,  1., inf],
           [ 1.,  0., inf],
           [inf, inf,  0.]])
    """
    return shortest_path(adjacency, unweighted=True, directed=False)


def laplacian(adjacency: np.ndarray, *, normalized: bool) -> np.ndarray:
    """D − A, or D^-1/2 (D − A) D^-1/2 with zeros for isolated nodes [n, n]."""
    degrees = adjacency.sum(1)
    plain = np.diag(degrees) - adjacency
    if not normalized:
        return plain
    root = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    return plain * np.outer(root, root)
