"""From the text files of a TU dataset to arrays that hold all graphs."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs.arcs import UNKNOWN, Listed, combine
from .tu_files import Texts


@dataclass(frozen=True)
class Tables:
    """All graphs that are large enough, one after the other: G graphs, S nodes, E directed edges.

    Attributes
    ----------
    sizes : ndarray [G]
        Nodes of each graph.
    edge_index : ndarray [2, E]
        No self-loops; nodes are numbered from 0 within each graph. Undirected edges stand there in both directions.
    edge_counts : ndarray [G]
        Columns of `edge_index` of each graph.
    edge_labels : ndarray [E, L] or None
    edge_attributes : ndarray [E, d] or None
    listed_once : bool
        Whether no edge was listed in both directions; all of them count both ways then.
    degrees : ndarray [S]
        Neighbours of each node, in whatever direction.
    labels : ndarray [S, L] or None
        Node labels.
    attributes : ndarray [S, d] or None
        Node attributes.
    y : ndarray [G]
        Classes.
    rows : ndarray [G]
        Line of each graph in the file of classes, from 0.
    dropped : int
        How many graphs have too few nodes.
    """

    sizes: np.ndarray
    edge_index: np.ndarray
    edge_counts: np.ndarray
    edge_labels: np.ndarray | None
    edge_attributes: np.ndarray | None
    listed_once: bool
    degrees: np.ndarray
    labels: np.ndarray | None
    attributes: np.ndarray | None
    y: np.ndarray
    rows: np.ndarray
    dropped: int


def parse(name: str, texts: Texts, *, edge_data: bool = True, directed: Any = "auto", min_nodes: int = 1) -> Tables:
    """The arrays of a dataset, or a `ValueError` that names the file and the line.

    Parameters
    ----------
    name : str
        Of the dataset.
    texts : dict of bytes
        The files.
    edge_data : bool
        Whether to read labels, attributes and directions of edges.
    directed : {"auto", True, False}
        As `as_graphs` takes it.
    min_nodes : int
        Graphs with fewer nodes are left out.
    """
    y = _table(name, texts, "graph_labels", columns=1)[:, 0]
    graph = _table(name, texts, "graph_indicator", columns=1)[:, 0] - 1
    edges = _table(name, texts, "A", columns=2) - 1
    n, e = len(graph), len(edges)
    labels = _rows(name, texts, "node_labels", n)
    attributes = _rows(name, texts, "node_attributes", n)
    edge_labels = _rows(name, texts, "edge_labels", e) if edge_data else None
    edge_attributes = _rows(name, texts, "edge_attributes", e) if edge_data else None
    _check_lines(name, "graph_indicator", (graph < 0) | (graph >= len(y)), f"names none of the {len(y)} graphs")
    _check_lines(name, "A", ((edges < 0) | (edges >= n)).any(axis=1), f"joins a node that is none of the {n} nodes")
    _check_lines(name, "A", (np.diff(graph[edges]) != 0).any(axis=1), "joins nodes of different graphs")

    sizes = np.bincount(graph, minlength=len(y))
    kept = sizes >= max(min_nodes, 1)
    if not kept.any():
        raise ValueError(f"{name} has no graph with at least {max(min_nodes, 1)} nodes")
    # Nodes in the order of their graphs (most files have them so already), without those of graphs that are dropped.
    order = np.argsort(graph, kind="stable")
    order = order[kept[graph[order]]]
    number = np.zeros(n, dtype=np.int64)
    number[order] = np.arange(len(order))

    there = kept[graph[edges[:, 0]]]
    listed = Listed(
        number[edges[there]].T,
        np.full(int(there.sum()), UNKNOWN),
        None if edge_labels is None else edge_labels[there],
        None if edge_attributes is None else edge_attributes[there],
    )
    neighbours, data, listed_once = combine(listed, len(order), directed if edge_data else False)
    ends = neighbours if data is None else data.ends
    sizes = sizes[kept]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return Tables(
        sizes=sizes,
        edge_index=ends - starts[owner[ends[0]]],
        edge_counts=np.bincount(owner[ends[0]], minlength=len(sizes)),
        edge_labels=None if data is None else data.labels,
        edge_attributes=None if data is None else data.x,
        listed_once=listed_once,
        degrees=np.bincount(neighbours[0], minlength=len(order)),
        labels=None if labels is None else labels[order],
        attributes=None if attributes is None else attributes[order],
        y=y[kept],
        rows=np.flatnonzero(kept),
        dropped=int(np.sum(~kept)),
    )


def _rows(name: str, texts: Texts, kind: str, count: int) -> np.ndarray | None:
    """Labels or attributes of all nodes or all edges [count, columns]; None without such a file."""
    if kind not in texts:
        return None
    table = _table(name, texts, kind, dtype=np.float64 if kind.endswith("attributes") else np.int64)
    if len(table) != count:
        unit, file = ("nodes", "graph_indicator") if kind.startswith("node") else ("edges", "A")
        advice = ": load with edges=False to do without" if unit == "edges" else ""
        lines = f"{len(table)} lines for the {count} {unit}"
        raise ValueError(f"{name}_{kind}.txt has {lines} of {name}_{file}.txt{advice}")
    return table


def _table(name: str, texts: Texts, kind: str, *, columns: int | None = None, dtype: type = np.int64) -> np.ndarray:
    """The numbers of one file [lines, columns]."""
    file = f"{name}_{kind}.txt"
    if kind not in texts:
        why = ": without classes it is a dataset for regression" if kind == "graph_labels" else ""
        raise ValueError(f"{name} has no file {file}{why}")
    text = texts[kind].decode("utf-8-sig", errors="replace")
    if not text.strip():
        return np.empty((0, columns or 1), dtype)  # NumPy would warn; a dataset without edges is fine
    try:
        table: np.ndarray = np.loadtxt(io.StringIO(text), dtype=dtype, delimiter=",", comments=None, ndmin=2)
    except ValueError as error:
        numbers = "whole numbers" if dtype is np.int64 else "numbers"
        raise ValueError(f"{file} is not a table of {numbers}: {error}") from None
    if columns and table.shape[1] != columns:
        raise ValueError(f"{file} has {table.shape[1]} columns, expected {columns}")
    return table


def _check_lines(name: str, kind: str, bad: Any, complaint: str) -> None:
    """Raises ValueError for the first bad line of a file; bad: booleans [lines]."""
    if bad.any():
        raise ValueError(f"{name}_{kind}.txt, line {bad.argmax() + 1}, {complaint}")
