"""Which graphs are copies of each other, whatever the numbering of their nodes."""

from __future__ import annotations

import numpy as np

from .._core.hashing import ODD, mix
from ..graphs.collection import Graphs
from .block_kind import seen
from .tree_hashes import wl_hashes

_DEPTH = 3  # of the trees that are compared


def copy_groups(graphs: Graphs) -> np.ndarray:
    """The group of each graph [G], from 0, the same for copies.

    Copies have the same trees of depth 3 around their nodes, with the same labels, attributes and edges that carry the
    same, and the same vectors of whole graphs. Graphs that a Weisfeiler-Lehman test of that depth cannot tell apart
    count as copies, too, and so do molecules that differ in nothing but their stereochemistry.

    >>> from graph_metric_learn.graphs import as_graphs
    >>> import networkx as nx
    >>> copy_groups(as_graphs([nx.path_graph(3), nx.star_graph(2), nx.cycle_graph(3)])).tolist()
    [0, 0, 1]
    """
    _, first, groups = np.unique(graph_hashes(graphs), return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return order[groups.reshape(-1)]


def graph_hashes(graphs: Graphs) -> np.ndarray:
    """A 64-bit hash of each graph [G], the same for copies; whatever other graphs there are."""
    names = wl_hashes(seen(graphs, ("edges",)), _DEPTH)[-1]
    with np.errstate(over="ignore"):
        if graphs.x is not None:
            names = _with_values(names, graphs.x)
        total = _sums(mix(names ^ ODD), graphs.owner, len(graphs))
        data = graphs.edge_data
        if data is not None and (data.x is not None or data.weights is not None):
            tails, heads = (mix(names[ends] + ODD) for ends in data.ends)
            arcs = tails * ODD + heads
            for values in (data.x, None if data.weights is None else data.weights[:, None]):
                arcs = arcs if values is None else _with_values(arcs, values)
            total += mix(_sums(mix(arcs), graphs.owner[data.ends[0]], len(graphs)))
        if graphs.graph_x is not None:
            total = _with_values(total, graphs.graph_x)
        return mix(total) + graphs.sizes.astype(np.uint64)


def _with_values(names: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Hashes [S] of names [S] and rows of values [S, q], rounded to float32: the same in either precision."""
    rounded = values.astype(np.float32).astype(np.float64) + 0.0  # no minus zero
    for column in np.ascontiguousarray(rounded.T):
        names = mix(names * ODD + mix(column.view(np.uint64)))
    return names


def _sums(values: np.ndarray, owner: np.ndarray, count: int) -> np.ndarray:
    """Sums by graph [G], modulo 2^64."""
    total = np.zeros(count, dtype=np.uint64)
    np.add.at(total, owner, values)
    return total
