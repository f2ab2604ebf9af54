"""Weisfeiler-Lehman labels and features, which at each level take in one more hop around a node.

Labels are numbered exactly among the given graphs. `features.tree_hashes` hashes them instead, so that graphs that come
later have comparable labels without a table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from graph_metric_learn._core.compiled import njit
from graph_metric_learn._core.validation import whole_number
from graph_metric_learn.features.edge_reading import EdgeReading
from graph_metric_learn.graphs import Graphs

from .structure import node_features, node_labels


def checked_depth(depth: int) -> int:
    """The depth as an int; 2.0 is taken for 2, 1.5 and −1 are refused."""
    return whole_number("depth", int(depth) if depth == int(depth) else depth, 0)


def wl_labels(graphs: Graphs, depth: int, *, edges: bool = False) -> np.ndarray:
    """The labels of all nodes at levels 0 … depth [S, depth + 1], whole numbers, disjoint between levels.

    Level 0 is :func:`node_labels`; two nodes have equal labels at level h + 1 if at level h they have equal labels and
    equal multisets of neighbours' labels. With `edges`, of pairs of a neighbour's label and of the edge's label and
    direction (parallel edges give several pairs).

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> wl_labels(as_graphs([(path, np.ones((4, 1)))]), 1)
    array([[0, 1],
           [0, 2],
           [0, 2],
           [0, 1]])
    """
    levels = [node_labels(graphs)]
    arcs = _labelled_arcs(graphs) if edges else _plain_arcs(graphs)
    for _ in range(checked_depth(depth)):
        levels.append(_refined(arcs, levels[-1]) + levels[-1].max() + 1)
    return np.stack(levels, axis=1)


class Arcs(NamedTuple):
    """Nodes, their neighbours, and the labels of the edges between them, whole numbers from 0 up [A] each."""

    nodes: np.ndarray
    neighbours: np.ndarray
    labels: np.ndarray


def _plain_arcs(graphs: Graphs) -> Arcs:
    nodes, neighbours = graphs.edges
    return Arcs(nodes, neighbours, np.zeros_like(nodes))


def _labelled_arcs(graphs: Graphs) -> Arcs:
    """Edges with the number of their label; of directed ones, those that leave a node and those that arrive differ."""
    data = EdgeReading.of(graphs).apply(graphs).edge_data
    if data is None:
        return _plain_arcs(graphs)
    (tails, heads), labels = data.ends, np.zeros_like(data.ends[0])
    if data.labels is not None:
        labels = np.unique(data.labels, axis=0, return_inverse=True)[1].reshape(-1)
    if not data.directed:
        return Arcs(tails, heads, labels)
    both = np.concatenate([2 * labels, 2 * labels + 1])
    return Arcs(np.concatenate([tails, heads]), np.concatenate([heads, tails]), both)


def _refined(arcs: Arcs, labels: np.ndarray) -> np.ndarray:
    """The number of each node's (label, multiset of labels around it) [S], exact, without hashing."""
    seen = arcs.labels * (labels.max() + 1) + labels[arcs.neighbours]  # the label of the edge and of its other end
    around = seen[np.lexsort((seen, arcs.nodes))]  # each node's neighbours, sorted by label
    degrees = np.bincount(arcs.nodes, minlength=len(labels))
    starts = np.cumsum(degrees) - degrees
    refined, count = np.empty_like(labels), 0
    for degree in np.unique(degrees):
        nodes = np.flatnonzero(degrees == degree)
        rows = np.column_stack([labels[nodes], around[starts[nodes, None] + np.arange(degree)]])
        distinct, number = np.unique(rows, axis=0, return_inverse=True)
        refined[nodes] = count + number.reshape(-1)
        count += len(distinct)
    return refined


def wl_features(graphs: Graphs, depth: int) -> np.ndarray:
    """Continuous features of all nodes at levels 0 … depth [depth + 1, S, q].

    At level h + 1, x(v) is the mean of x(v) and of the average of its neighbours' x at level h; a node without
    neighbours keeps its x.
    """
    adjacency = graphs.adjacency.astype(np.float64)
    degrees = graphs.degrees[:, None]
    levels = [node_features(graphs)]
    for _ in range(checked_depth(depth)):
        around = adjacency @ levels[-1] / np.maximum(degrees, 1)
        levels.append(np.where(degrees > 0, (levels[-1] + around) / 2, levels[-1]))
    return np.stack(levels)


def intersections(graphs: Graphs, labels: np.ndarray, *, share: bool) -> np.ndarray:
    """Histogram intersections Σ_l min(count of l in graph i, count of l in graph j) [N, N].

    `labels` [S, L] of nodes are disjoint between columns. With `share`, counts are divided by the number of nodes of
    the graph; the sums are whole numbers, divided once, so a graph has the same intersection with its renumbering as
    with itself.
    """
    owner = np.repeat(np.arange(len(graphs)), graphs.sizes * labels.shape[1])
    ones = np.ones(labels.size)
    counts = sparse.csr_array((ones, (owner, labels.ravel())), shape=(len(graphs), int(labels.max()) + 1))
    counts.sum_duplicates()
    sizes = graphs.sizes.astype(np.float64) if share else np.ones(len(graphs))
    return _intersections(counts.indptr, counts.indices, counts.data, sizes, counts.shape[1])


@njit
def _intersections(starts, labels, counts, sizes, n_labels):
    n = len(starts) - 1
    result = np.zeros((n, n))
    histogram = np.zeros(n_labels)  # of graph i
    for i in range(n):
        for q in range(starts[i], starts[i + 1]):
            histogram[labels[q]] = counts[q]
        for j in range(i, n):
            common = 0.0
            for q in range(starts[j], starts[j + 1]):
                common += min(histogram[labels[q]] * sizes[j], counts[q] * sizes[i])
            result[i, j] = result[j, i] = common / (sizes[i] * sizes[j])
        for q in range(starts[i], starts[i + 1]):
            histogram[labels[q]] = 0.0
    return result
