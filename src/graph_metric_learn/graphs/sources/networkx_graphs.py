"""Graphs of NetworkX: Graph, DiGraph, MultiGraph and MultiDiGraph, with any hashable nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..graph_vectors import GRAPH_ATTRIBUTE, GRAPH_COLUMNS, vector_of
from .raw_graph import (
    Names,
    RawGraph,
    as_numpy,
    attribute_names,
    checked_weights,
    first_text,
    labels_and_vectors,
    target_of,
)

# What a graph says of itself that is no vector.
_OF_GRAPH = {"y", "name", "node_columns", "edge_columns", GRAPH_ATTRIBUTE, GRAPH_COLUMNS}


def read_networkx(graph: Any, name: str, names: Names) -> RawGraph:
    """One `networkx.Graph`; its target is read from `graph.graph["y"]`, what it is called from `graph.graph["name"]`.

    Names of columns of node and edge vectors are read from `graph.graph["node_columns"]` and `["edge_columns"]`, and
    vectors of the whole graph from `graph.graph`, too.
    """
    row_of = {node: i for i, node in enumerate(graph.nodes)}
    edges = np.array([(row_of[u], row_of[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2).T
    x = _attribute(graph, name, names.attribute, "node")
    label_arrays = [values for key in names.labels if (values := _attribute(graph, name, key, "node")) is not None]
    labels = label_arrays[0] if label_arrays else None
    y, title = _target(as_numpy(graph.graph.get("y")), name), first_text(graph.graph.get("name"))
    columns = None if x is None else _column_names(graph, name, "node_columns")
    vector, found = vector_of(graph.graph, name, names)
    unused = _unused("node", graph.nodes(data=True), {names.attribute, *names.labels})
    unused += tuple(_unused_of_graph(graph.graph, names))
    raw = RawGraph(
        len(row_of), edges, x, labels, y, orientation="undirected", unused=unused, title=title, columns=columns,
        vector=vector, vector_names=found,
    )  # fmt: skip
    if not names.edges:
        return raw
    label, vectors_key = names.edge_label or "edge_type", names.edge_attribute or "edge_attr"
    labels, vectors = (_attribute(graph, name, key, "edge") for key in (label, vectors_key))
    if names.edge_attribute is None:
        labels, vectors = labels_and_vectors(labels, None if label == vectors_key else vectors)
    return raw._replace(
        orientation="directed" if graph.is_directed() else "undirected",
        edge_labels=labels,
        edge_x=vectors,
        edge_columns=None if vectors is None else _column_names(graph, name, "edge_columns"),
        edge_weights=_edge_weights(graph, name, names.edge_weight),
        unused=unused + _unused("edge", graph.edges(data=True), {label, vectors_key, names.edge_weight}),
    )


def _target(y: np.ndarray | None, name: str) -> Any:
    """The target of the graph, a number, a string or a row of several, or a `ValueError`."""
    target = target_of(y.reshape(1, -1) if y is not None and y.ndim == 1 else y)
    if target is None and y is not None:
        raise ValueError(f'{name}: graph.graph["y"] has the shape {y.shape}, expected one target or a row of them')
    return target


def _column_names(graph: Any, name: str, key: str) -> tuple[str, ...] | None:
    columns = graph.graph.get(key)
    if columns is None:
        return None
    if not isinstance(columns, (list, tuple)) or not all(isinstance(column, str) for column in columns):
        raise ValueError(f"{name}: graph.graph[{key!r}] must be a list of strings, got {columns!r}")
    return tuple(columns)


def _unused(what: str, items: Iterable[tuple[Any, ...]], used: set[str | None]) -> tuple[str, ...]:
    """Attributes of nodes or edges that nobody named, in words, in the order in which they first occur."""
    keys = dict.fromkeys(key for *_, attributes in items for key in attributes)
    return tuple(f"{what} attribute {key!r}" for key in keys if key not in used)


def _unused_of_graph(attributes: dict[str, Any], names: Names) -> Iterator[str]:
    """Numbers that the graph as a whole carries and nobody named, in words."""
    used = {*_OF_GRAPH, *attribute_names("graph_attribute", names.graph_attribute or attributes.get(GRAPH_ATTRIBUTE))}
    for key, value in attributes.items():
        if key not in used and isinstance(value, (int, float, list, tuple, np.ndarray)):
            array = np.asarray(value, dtype=object)
            if array.size and all(isinstance(one, (int, float, np.number)) for one in array.reshape(-1)):
                yield f"graph attribute {key!r}"


def _attribute(graph: Any, name: str, attribute: str, what: str) -> np.ndarray | None:
    """An attribute of all nodes or edges [n, …]; None where nobody has it."""
    pairs = list(graph.nodes(data=attribute))
    if what == "edge":
        pairs = [((u, v), value) for u, v, value in graph.edges(data=attribute)]
    missing = [item for item, value in pairs if value is None]
    if len(missing) == len(pairs):
        return None
    if missing:
        raise ValueError(f"{name}: {what} {missing[0]!r} has no attribute {attribute!r}, other {what}s have")
    arrays = [as_numpy(value) for _, value in pairs]
    if len({array.dtype.kind in "US" for array in arrays}) == 2:
        raise ValueError(f"{name}: attribute {attribute!r} mixes strings and numbers: 1 and '1' would be the same")
    try:
        return np.array([array[()] for array in arrays])
    except ValueError:
        raise ValueError(f"{name}: attribute {attribute!r} has different lengths on different {what}s") from None


def _edge_weights(graph: Any, name: str, attribute: str | None) -> np.ndarray | None:
    """Weights, 1 where an edge has none, as NetworkX counts them; None where no edge has one."""
    if attribute is None:
        return None
    values = [value for _, _, value in graph.edges(data=attribute)]
    if all(value is None for value in values):
        return None
    return checked_weights([1.0 if value is None else value for value in values], len(values), name)
