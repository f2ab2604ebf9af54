"""What the baselines use of a graph: features, labels, adjacency, hops, lengths of paths, Laplacian."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path

from graph_metric_learn.features.edge_reading import EdgeReading
from graph_metric_learn.features.onehot import decoded
from graph_metric_learn.graphs import Graphs
from graph_metric_learn.graphs.collection import EdgeData


def node_features(graphs: Graphs) -> np.ndarray:
    """The features of all nodes [S, q], float64; a ValueError if there are none."""
    if graphs.x is None:
        raise ValueError("the graphs have no node features: load them with features=..., or give every node an x")
    return graphs.x.astype(np.float64)


def is_discrete(graphs: Graphs) -> bool:
    """Whether all features are one-hot codes; a row of zeros, for an unknown label or degree 0, counts as one."""
    return bool((decoded(node_features(graphs)) >= 0).all())


def node_labels(graphs: Graphs) -> np.ndarray:
    """Labels of all nodes [S], whole numbers: equal where rows of x are equal. Decodes one-hot labels and degrees.

    >>> from graph_metric_learn.graphs import as_graphs
    >>> node_labels(as_graphs([(np.zeros((3, 3)), np.array([[0, 1], [1, 0], [0, 1]]))]))
    array([0, 1, 0])
    """
    return np.unique(node_features(graphs), axis=0, return_inverse=True)[1].reshape(-1)


def per_graph(graphs: Graphs, rows: np.ndarray) -> list[np.ndarray]:
    """Rows of all nodes [S, ...] split into one array per graph."""
    return np.split(rows, graphs.offsets[1:-1])


def adjacencies(graphs: Graphs) -> Iterator[np.ndarray]:
    """The 0/1 adjacency matrix of each graph [n, n], float64."""
    source, target = graphs.edges[:, np.argsort(graphs.edges[0], kind="stable")]
    starts = np.searchsorted(source, graphs.offsets)
    for g, n in enumerate(graphs.sizes):
        adjacency = np.zeros((n, n))
        edges = slice(starts[g], starts[g + 1])
        adjacency[source[edges] - graphs.offsets[g], target[edges] - graphs.offsets[g]] = 1.0
        yield adjacency


def hops(adjacency: np.ndarray) -> np.ndarray:
    """Lengths of the shortest paths in edges [n, n]; infinite between components.

    >>> hops(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([[ 0.,  1., inf],
           [ 1.,  0., inf],
           [inf, inf,  0.]])
    """
    return shortest_path(adjacency, unweighted=True, directed=False)


def require_edge_data(graphs: Graphs, *wanted: str) -> None:
    """A ValueError unless the edges carry one of these: "labels", "weights", "directions"."""
    if not set(wanted) & set(EdgeReading.of(graphs).carries):
        raise ValueError(f"edges=True, but the edges have no {' or '.join(wanted)}")


def edge_lengths(graphs: Graphs) -> Iterator[np.ndarray]:
    """The lengths of the edges of each graph [n, n]: their weights, 1 where there are none; infinite without an edge.

    The shortest of parallel edges counts. Without directions the matrices are symmetric.
    """
    data = EdgeData(graphs.edges) if graphs.edge_data is None else graphs.edge_data
    weights = np.ones(data.ends.shape[1]) if data.weights is None else data.weights
    starts = np.searchsorted(graphs.owner[data.ends[0]], np.arange(len(graphs) + 1))
    for g, n in enumerate(graphs.sizes):
        arcs = slice(starts[g], starts[g + 1])
        if (weights[arcs] < 0).any():
            raise ValueError(f"graph {g} has a negative edge weight, which is no length of an edge")
        lengths = np.full((n, n), np.inf)
        tails, heads = data.ends[:, arcs] - graphs.offsets[g]
        np.minimum.at(lengths, (tails, heads), weights[arcs])
        yield lengths


def path_lengths(lengths: np.ndarray) -> np.ndarray:
    """Lengths of the shortest paths, along directions [n, n], from those of edges; infinite where there is no path.

    >>> path_lengths(np.array([[np.inf, 2.0, 9.0], [np.inf, np.inf, 3.0], [np.inf, np.inf, np.inf]]))
    array([[ 0.,  2.,  5.],
           [inf,  0.,  3.],
           [inf, inf,  0.]])
    """
    return shortest_path(csgraph_from_dense(lengths, null_value=np.inf), directed=True)


def laplacian(adjacency: np.ndarray, *, normalized: bool) -> np.ndarray:
    """D − A, or D^-1/2 (D − A) D^-1/2 with zeros for isolated nodes [n, n]."""
    degrees = adjacency.sum(1)
    plain = np.diag(degrees) - adjacency
    if not normalized:
        return plain
    root = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    return plain * np.outer(root, root)
