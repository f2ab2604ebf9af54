"""What edit operations cost, and graphs in the form that edit distances are computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..graphs import Graphs


@dataclass(frozen=True)
class EditCosts:
    """What each edit operation costs; the edit distance is the least sum that makes one graph of another.

    Attributes
    ----------
    node, edge : float
        To insert one, or to delete one. A node is deleted after its edges.
    node_label, edge_label : float
        To change the labels of a node or edge. Vectors that are a one-hot code for all nodes, or edges, are labels.
    node_vector, edge_vector, edge_weight : float
        To change vectors or weights by a Euclidean distance of 1. An edge without a weight weighs 1.

    Notes
    -----
    It never costs more to change an edge than to delete it and insert another. What costs 0 does not count. The
    direction of an edge cannot be changed: where edges are directed, it is deleted and inserted.
    """

    node: float = 1.0
    edge: float = 1.0
    node_label: float = 1.0
    edge_label: float = 1.0
    node_vector: float = 1.0
    edge_vector: float = 1.0
    edge_weight: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not number or not 0 <= value < np.inf:
                raise ValueError(f"the cost {field.name} must be a finite number >= 0, got {value!r}")
            object.__setattr__(self, field.name, float(value))

    def nodes(self, graph: EditGraph, other: EditGraph) -> np.ndarray:
        """What it costs to turn each node of a graph into each of another [n, m]."""
        costs = self.node_label * (graph.labels[:, None] != other.labels)
        return costs + self.node_vector * cdist(graph.x, other.x) if graph.x.shape[1] else costs

    def edges(self, graph: EditGraph, other: EditGraph) -> np.ndarray:
        """What it costs to turn each edge of a graph into each of another [e, f]."""
        costs = self.edge_label * (graph.edge_labels[:, None] != other.edge_labels)
        costs = costs + self.edge_weight * np.abs(graph.weights[:, None] - other.weights)
        return costs + self.edge_vector * cdist(graph.edge_x, other.edge_x) if graph.edge_x.shape[1] else costs

    def step(self, graph: EditGraph, other: EditGraph) -> float:
        """A number of which all sums of costs are multiples, 1 or 0: the latter where it is not known."""
        amounts = [self.node, self.edge, self.node_label, self.edge_label]
        numbers = any(one.x.size or one.edge_x.size or (one.weights != 1).any() for one in (graph, other))
        return 1.0 if not numbers and all(amount.is_integer() for amount in amounts) else 0.0


@dataclass(frozen=True)
class EditGraph:
    """One graph with n nodes and e edges, each of which stands there once.

    Attributes
    ----------
    labels : ndarray [n]
        Codes, the same for the same labels in all graphs that were read together.
    x : ndarray [n, q]
    ends : ndarray [2, e]
        Tail and head.
    edge_labels, edge_x, weights : ndarrays [e], [e, r], [e]
    directed : bool
    digest : str
        The same for graphs that came with the same nodes and edges, in the same order.
    """

    labels: np.ndarray
    x: np.ndarray
    ends: np.ndarray
    edge_labels: np.ndarray
    edge_x: np.ndarray
    weights: np.ndarray
    directed: bool
    digest: str

    @property
    def n(self) -> int:
        """How many nodes there are."""
        return len(self.labels)


def edit_graphs(graphs: Graphs) -> Iterator[EditGraph]:
    """Each graph of a collection."""
    ends, edge_labels, edge_x, weights, directed = _edges_once(graphs)
    labels, x = _kinds_and_numbers(graphs.labels, graphs.x, len(graphs.owner))
    kinds, numbers = _kinds_and_numbers(edge_labels, edge_x, ends.shape[1])
    codes, edge_codes = _codes(labels), _codes(kinds)
    starts = np.searchsorted(graphs.owner[ends[0]], np.arange(len(graphs) + 1))
    for i, (first, last) in enumerate(zip(graphs.offsets[:-1], graphs.offsets[1:], strict=True)):
        nodes, edges = slice(first, last), slice(starts[i], starts[i + 1])
        own = (ends[:, edges] - first, weights[edges], x[nodes], numbers[edges], labels[nodes], kinds[edges])
        yield EditGraph(
            codes[nodes], x[nodes], own[0], edge_codes[edges], numbers[edges], weights[edges], directed,
            _digest(directed, *own),
        )  # fmt: skip


def _edges_once(graphs: Graphs) -> tuple[np.ndarray, Any, Any, np.ndarray, bool]:
    """Ends [2, E], labels, vectors and weights of edges, each of them once; and whether they are directed."""
    data = graphs.edge_data
    if data is None:
        ends = graphs.edges[:, graphs.edges[0] < graphs.edges[1]]
        ends = ends[:, np.argsort(graphs.owner[ends[0]], kind="stable")]
        return ends, None, None, np.ones(ends.shape[1]), False
    once = np.ones(data.ends.shape[1], dtype=bool) if data.directed else data.ends[0] < data.ends[1]
    labels, x = (None if part is None else part[once] for part in (data.labels, data.x))
    weights = np.ones(int(once.sum())) if data.weights is None else data.weights[once]
    return data.ends[:, once], labels, x, weights, data.directed


def _kinds_and_numbers(labels: Any, x: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels [count, L] and vectors [count, q] without missing ones; a one-hot code is one more column of labels."""
    kinds = np.zeros((count, 0), dtype=str) if labels is None else labels.astype(str)
    numbers = np.zeros((count, 0)) if x is None else x.astype(np.float64)
    if numbers.shape[1] > 1 and ((numbers == 0) | (numbers == 1)).all() and (numbers.sum(1) == 1).all():
        return np.concatenate([kinds, numbers.argmax(1)[:, None].astype(str)], axis=1), np.zeros((count, 0))
    return kinds, numbers


def _codes(labels: np.ndarray) -> np.ndarray:
    """Whole numbers [count], the same for the same rows of labels [count, L]."""
    if not labels.size:
        return np.zeros(len(labels), dtype=np.int64)
    return np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)


def _digest(directed: bool, *arrays: np.ndarray) -> str:
    """128 bits, in hexadecimal digits, of all that a graph consists of."""
    digest = hashlib.blake2b(b"directed" if directed else b"undirected", digest_size=16)
    for array in arrays:
        content = repr(array.tolist()).encode() if array.dtype.kind == "U" else np.ascontiguousarray(array).tobytes()
        digest.update(f"{array.shape} {array.dtype.kind} {len(content)} ".encode() + content)
    return digest.hexdigest()
