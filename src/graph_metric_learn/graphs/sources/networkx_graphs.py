"""Graphs of NetworkX: Graph, DiGraph, MultiGraph and MultiDiGraph, with any hashable nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .raw_graph import Names, RawGraph, as_numpy, checked_weights, first_text, labels_and_vectors


def read_networkx(graph: Any, name: str, names: Names) -> RawGraph:
    """One `networkx.Graph`; its target is read from `graph.graph["y"]`, what it is called from `graph.graph["name"]`.

    Names of columns of node and edge vectors are read from `graph.graph["node_columns"]` and `["edge_columns"]`.
    """
    place = {node: i for i, node in enumerate(graph.nodes)}
    ends = [(place[u], place[v]) for u, v in graph.edges()]
    edges = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    x = _node_attribute(graph, name, names.attribute)
    found = [values for key in names.labels if (values := _node_attribute(graph, name, key)) is not None]
    used = {names.attribute, *names.labels}
    raw = RawGraph(
        n=len(place),
        edges=edges,
        x=x,
        labels=found[0] if found else None,
        y=_target(as_numpy(graph.graph.get("y")), name),
        title=first_text(graph.graph.get("name")),
        columns=None if x is None else _column_names(graph, name, "node_columns"),
        orientation="directed" if graph.is_directed() else "undirected",
        unused=tuple(f"node attribute {key!r}" for key in _keys(graph.nodes(data=True)) if key not in used),
    )
    if not names.edges:
        return raw._replace(orientation="undirected")
    label, vector = names.edge_label or "edge_type", names.edge_attribute or "edge_attr"
    edge_used = {label, vector, names.edge_weight}
    labels, vectors = (_edge_attribute(graph, name, key) for key in (label, vector))
    if names.edge_attribute is None:
        labels, vectors = labels_and_vectors(labels, None if label == vector else vectors)
    return raw._replace(
        edge_labels=labels,
        edge_x=vectors,
        edge_columns=None if vectors is None else _column_names(graph, name, "edge_columns"),
        edge_weights=_edge_weights(graph, name, names.edge_weight),
        unused=raw.unused + tuple(f"edge attribute {key!r}" for key in _edge_keys(graph) if key not in edge_used),
    )


def _target(y: np.ndarray | None, name: str) -> Any:
    """The target of the graph: a number or a string, or a row of several."""
    if y is None or y.size == 1:
        return None if y is None else y.item()
    row = y[0] if y.ndim == 2 and y.shape[0] == 1 else y
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f'{name}: graph.graph["y"] has the shape {y.shape}, expected one target or a row of them')
    return row


def _column_names(graph: Any, name: str, key: str) -> tuple[str, ...] | None:
    found = graph.graph.get(key)
    if found is None:
        return None
    if not isinstance(found, (list, tuple)) or not all(isinstance(column, str) for column in found):
        raise ValueError(f"{name}: graph.graph[{key!r}] must be a list of strings, got {found!r}")
    return tuple(found)


def _keys(items: Any) -> list[str]:
    """Names of the attributes of some nodes, in the order in which they first occur."""
    found: dict[str, None] = {}
    for _, attributes in items:
        found |= dict.fromkeys(attributes)
    return list(found)


def _edge_keys(graph: Any) -> list[str]:
    return _keys((None, attributes) for *_, attributes in graph.edges(data=True))


def _node_attribute(graph: Any, name: str, attribute: str) -> np.ndarray | None:
    return _column(list(graph.nodes(data=attribute)), name, attribute, "node")


def _edge_attribute(graph: Any, name: str, attribute: str) -> np.ndarray | None:
    return _column([((u, v), value) for u, v, value in graph.edges(data=attribute)], name, attribute, "edge")


def _column(values: list[tuple[Any, Any]], name: str, attribute: str, what: str) -> np.ndarray | None:
    """An attribute of all nodes or edges [n, …]; None where nobody has it."""
    missing = [place for place, value in values if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise ValueError(f"{name}: {what} {missing[0]!r} has no attribute {attribute!r}, other {what}s have")
    arrays = [as_numpy(value) for _, value in values]
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
