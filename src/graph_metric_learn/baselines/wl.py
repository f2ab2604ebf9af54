"""Weisfeiler-Lehman: labels and features that take in more of a node's surroundings level by level."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from ..graphs import Graphs
from .structure import node_features, node_labels


def checked_depth(depth: int) -> int:
    """The same as an int, or a clear error."""
    if depth != int(depth) or depth < 0:
        raise ValueError(f"depth must be a whole number >= 0, got {depth!r}")
    return int(depth)


def wl_labels(graphs: Graphs, depth: int) -> np.ndarray:
    """The labels of all nodes at levels 0 … depth [S, depth + 1], whole numbers, different ones at different levels.

    Level 0 is :func:`node_labels`; two nodes are equal at level h + 1 if they are equal at level h and so are their
    neighbours, counted.

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
    """A number for each (label, multiset of the neighbours' labels) [S]: exact, no hashing."""
    source, target = graphs.edges
    around = labels[target][np.lexsort((labels[target], source))]  # each node's neighbours, sorted by label
    starts = np.cumsum(graphs.degrees) - graphs.degrees
    refined, count = np.empty_like(labels), 0
    for degree in np.unique(graphs.degrees):
        nodes = np.flatnonzero(graphs.degrees == degree)
        rows = np.column_stack([labels[nodes], around[starts[nodes, None] + np.arange(degree)]])
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        refined[nodes] = count + place.reshape(-1)
        count += len(distinct)
    return refined


def wl_features(graphs: Graphs, depth: int) -> np.ndarray:
    """Continuous features of all nodes at levels 0 … depth [depth + 1, S, q].

    x(v) at level h + 1 is the mean of x(v) at level h and the average of the neighbours' x at level h; a node without
    neighbours keeps its own.
    """
    adjacency = graphs.adjacency.astype(np.float64)
    degrees = graphs.degrees[:, None]
    levels = [node_features(graphs)]
    for _ in range(checked_depth(depth)):
        around = adjacency @ levels[-1] / np.maximum(degrees, 1)
        levels.append(np.where(degrees > 0, (levels[-1] + around) / 2, levels[-1]))
    return np.stack(levels)


def intersections(graphs: Graphs, labels: np.ndarray, *, share: bool) -> np.ndarray:
    """Σ over labels of min(how often graph i has it, how often graph j has it) [N, N].

    Parameters
    ----------
    graphs : Graphs
    labels : ndarray [S, L]
        Labels of the nodes, different ones in different columns.
    share : bool
        Whether to count with the share of the graph's nodes instead of their number. Computed with whole numbers up to
        one division: a graph intersects with its renumbering exactly as with itself.
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
    mine = np.zeros(n_labels)
    for i in range(n):
        for q in range(starts[i], starts[i + 1]):
            mine[labels[q]] = counts[q]
        for j in range(i, n):
            common = 0.0
            for q in range(starts[j], starts[j + 1]):
                common += min(mine[labels[q]] * sizes[j], counts[q] * sizes[i])
            result[i, j] = result[j, i] = common / (sizes[i] * sizes[j])
        for q in range(starts[i], starts[i + 1]):
            mine[labels[q]] = 0.0
    return result
