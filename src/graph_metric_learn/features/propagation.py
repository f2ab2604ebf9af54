"""Features mixed along the edges: the part of a graph convolution that has no parameter."""

from __future__ import annotations

import numpy as np

from .._core.compiled import njit
from ..graphs.collection import Graphs

PROPAGATIONS = ("symmetric", "sum")


def propagate(graphs: Graphs, depth: int, propagation: str = "symmetric") -> np.ndarray:
    """S = Ã^r X of all graphs [S, q], float32: each node's features mixed with those of its r-hop surroundings.

    Computed in float64 and rounded once: sums of float32 depend on the order of the neighbours, and a graph would not
    be at distance 0 from the same graph with its nodes renumbered.

    Parameters
    ----------
    graphs : Graphs
        With features x [S, q].
    depth : int
        The number of hops r >= 0.
    propagation : {"symmetric", "sum"}
        Ã = D^-1/2 (A + I) D^-1/2 with D the degrees of A + I; or plain A + I. Where edges have weights, A holds them
        (`Graphs.weights`), and D their absolute values, summed.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> edge = as_graphs([(np.array([[0, 1], [1, 0]]), np.array([[1.0], [3.0]]))])
    >>> propagate(edge, 1, "sum").ravel(), propagate(edge, 1, "symmetric").ravel().round(3)
    (array([4., 4.], dtype=float32), array([2., 2.], dtype=float32))
    """
    return _mixed(graphs, depth, propagation, first=depth)[0]


def hop_by_hop(graphs: Graphs, depth: int) -> np.ndarray:
    """X, Ã X, …, Ã^r X [r + 1, S, q], each as :func:`propagate` has it by default."""
    return _mixed(graphs, depth, "symmetric", first=0)


def _mixed(graphs: Graphs, depth: int, propagation: str, first: int) -> np.ndarray:
    """Ã^h X for h = first … depth."""
    if propagation not in PROPAGATIONS:
        raise ValueError(f"unknown propagation={propagation!r}: use one of {', '.join(map(repr, PROPAGATIONS))}")
    if depth != int(depth) or depth < 0:
        raise ValueError(f"depth must be a whole number >= 0, got {depth!r}")
    assert graphs.x is not None
    weights = graphs.weights
    degrees = graphs.degrees if weights is None else np.asarray(abs(weights).sum(1))
    root = np.ones(len(graphs.x)) if propagation == "sum" else 1.0 / np.sqrt(degrees + 1.0)
    result = np.empty((int(depth) + 1 - int(first), *graphs.x.shape), dtype=np.float32)
    room = np.empty((2, graphs.sizes.max(initial=0), graphs.x.shape[1]))
    edges = graphs.adjacency if weights is None else weights
    values = np.zeros(0) if weights is None else weights.data
    _mix(graphs.offsets, edges.indptr, edges.indices, values, root, graphs.x, int(depth), room, result)
    return result


@njit
def _mix(graphs, starts, neighbours, weights, root, x, depth, room, result):
    """Powers of diag(root) (A + I) diag(root) times x, graph by graph, so that all hops of a graph stay in the cache.

    Graph g has the nodes graphs[g] … graphs[g + 1], node i the neighbours starts[i] … starts[i + 1], with a weight
    each unless `weights` is empty. The last powers are kept, as many as `result` has place for.
    """
    before, after = room[0], room[1]
    q, skipped = x.shape[1], depth + 1 - len(result)
    for g in range(len(graphs) - 1):
        begin, end = graphs[g], graphs[g + 1]
        for i in range(begin, end):
            for c in range(q):
                before[i - begin, c] = x[i, c]
        for hop in range(depth + 1):
            if hop > 0:
                for i in range(begin, end):
                    for c in range(q):
                        after[i - begin, c] = root[i] * before[i - begin, c]
                    for e in range(starts[i], starts[i + 1]):
                        j = neighbours[e]
                        factor = weights[e] * root[j] if len(weights) > 0 else root[j]
                        for c in range(q):
                            after[i - begin, c] += factor * before[j - begin, c]
                    for c in range(q):
                        after[i - begin, c] *= root[i]
                before, after = after, before
            if hop >= skipped:
                for i in range(begin, end):
                    for c in range(q):
                        result[hop - skipped, i, c] = before[i - begin, c]
