"""Graphs of PyTorch Geometric: `Data` with edge_index or adj_t, edge_attr, edge_weight, edge_type; or `PlainData`."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..graph_vectors import GRAPH_ATTRIBUTE, vector_of
from .raw_graph import (
    Names,
    RawGraph,
    as_numpy,
    attribute_names,
    check_size,
    checked_rows,
    checked_weights,
    first_text,
    labels_and_vectors,
    target_of,
)

# Neither features nor labels: the edges themselves, the target, and what batches keep.
_OTHER = {"edge_index", "adj_t", "adj", "y", "num_nodes", "batch", "ptr"}
_OF_GRAPH = ("u", "graph_attr")  # where vectors of whole graphs usually are
ATOM_STEREO, ATOM_COARSE = "atom_stereo", "atom_coarse"  # what `from_smiles` says of atoms beside their labels
DRAWING = "drawing"  # the attribute of `Data` that names the one that only says where to draw the nodes


class PlainData(SimpleNamespace):
    """The fields of a `torch_geometric.data.Data`, and nothing else; read as such.

    For programs that need no PyTorch Geometric, which is slow to import.

    >>> PlainData(num_nodes=2, name="ring").to_dict()
    {'num_nodes': 2, 'name': 'ring'}
    """

    num_nodes: int

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return dict(vars(self))


def read_data(data: Any, name: str, names: Names) -> RawGraph:
    """One `torch_geometric.data.Data`; what it is called is read from `Data.name`, else from `Data.smiles`."""
    stored = data.to_dict()
    x = as_numpy(stored.get(names.attribute))
    labels = next((as_numpy(stored[key]) for key in names.labels if stored.get(key) is not None), None)
    edges, values = _edges(stored, name)
    n = _count_nodes(stored.get("num_nodes") or (len(x) if x is not None else data.num_nodes or 0), name)
    check_size(n, edges.size + (0 if x is None else len(x)), name)
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"{name} has an edge to node {edges.max()}, but only {n} nodes")
    y, title = target_of(as_numpy(stored.get("y"))), first_text(stored.get("name"), stored.get("smiles"))
    vector, found = vector_of(stored, name, names)
    raw = RawGraph(n, edges.astype(np.int64, copy=False), x, labels, y, title=title, vector=vector, vector_names=found)
    raw = raw._replace(stereo=_codes(stored, ATOM_STEREO, n), coarse=_codes(stored, ATOM_COARSE, n))
    if names.edges:
        raw = _with_edge_data(raw, stored, values, name, names)
    return raw._replace(unused=tuple(_unused(stored, raw, names)))


def _codes(stored: dict[str, Any], key: str, n: int) -> np.ndarray | None:
    """Codes of nodes [n], uint8; None where there are none."""
    codes = as_numpy(stored.get(key))
    return codes if codes is not None and codes.dtype == np.uint8 and codes.shape == (n,) else None


def _count_nodes(value: Any, name: str) -> int:
    """The number of nodes, as it was given."""
    try:
        n = int(value)
    except (TypeError, ValueError):
        n = -1
    if n < 0 or n != value:
        raise ValueError(f"{name} has num_nodes={value!r}, expected a whole number")
    return n


def _with_edge_data(raw: RawGraph, stored: dict[str, Any], values: Any, name: str, names: Names) -> RawGraph:
    """The graph with what its edges carry, given the values of a sparse adjacency, if there is one."""
    count = raw.edges.shape[1]
    label_key, vector_key = names.edge_label or "edge_type", names.edge_attribute or "edge_attr"
    labels, vectors = as_numpy(stored.get(label_key)), as_numpy(stored.get(vector_key))
    if vectors is None and values is not None and values.ndim == 2:
        vectors = values
    if names.edge_attribute is None:
        labels, vectors = labels_and_vectors(labels, None if label_key == vector_key else vectors)
    weight_key = _weight_key(stored, count, names.edge_weight)
    weights = as_numpy(stored.get(weight_key)) if weight_key else None
    if weights is None and weight_key and values is not None and values.ndim == 1:
        weights = values
    labels, vectors = checked_rows(labels, count, name, "edge labels"), checked_rows(vectors, count, name, vector_key)
    weights = None if weights is None else checked_weights(weights, count, name)
    return raw._replace(edge_labels=labels, edge_x=vectors, edge_weights=weights)


def _weight_key(stored: dict[str, Any], count: int, name: str | None) -> str | None:
    """Where weights are: "weight", which is what `from_networkx` calls them, stands for the usual name too."""
    if name != "weight" or stored.get("edge_weight") is not None:
        return "edge_weight" if name == "weight" else name
    there = as_numpy(stored.get("weight"))
    return "weight" if there is not None and there.size == count else "edge_weight"


def _unused(stored: dict[str, Any], raw: RawGraph, names: Names) -> Iterator[str]:
    """What nodes, edges and the whole graph carry and nobody named, in words."""
    used = {names.attribute, *names.labels, names.edge_label or "edge_type", names.edge_attribute or "edge_attr"}
    used |= {"edge_weight", "weight"} if names.edge_weight in ("weight", None) else {names.edge_weight}
    used |= {ATOM_STEREO} if raw.stereo is not None else set()
    used |= {ATOM_COARSE} if raw.coarse is not None else set()
    used |= {*attribute_names("graph_attribute", names.graph_attribute or stored.get(GRAPH_ATTRIBUTE))}
    passed_over = {*_OTHER, *used, first_text(stored.get(DRAWING))}
    count = raw.edges.shape[1]
    if raw.y is None and stored.get("y") is not None:
        yield "y with several rows, which is read as that of nodes: one target per graph is [1] or [1, T]"
    for key, value in stored.items():
        if key not in passed_over and getattr(value, "ndim", 0) in (1, 2):
            if key in _OF_GRAPH or _is_row(value, raw.n):
                yield f"graph attribute {key!r}"
            elif len(value) == count and (count != raw.n or "edge" in key):
                if names.edges:
                    yield f"edge attribute {key!r}"
            elif len(value) == raw.n:
                yield f"node attribute {key!r}"


def _is_row(value: Any, nodes: int) -> bool:
    """Whether a value is one row of numbers [1, q], which cannot be that of a single node."""
    return value.ndim == 2 and len(value) == 1 and nodes != 1 and as_numpy(value).dtype.kind == "f"


def _edges(stored: dict[str, Any], name: str) -> tuple[np.ndarray, Any]:
    """Edges [2, e] and, where they are in a sparse matrix, its values."""
    edges = stored.get("edge_index")
    if edges is not None:
        edges = as_numpy(edges)
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ValueError(f"{name} has an edge_index of shape {edges.shape}, expected (2, number of edges)")
        if edges.dtype.kind not in "iuf" or (edges.dtype.kind == "f" and not (edges == np.floor(edges)).all()):
            raise ValueError(f"{name} has an edge_index that is not whole numbers, but {edges.dtype}")
        return edges, None
    for key in ("adj_t", "adj"):
        if stored.get(key) is not None:
            rows, columns, values = _sparse_entries(stored[key], name)
            return np.stack([columns, rows] if key == "adj_t" else [rows, columns]), values  # adj_t is transposed
    return np.empty((2, 0), dtype=np.int64), None


def _sparse_entries(matrix: Any, name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """Rows, columns and values (None: all 1) of a `SparseTensor` of torch_sparse or of a sparse tensor of torch."""
    if hasattr(matrix, "coo"):  # SparseTensor
        rows, columns, values = (as_numpy(part) for part in matrix.coo())
        return rows, columns, values
    if hasattr(matrix, "to_sparse_coo"):
        entries = matrix.to_sparse_coo().coalesce()
        rows, columns = as_numpy(entries.indices())
        values = as_numpy(entries.values())
        return rows, columns, None if values.ndim == 1 and (values == 1).all() else values
    raise ValueError(f"{name} has an adjacency of type {type(matrix).__name__}: give edge_index instead")
