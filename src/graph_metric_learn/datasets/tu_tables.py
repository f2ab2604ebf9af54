"""From the text files of a TU dataset to arrays that hold all graphs."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from .tu_files import Texts


@dataclass(frozen=True)
class Tables:
    """All graphs with at least 2 nodes, one after the other: G graphs, S nodes, E directed edges.

    Attributes
    ----------
    sizes : ndarray [G]
        Nodes of each graph.
    edge_index : ndarray [2, E]
        Both directions of every edge once, no self-loops; nodes are numbered from 0 within each graph.
    edge_counts : ndarray [G]
        Columns of `edge_index` of each graph.
    degrees : ndarray [S]
    labels : ndarray [S, L] or None
        Node labels.
    attributes : ndarray [S, d] or None
        Node attributes.
    y : ndarray [G]
        Classes.
    dropped : int
        How many graphs have fewer than 2 nodes.
    """

    sizes: np.ndarray
    edge_index: np.ndarray
    edge_counts: np.ndarray
    degrees: np.ndarray
    labels: np.ndarray | None
    attributes: np.ndarray | None
    y: np.ndarray
    dropped: int


def parse(name: str, texts: Texts) -> Tables:
    """The arrays of a dataset, or a `ValueError` that names the file and the line."""
    y = _table(name, texts, "graph_labels", columns=1)[:, 0]
    graph = _table(name, texts, "graph_indicator", columns=1)[:, 0] - 1
    edges = _table(name, texts, "A", columns=2) - 1
    labels = _table(name, texts, "node_labels") if "node_labels" in texts else None
    attributes = _table(name, texts, "node_attributes", dtype=np.float64) if "node_attributes" in texts else None
    n = len(graph)
    for kind, table in (("node_labels", labels), ("node_attributes", attributes)):
        if table is not None and len(table) != n:
            raise ValueError(
                f"{name}_{kind}.txt has {len(table)} lines for the {n} nodes of {name}_graph_indicator.txt"
            )
    _check_lines(name, "graph_indicator", (graph < 0) | (graph >= len(y)), f"names none of the {len(y)} graphs")
    _check_lines(name, "A", ((edges < 0) | (edges >= n)).any(axis=1), f"joins a node that is none of the {n} nodes")
    _check_lines(name, "A", (np.diff(graph[edges]) != 0).any(axis=1), "joins nodes of different graphs")

    sizes = np.bincount(graph, minlength=len(y))
    kept = sizes >= 2
    if not kept.any():
        raise ValueError(f"{name} has no graph with at least 2 nodes")
    # Nodes in the order of their graphs (most files have them so already), without those of graphs that are dropped.
    order = np.argsort(graph, kind="stable")
    order = order[kept[graph[order]]]
    number = np.zeros(n, dtype=np.int64)
    number[order] = np.arange(len(order))

    # Dropped graphs have no edges but self-loops, so no edge points to a dropped node.
    u, v = number[edges[edges[:, 0] != edges[:, 1]]].T
    both = np.unique(np.concatenate([u * n + v, v * n + u]))
    u, v = np.divmod(both, n)
    sizes = sizes[kept]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return Tables(
        sizes=sizes,
        edge_index=np.stack([u, v]) - starts[owner[u]],
        edge_counts=np.bincount(owner[u], minlength=len(sizes)),
        degrees=np.bincount(u, minlength=len(order)),
        labels=None if labels is None else labels[order],
        attributes=None if attributes is None else attributes[order],
        y=y[kept],
        dropped=int(np.sum(~kept)),
    )


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
