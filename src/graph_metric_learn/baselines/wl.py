"""Weisfeiler-Lehman labels and features, which at each level take in one more hop around a node.

Labels are numbered exactly among the given graphs. `features.trees` hashes them instead, so that graphs that come later
have comparable labels without a table.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from .._core.validation import whole_number
from ..graphs import Graphs
from .structure import node_features, node_labels


def checked_depth(depth: int) -> int:
    """The depth as an int; 2.0 is taken for 2, 1.5 and −1 are refused."""
    return whole_number("depth", int(depth) if depth == int(depth) else depth, 0)


def wl_labels(graphs: Graphs, depth: int) -> np.ndarray:
    """The labels of all nodes at levels 0 … depth [S, depth + 1], whole numbers, disjoint between levels.

    Level 0 is :func:`node_labels`; two nodes have equal labels at level h + 1 if at level h they have equal labels and
    equal multisets of neighbours' labels.

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
    for _ in range(checked_depth(depth)):
        levels.append(_refined(graphs, levels[-1]) + levels[-1].max() + 1)
    return np.stack(levels, axis=1)


def _refined(graphs: Graphs, labels: np.ndarray) -> np.ndarray:
    """The number of each node's (label, multiset of the neighbours' labels) [S], exact, without hashing."""
    source, target = graphs.edges
    around = labels[target][np.lexsort((labels[target], source))]  # each node's neighbours, sorted by label
    starts = np.cumsum(graphs.degrees) - graphs.degrees
    refined, count = np.empty_like(labels), 0
    for degree in np.unique(graphs.degrees):
        nodes = np.flatnonzero(graphs.degrees == degree)
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

    Parameters
    ----------
    graphs : Graphs
    labels : ndarray [S, L]
        Labels of the nodes, disjoint between columns.
    share : bool
        Whether counts are divided by the number of nodes of the graph. The sums are whole numbers, divided once, so a
        graph has the same intersection with its renumbering as with itself.
    """
    owner = np.repeat(np.arange(len(graphs)), graphs.sizes * labels.shape[1])
    ones = np.ones(labels.size)
    counts = sparse.csr_array((ones, (owner, labels.ravel())), shape=(len(graphs), int(labels.max()) + 1))
    counts.sum_duplicates()
    sizes = graphs.sizes.astype(np.float64) if share else np.ones(len(graphs))
    return _intersections(counts.indptr, counts.indices, counts.data, sizes, counts.shape[1])


@njit(cache=True)
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
