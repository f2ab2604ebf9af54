"""Blocks of structure: degrees, size, triangles and returns of random walks; the same by the weights of edges."""

from __future__ import annotations

import numpy as np

from .._core.compiled import njit, share_of, shared
from ..graphs.collection import Graphs
from .block_kind import SmoothBlock

_EXACT_DEGREES = 32  # larger degrees share geometric bins of ratio 1.25
_BINS = 48  # of larger degrees; they reach a million
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the weights around a node
_UNEVEN = 8  # ratio of lengths from which halving beats stepping through both lists


class Degree(SmoothBlock):
    """The degree, one-hot."""

    n_columns = _EXACT_DEGREES + _BINS

    def start(self, graphs: Graphs) -> np.ndarray:
        return degree_columns(graphs.degrees)


def degree_columns(degrees: np.ndarray) -> np.ndarray:
    """One column for each degree up to 32, then one for every quarter more; 60 columns reach 10^4 [S, columns].

    >>> degree_columns(np.array([0, 2, 33, 40, 41])).argmax(1)
    array([ 0,  2, 33, 33, 34])
    """
    large = _EXACT_DEGREES + np.ceil(np.log(np.maximum(degrees, 1) / _EXACT_DEGREES) / np.log(1.25))
    column = np.where(degrees <= _EXACT_DEGREES, degrees, large).astype(int)
    columns = np.zeros((len(degrees), _EXACT_DEGREES + _BINS), dtype=np.float32)
    columns[np.arange(len(degrees)), np.minimum(column, columns.shape[1] - 1)] = 1.0
    return columns


class Size(SmoothBlock):
    """How large the graph is: the same for all its nodes, so that only the mean of a cloud makes sense."""

    scaling = "apart"
    embeddings = ("mean",)
    n_columns = 2

    def start(self, graphs: Graphs) -> np.ndarray:
        return graph_size(graphs)


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


class Structure(SmoothBlock):
    """Local structure; its columns have different units."""

    scaling = "apart"
    n_columns = 5

    def start(self, graphs: Graphs) -> np.ndarray:
        return local_structure(graphs)


