"""Graphs in JSON, uploaded or in a file: who checks them, and how their attributes become vectors and labels.

The format is the node-link format of NetworkX. GraphML becomes the same graphs of NetworkX, and goes through the same
checks of its attributes.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# Under which names `as_graphs` looks for vectors and labels of nodes and edges.
_VECTORS, _LABELS = {"node": "x", "edge": "edge_attr"}, {"node": "node_labels", "edge": "edge_type"}
_WEIGHT = "weight"
_LARGEST_BITS = 1000  # of whole numbers in files: what float64 can hold


def graphs_from_node_link(contents: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Graphs of NetworkX from what JSON in node-link format holds, read as :func:`load_folder` reads files so named.

    >>> square = {"nodes": [{"id": i, "mass": i / 2} for i in range(4)], "edges": [{"source": 0, "target": 1}]}
    >>> graph, = graphs_from_node_link([square], ["square"])
    >>> graph.nodes[3], graph.graph["node_columns"]
    ({'x': [1.5]}, ['mass'])
    """
    graphs = []
    for content, name in zip(contents, names, strict=True):
        try:
            graph = graph_from_node_link(copy.deepcopy(content))
        except Exception as error:  # NetworkX raises many types
            raise ValueError(f"cannot read {name}: {error}") from None
        graphs.append((Path(f"{name}.json"), check_has_nodes(graph, name)))
    return with_vectors(graphs)


def graph_from_node_link(content: Any) -> Any:
    """A graph of any kind of NetworkX, or a `ValueError` that says what is wrong with the content of the JSON."""
    import networkx as nx

    links = [key for key in ("links", "edges") if isinstance(content, dict) and key in content]
    if not links or "nodes" not in content:
        raise ValueError('expected the node-link format of NetworkX, with the keys "nodes" and "links" or "edges"')
    if not isinstance(content.get("graph", {}), dict):
        raise ValueError(f'"graph" must be an object, got {content["graph"]!r}')  # noqa: TRY004
    graph = nx.node_link_graph(content, edges=links[0])
    if len(graph) != len(content["nodes"]):
        raise ValueError("edges name nodes that are not listed, or a node is listed twice")
    return check_attributes(graph)


def check_has_nodes(graph: Any, name: str) -> Any:
    """The graph, or a ValueError that names it if it has no nodes."""
    count = graph.num_nodes if hasattr(graph, "num_nodes") else graph.number_of_nodes()
    if count == 0:
        raise ValueError(f"{name} has no nodes: drop it or give it one")
    return graph


def name_of(path: Path) -> str:
    """What the graph in a file is called, as text: bytes that are no UTF-8 are written out.

    >>> print(name_of(Path("caf\\udce9.json")))  # caf, and the byte e9
    caf\\udce9
    """
    return path.stem.encode("utf-8", "backslashreplace").decode()


def check_attributes(graph: Any) -> Any:
    """The graph; a ValueError where a whole number of a node or edge is too large for any arithmetic."""
    for what, items in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
        for *_, attributes in items:
            for name, value in attributes.items():
                for entry in value if isinstance(value, list) else [value]:
                    if isinstance(entry, int) and entry.bit_length() > _LARGEST_BITS:
                        raise ValueError(f"{what} attribute {name!r} is a number of hundreds of digits")
    return graph


def with_vectors(read: Iterable[tuple[Path, Any]]) -> list[Any]:
    """Graphs, given with their files, with their attributes put into vectors and labels.

    Those of NetworkX must all have attributes of the same names, or a ValueError names two files that differ.
    """
    graphs = []
    first: dict[str, tuple[Path, list[str]]] = {}
    for path, graph in read:
        graph.name = name_of(path)
        graphs.append(graph)
        if path.suffix.lower() not in (".graphml", ".json"):
            continue
        for what, items in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
            graph.graph.pop(f"{what}_columns", None)  # what a file itself says under this name
            if len(items):
                columns, labelled = _gather([attributes for *_, attributes in items], what, path)
                if columns:
                    graph.graph[f"{what}_columns"] = columns
                names = columns + ["label"] * labelled
                _check_same_names(names, what, path, *first.setdefault(what, (path, names)))
    return graphs


def _check_same_names(names: list[str], what: str, path: Path, other: Path, others: list[str]) -> None:
    for without, having, missing in ((path, other, set(others) - set(names)), (other, path, set(names) - set(others))):
        if missing:
            lacks = f"{without.name} has no {what} attribute {min(missing)!r}"
            raise ValueError(f"{lacks}, {having.name} has: give all files the same attributes")


def _gather(items: list[dict[str, Any]], what: str, path: Path) -> tuple[list[str], bool]:
    """Puts the numbers of each node or edge into one vector, and its label where `as_graphs` looks for it.

    Text that is no label stays as it is. Returns the names of the numbers, and whether there are labels, which is the
    same on every item.
    """
    vector_key, label_key = _VECTORS[what], _LABELS[what]
    rows: list[dict[tuple[str, int], float]] = []
    labels: list[Any] = []
    for attributes in items:
        row: dict[tuple[str, int], float] = {}
        label = attributes.pop(label_key, None)
        if label is None and isinstance(attributes.get("label"), str):
            label = attributes.pop("label")
        if label is not None:
            labels.append(label)
        for name in list(attributes):
            if not (what == "edge" and name == _WEIGHT):
                row |= {(name, i): value for i, value in _numbers_in(attributes[name])}
            if attributes[name] is None or (what == "edge" and name == "id") or (name, 0) in row:
                del attributes[name]
        rows.append(row)
    counts = Counter(column for row in rows for column in row)
    if labels:
        counts["label", 0] = len(labels)
    incomplete = [name for (name, _), count in counts.items() if count != len(items)]
    if incomplete:
        raise ValueError(f"{path.name}: attribute {incomplete[0]!r} is missing on some {what}s")
    columns = sorted(rows[0])
    for i, attributes in enumerate(items):
        if columns:
            attributes[vector_key] = [rows[i][column] for column in columns]
        if labels:
            attributes[label_key] = labels[i]
    wide = Counter(name for name, _ in columns)
    return [name if wide[name] == 1 else f"{name}[{i}]" for name, i in columns], bool(labels)


def _numbers_in(value: Any) -> list[tuple[int, float]]:
    """A number, or a list of numbers, as (place, number); nothing where it is something else."""
    values = value if isinstance(value, list) else [value]
    return [(i, float(v)) for i, v in enumerate(values)] if all(isinstance(v, (int, float)) for v in values) else []
