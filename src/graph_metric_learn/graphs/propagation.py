"""Features mixed along the edges: the part of a graph convolution that has no parameter."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .collection import Graphs

PROPAGATIONS = ("symmetric", "sum")


def propagate(graphs: Graphs, depth: int, propagation: str = "symmetric") -> np.ndarray:
    """S = Ã^r X of all graphs [S, q], float32: each node's features mixed with those of its r-hop surroundings.

    Parameters
    ----------
    graphs : Graphs
        With features x [S, q].
    depth : int
        The number of hops r >= 0.
    propagation : {"symmetric", "sum"}
        Ã = D^-1/2 (A + I) D^-1/2 with D the degrees of A + I; or plain A + I.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> edge = as_graphs([(np.array([[0, 1], [1, 0]]), np.array([[1.0], [3.0]]))])
    >>> propagate(edge, 1, "sum").ravel(), propagate(edge, 1, "symmetric").ravel().round(3)
    (array([4., 4.], dtype=float32), array([2., 2.], dtype=float32))
    """
    if propagation not in PROPAGATIONS:
        raise ValueError(f"unknown propagation={propagation!r}: use one of {', '.join(map(repr, PROPAGATIONS))}")
    if depth != int(depth) or depth < 0:
        raise ValueError(f"depth must be a whole number >= 0, got {depth!r}")
    assert graphs.x is not None
    n = len(graphs.x)
    mixing = graphs.adjacency + sparse.identity(n, dtype=np.float32, format="csr")
    if propagation == "symmetric":
        root = sparse.diags_array((1.0 / np.sqrt(graphs.degrees + 1.0)).astype(np.float32))
        mixing = root @ mixing @ root
    mixed = graphs.x
    for _ in range(int(depth)):
        mixed = mixing @ mixed
    return np.ascontiguousarray(mixed, dtype=np.float32)