def local_structure(graphs: Graphs) -> np.ndarray:
    """Degree and triangles, as log(1 + count), clustering coefficient, returns after two and three steps [S, 5].

    The clustering coefficient is the share of pairs of neighbours that are adjacent; returns are the probabilities that
    a random walk is back where it started.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> triangle = as_graphs([(1 - np.eye(3), None)])
    >>> local_structure(triangle)[0].round(3)
    array([1.099, 0.693, 1.   , 0.5  , 0.25 ], dtype=float32)
    """
    near = graphs.adjacency
    near.sort_indices()
    degree = graphs.degrees
    chance = 1.0 / np.maximum(degree, 1)
    triangles, returns = np.zeros(len(degree)), np.zeros(len(degree))
    _count_triangles(near.indptr.astype(np.int64), near.indices.astype(np.int64), chance, triangles, returns)
    columns = [
        np.log1p(degree), np.log1p(triangles), 2 * triangles / np.maximum(degree * (degree - 1), 1),
        chance * (near @ chance), chance * returns,
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


class Strength(SmoothBlock):
    """How strongly a node is tied, and to whom; columns of different units."""

    scaling = "apart"
    needs_edges = True
    n_columns = 6 + len(_QUANTILES)

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return "weights of edges" if graphs.weights is None else None

    def start(self, graphs: Graphs) -> np.ndarray:
        if graphs.weights is None:
            raise ValueError("edges have no weights, those that were fitted had")
        return node_strength(graphs)


def node_strength(graphs: Graphs) -> np.ndarray:
    """Weights around each node, float32 [S, 11].

    Their sum (of absolute values, as a logarithm), mean, deviation and quantiles 0, ¼, ½, ¾, 1; the mean cube root of
    the product of weights in a triangle; and how likely a random walk that follows absolute weights is back after two
    and after three steps.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> triangle = as_graphs([(2.0 * (1 - np.eye(3)), None)])
    >>> node_strength(triangle)[0].round(3).tolist()[1:]
    [2.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.5, 0.25]
    """
    data = graphs.edge_data
    assert data is not None
    assert data.weights is not None
    nodes, tails, weights = int(graphs.sizes.sum()), data.ends[0], data.weights
    if data.directed:
        tails, weights = np.concatenate(data.ends), np.concatenate([weights, weights])
    total = np.bincount(tails, np.abs(weights), minlength=nodes)
    matrix = graphs.weights
    matrix.sort_indices()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    strength = np.asarray(abs(matrix).sum(1))
    inverse = 1.0 / np.where(strength > 0, strength, 1.0)
    size = np.abs(matrix.data)
    onward = size * inverse[indices]  # a step along an edge, chosen among those of the node it leads to
    roots, thrice = np.zeros(nodes), np.zeros(nodes)
    _around_triangles(indptr, indices, np.cbrt(matrix.data), size, onward, roots, thrice)
    twice = inverse * (matrix.power(2) @ inverse)
    thrice *= inverse
    degree = np.diff(indptr)
    scale = total / np.where(strength > 0, strength, 1.0)  # what `Graphs.weights` was divided by
    triangle = roots / np.maximum(degree * (degree - 1), 1) * scale
    columns = [np.log1p(total), *_distribution(tails, weights, nodes), triangle, twice, thrice]
    return np.stack(columns, axis=1).astype(np.float32)


def _distribution(tails: np.ndarray, weights: np.ndarray, nodes: int) -> list[np.ndarray]:
    """Mean, deviation and quantiles of the weights [A] of each node's arcs, which leave `tails` [A]; each [S]."""
    count = np.bincount(tails, minlength=nodes)
    mean = np.bincount(tails, weights, minlength=nodes) / np.maximum(count, 1)
    variance = np.bincount(tails, (weights - mean[tails]) ** 2, minlength=nodes) / np.maximum(count, 1)
    ascending = np.append(weights[np.lexsort([weights, tails])], 0.0)  # also where there is no arc at all
    first, last = np.cumsum(count) - count, np.maximum(count - 1, 0)
    quantiles = []
    for quantile in _QUANTILES:
        position = first + np.rint(quantile * last).astype(np.int64)
        quantiles.append(np.where(count > 0, ascending[np.minimum(position, len(weights))], 0.0))
    return [mean, np.sqrt(variance), *quantiles]


@njit(inline="always")
def seek(neighbors, low, high, wanted, step):
    """Where `wanted` stands, or would stand, in the ascending neighbors[low:high]: by steps, or else by halving."""
    if step:
        while low < high and neighbors[low] < wanted:
            low += 1
    else:
        while low < high:
            middle = (low + high) // 2
            if neighbors[middle] < wanted:
                low = middle + 1
            else:
                high = middle
    return low


@shared
def _count_triangles(part, parts, starts, neighbors, chance, triangles, returns):
    """Triangles at each node, and the sum of 1 / (d_j d_k) over ordered pairs (j, k) of adjacent neighbours.

    For each edge the shorter list of neighbours is looked up in the longer one, by halving where that is much longer: a
    hub costs no more than its edges.
    """
    for node in share_of(len(starts) - 1, part, parts):
        i = np.int64(node)
        for a in range(starts[i], starts[i + 1]):
            j = neighbors[a]
            short, long = (i, j) if starts[i + 1] - starts[i] <= starts[j + 1] - starts[j] else (j, i)
            low, last = starts[long], starts[long + 1]
            even = last - low < _UNEVEN * (starts[short + 1] - starts[short])
            for b in range(starts[short], starts[short + 1]):
                k = neighbors[b]
                low = seek(neighbors, low, last, k, even)
                if low < last and neighbors[low] == k:
                    triangles[i] += 0.5
                    returns[i] += chance[j] * chance[k]


@shared
def _around_triangles(part, parts, starts, neighbors, roots, size, onward, triangles, walks):
    """Sums over the triangles at each node, walked both ways: of products of roots, and of sizes of steps.

    As in `_count_triangles`, the shorter list of neighbours of an edge is looked up in the longer one.
    """
    for node in share_of(len(starts) - 1, part, parts):
        i = np.int64(node)
        for a in range(starts[i], starts[i + 1]):
            j = neighbors[a]
            own = starts[i + 1] - starts[i] <= starts[j + 1] - starts[j]
            short, long = (i, j) if own else (j, i)
            low, last = starts[long], starts[long + 1]
            even = last - low < _UNEVEN * (starts[short + 1] - starts[short])
            roots_here, walks_here = 0.0, 0.0
            for b in range(starts[short], starts[short + 1]):  # common neighbours k: i → j → k → i
                k = neighbors[b]
                low = seek(neighbors, low, last, k, even)
                if low < last and neighbors[low] == k:
                    from_i, from_j = (b, low) if own else (low, b)
                    roots_here += roots[from_i] * roots[from_j]
                    walks_here += size[from_j] * onward[from_i]  # weights are those of both directions
            triangles[i] += roots[a] * roots_here
            walks[i] += onward[a] * walks_here
