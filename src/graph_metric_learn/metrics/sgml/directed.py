"""Features mixed along the directions of edges: the part of a directed graph convolution that has no parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..._core.validation import one_of, whole_number
from ...graphs import Graphs

DIRECTED = ("in", "out")


def propagate_directed(graphs: Graphs, depth: int, along: str = "in") -> np.ndarray:
    """Ã^r X of all graphs [S, q], float32, with Ã = D^-1 (W + I): means over a node and those on one side of its edges.

    Computed in float64 and rounded once, as :func:`propagate`.

    Parameters
    ----------
    graphs : Graphs
        With features x [S, q]. Edges without directions count both ways.
    depth : int
        The number of hops r >= 0.
    along : {"in", "out"}
        "in": W_ij is the weight of the edge j -> i, features go along the arrows; "out": of i -> j, against them. Edges
        without weights have weight 1 (parallel ones once); weights of parallel edges add up, and the mean absolute
        weight of each graph is 1. D holds the sums of the rows of |W| + I.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> arrow = as_graphs([(np.array([[0, 1], [0, 0]]), np.array([[1.0], [3.0]]))], directed=True)
    >>> propagate_directed(arrow, 1, "in").ravel(), propagate_directed(arrow, 1, "out").ravel()
    (array([1., 2.], dtype=float32), array([2., 3.], dtype=float32))
    """
    one_of("propagation", along, DIRECTED)
    assert graphs.x is not None
    weights = _neighbour_weights(graphs, along)
    total = 1.0 + np.asarray(abs(weights).sum(1), dtype=np.float64)[:, None]
    mixed = graphs.x.astype(np.float64)
    for _ in range(whole_number("depth", depth, 0)):
        mixed = (mixed + weights @ mixed) / total
    return mixed.astype(np.float32)


def _neighbour_weights(graphs: Graphs, along: str) -> Any:
    """W, a scipy sparse array [S, S], float64."""
    data = graphs.edge_data
    if data is None or not data.directed:
        return graphs.adjacency.astype(np.float64) if graphs.weights is None else graphs.weights
    nodes, neighbours = data.ends[::-1] if along == "in" else data.ends
    values = np.ones(len(nodes)) if data.weights is None else data.weights
    owner = graphs.owner[nodes]
    mean = np.bincount(owner, np.abs(values)) / np.maximum(np.bincount(owner), 1)
    values = values / np.where(mean > 0, mean, 1.0)[owner]
    n = int(graphs.sizes.sum())
    matrix = sparse.csr_array((values, (nodes, neighbours)), shape=(n, n))
    matrix.sum_duplicates()
    if data.weights is None:
        matrix.data[:] = 1.0
    return matrix
