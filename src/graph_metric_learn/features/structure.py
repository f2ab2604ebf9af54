"""Block of local structure: degree, triangles and returns of random walks, which every node has."""

from __future__ import annotations

import numpy as np

from .._core.compiled import njit, share_of, shared
from ..graphs.collection import Graphs
from .base import SmoothBlock

UNEVEN = 8  # ratio of lengths from which halving beats stepping through both lists


class Structure(SmoothBlock):
    """Local structure; its columns have different units."""

    scaling = "apart"

    def start(self, graphs: Graphs) -> np.ndarray:
        return local_structure(graphs)

    def widths(self) -> tuple[int, ...]:
        return (5,)


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


@njit(inline="always")
def find(neighbors, low, high, wanted):
    """Where `wanted` stands, or would stand, in the ascending neighbors[low:high], by halving."""
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
            even = last - low < UNEVEN * (starts[short + 1] - starts[short])
            for b in range(starts[short], starts[short + 1]):
                k = neighbors[b]
                if even:  # both lists ascend: step through them together
                    while low < last and neighbors[low] < k:
                        low += 1
                else:
                    low = find(neighbors, low, last, k)
                if low < last and neighbors[low] == k:
                    triangles[i] += 0.5
                    returns[i] += chance[j] * chance[k]
