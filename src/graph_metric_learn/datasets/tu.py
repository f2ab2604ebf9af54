"""The TU collection of benchmark graphs: its text files read and checked, and made into a dataset with features."""

from __future__ import annotations

import io
import os
import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from .._core.ragged import offsets
from .._core.validation import whole_number
from ..graphs.arcs import UNKNOWN, Listed, combine
from ..graphs.convert import check_edge_options
from .graph_dataset import GraphDataset, build_graphs
from .tu_files import Texts, read_files

FEATURES = ("auto", "labels", "attributes", "degree", "fuse", None)
LARGEST_FEATURES = 8 * 2**30  # bytes; wide one-hot codes of a large dataset would otherwise run out of memory


def load_tu(
    name: str,
    features: str | None = "auto",
    root: str | os.PathLike[str] | None = None,
    *,
    edges: Any = "auto",
    directed: Any = "auto",
    min_nodes: int = 1,
    download: bool = True,
    progress: bool | None = None,
) -> GraphDataset:
    r"""Loads a dataset of the TU collection [1]_ with node features and with what edges carry.

    Looks for NAME.zip or a folder NAME/ in `root`, then in the folder that the environment variable
    GRAPH_METRIC_LEARN_DATA names, then in the cache (~/.cache/graph-metric-learn/datasets). What is in none of them is
    downloaded into the cache.

    Parameters
    ----------
    name : str
        As the collection spells it: "MUTAG", "IMDB-BINARY", "Cuneiform", … (https://chrsmrrs.github.io/datasets).
    features : {"auto", "labels", "attributes", "degree", "fuse"} or None
        What `Data.x` is made of; ranges, means and variances are those of the whole dataset:

        - "labels": one-hot codes of width (largest label + 1). The codes of several label columns are concatenated. If
          labels are negative, the codes start at the smallest one.
        - "attributes": each column shifted and scaled to mean 0 and variance 1 over all nodes; a constant column
          becomes 0.
        - "degree": one-hot codes of width (largest degree), degree d at index d − 1; a row of zeros for an isolated
          node.
        - "fuse": attributes, then labels.
        - "auto": "fuse" if the dataset has both, else "attributes", else "labels", else "degree".
        - None: the attributes as they are in the file, not standardised; no `Data.x` where there are none.
    root : path, optional
        Folder that holds NAME.zip or NAME/.
    edges : {"auto", False}
        False reads edges that are there or not, both ways, as the paper does; "auto" also their labels, attributes and
        directions.
    directed : {"auto", True, False}
        Whether edges have a direction. "auto": if some of them, but not all, have their reverse with the same labels
        and attributes. If every edge is listed once, it counts both ways, with a warning.
    min_nodes : int
        Graphs with fewer nodes are left out, before features are computed; the paper leaves out those with a single
        node. Some files name graphs that have no node at all: these are always left out.
    download : bool
        Whether to download what is not on disk.
    progress : bool, optional
        Whether to show the progress of a download; by default on a terminal.

    Returns
    -------
    GraphDataset
        Each `Data` has `x` float32 [n, q]; `node_labels` int64 [n], or [n, L] where the file has L columns, if the
        dataset has any; `edge_index` int64 [2, E] without self-loops, with both directions of every edge, unless edges
        are directed; where the dataset has them, `edge_type` int64 [E] or [E, L], the labels of edges, and `edge_attr`
        float32 [E, d], their attributes as they are in the file; `y` int64 [1], the class as the file writes it; `u`
        float64 [1, d], the attributes of the whole graph, if the dataset has any: metrics read them where they are
        named, by graph_attribute="u", since in some datasets they are the targets.
        Isolated nodes count. An edge without labels and attributes that is listed several times counts once.
        Attributes are float64 where a column's mean is so large against its deviation that float32 would blur it.

    References
    ----------
    .. [1] C. Morris, N. Kriege, F. Bause, K. Kersting, P. Mutzel, M. Neumann. TUDataset: A collection of benchmark
       datasets for learning with graphs. GRL+ workshop, ICML 2020.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> place = tempfile.TemporaryDirectory()
    >>> folder = Path(place.name) / "TOY"
    >>> folder.mkdir()
    >>> files = {"A": "1, 2\n2, 1\n3, 4", "graph_indicator": "1\n1\n2\n2\n2", "graph_labels": "1\n-1"}
    >>> for what, text in files.items():
    ...     _ = (folder / f"TOY_{what}.txt").write_text(text)
    >>> dataset = load_tu("TOY", features="degree", root=place.name, directed=False)
    >>> place.cleanup()
    >>> dataset
    GraphDataset(TOY: 2 graphs, 2 classes, on average 2.5 nodes and 1.0 edges, 1-dimensional features)
    >>> dataset.graphs[1].x.tolist()
    [[1.0], [1.0], [0.0]]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError(f"{name!r} is not the name of a dataset: names are letters, digits, '_', '.' and '-'")
    if features not in FEATURES:
        raise ValueError(f"unknown features {features!r}: choose one of {', '.join(map(repr, FEATURES))}")
    check_edge_options(edges, directed)
    whole_number("min_nodes", min_nodes, 1)
    texts = read_files(name, root, download=download, progress=progress)
    tables = parse(name, texts, edge_data=edges == "auto", directed=directed, min_nodes=min_nodes)
    if tables.listed_once and edges == directed == "auto":
        warnings.warn(
            f"{name}_A.txt lists every edge in one direction only, and it is read as undirected: pass directed=True if "
            "the direction means something, directed=False to say that it does not",
            stacklevel=2,
        )
    node_arrays = {"x": _features(name, tables, features), "node_labels": _narrow(tables.labels)}
    edge_arrays = {"edge_type": _narrow(tables.edge_labels), "edge_attr": _as_floats(tables.edge_attributes)}
    graphs = build_graphs(
        tables.sizes, tables.edge_index, tables.edge_counts, tables.y, edge_arrays, {"u": tables.graph_attributes},
        **node_arrays,
    )  # fmt: skip
    return GraphDataset(graphs, tables.y, name, tables.dropped, tables.rows)


def _narrow(labels: np.ndarray | None) -> np.ndarray | None:
    """A single column [S, 1] as [S]; several stay [S, L]."""
    return labels[:, 0] if labels is not None and labels.shape[1] == 1 else labels


def _as_floats(columns: np.ndarray | None) -> np.ndarray | None:
    """Numbers [S, d] as float32, or as float64 if rounding would blur a column: by more than 1e-4 of its deviation."""
    if columns is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        single = columns.astype(np.float32)
        blurred = np.abs(single - columns).max(axis=0, initial=0.0) > 1e-4 * columns.std(axis=0)
        varies = np.ptp(columns, axis=0) > 0 if len(columns) else False
    return columns if (blurred & varies).any() else single


def _features(name: str, tables: Tables, features: str | None) -> np.ndarray | None:
    """Node features float32 [S, q], as `load_tu` describes them; None if there are none."""
    if features is None:
        return _as_floats(tables.attributes)
    has = {"labels": tables.labels is not None, "attributes": tables.attributes is not None}
    if features == "auto":
        one = "attributes" if has["attributes"] else "labels" if has["labels"] else "degree"
        features = "fuse" if all(has.values()) else one
    wanted = {"fuse": ("attributes", "labels"), "degree": ()}.get(features, (features,))
    missing = [what for what in wanted if not has[what]]
    if missing:
        rest = " and ".join(f"node {what}" for what in has if has[what]) or "neither labels nor attributes"
        text = f"features={features!r}: {name} has no node {' and no node '.join(missing)}. It has {rest}"
        raise ValueError(f"{text}; features='degree' works for every dataset")
    blocks = []
    if "attributes" in wanted and tables.attributes is not None:
        blocks.append(_standardise(name, tables.attributes))
    if "labels" in wanted and tables.labels is not None:
        blocks += [_one_hot(name, column - min(column.min(), 0)) for column in tables.labels.T]
    if features == "degree":
        blocks.append(_one_hot(name, tables.degrees - 1))
    return np.concatenate(blocks, axis=1)


def _standardise(name: str, attributes: np.ndarray) -> np.ndarray:
    """Columns [S, d] with mean 0 and variance 1, constant ones 0; float32."""
    finite = np.isfinite(attributes).all(axis=1)
    if not finite.all():
        file = f"{name}_node_attributes.txt"
        raise ValueError(f"{file} holds NaN or infinite values: load with features=None, clean them")
    # The range tells whether a column is constant, not the deviation: by rounding, that of 0.1, 0.1, 0.1 is not 0.
    varies = np.ptp(attributes, axis=0) > 0
    scale = np.where(varies, attributes.std(axis=0), np.inf)
    return ((attributes - attributes.mean(axis=0)) / scale).astype(np.float32)


def _one_hot(name: str, index: np.ndarray) -> np.ndarray:
    """Float32 [S, largest index + 1], a row of zeros where the index is −1."""
    width = max(int(index.max()) + 1, 1)
    if len(index) * width * 4 > LARGEST_FEATURES:
        raise ValueError(
            f"one-hot features of {name} would take {len(index) * width * 4 / 2**30:.0f} GiB ({len(index)} nodes, "
            f"{width} columns): load with features=None and make narrower ones"
        )
    rows = np.zeros((len(index), width), dtype=np.float32)
    at = np.flatnonzero(index >= 0)
    rows[at, index[at]] = 1
    return rows


class Tables(NamedTuple):
    """All graphs that are large enough, one after the other: G graphs, S nodes, E directed edges."""

    sizes: np.ndarray  # nodes of each graph [G]
    edge_index: np.ndarray  # [2, E], nodes from 0 within each graph; no loops; undirected edges in both directions
    edge_counts: np.ndarray  # columns of edge_index of each graph [G]
    edge_labels: np.ndarray | None  # [E, L]
    edge_attributes: np.ndarray | None  # [E, d]
    listed_once: bool  # whether no edge was listed in both directions; all of them count both ways then
    degrees: np.ndarray  # neighbours of each node, in whatever direction [S]
    labels: np.ndarray | None  # of nodes [S, L]
    attributes: np.ndarray | None  # of nodes [S, d]
    graph_attributes: np.ndarray | None  # [G, d]
    y: np.ndarray  # classes [G]
    rows: np.ndarray  # line of each graph in the file of classes, from 0 [G]
    dropped: int  # how many graphs have too few nodes


def parse(name: str, texts: Texts, *, edge_data: bool = True, directed: Any = "auto", min_nodes: int = 1) -> Tables:
    """The arrays of a dataset, or a `ValueError` that names the file and the line.

    Labels, attributes and directions of edges are read with `edge_data`; `directed` is as `as_graphs` takes it; graphs
    with fewer than `min_nodes` nodes are left out.
    """
    y, graph, edges = _read_graphs(name, texts)
    n, e = len(graph), len(edges)
    labels, attributes = _rows(name, texts, "node_labels", n), _rows(name, texts, "node_attributes", n)
    edge_labels = _rows(name, texts, "edge_labels", e) if edge_data else None
    edge_attributes = _rows(name, texts, "edge_attributes", e) if edge_data else None
    graph_attributes = _rows(name, texts, "graph_attributes", len(y))

    sizes = np.bincount(graph, minlength=len(y))
    kept = sizes >= max(min_nodes, 1)
    if not kept.any():
        raise ValueError(f"{name} has no graph with at least {max(min_nodes, 1)} nodes")
    # Nodes in the order of their graphs (most files have them so already), without those of graphs that are dropped.
    order = np.argsort(graph, kind="stable")
    order = order[kept[graph[order]]]
    row = np.zeros(n, dtype=np.int64)
    row[order] = np.arange(len(order))

    edge_kept = kept[graph[edges[:, 0]]]
    listed = Listed(row[edges].T, np.full(e, UNKNOWN), edge_labels, edge_attributes).some(edge_kept)
    neighbours, data, listed_once = combine(listed, len(order), directed if edge_data else False)
    ends = neighbours if data is None else data.ends
    sizes = sizes[kept]
    owner = np.repeat(np.arange(len(sizes)), sizes)[ends[0]]  # the graph of each edge
    edge_labels, edge_attributes = (None, None) if data is None else (data.labels, data.x)
    labels, attributes = (None if part is None else part[order] for part in (labels, attributes))
    return Tables(
        sizes, ends - offsets(sizes)[owner], np.bincount(owner, minlength=len(sizes)), edge_labels, edge_attributes,
        listed_once, np.bincount(neighbours[0], minlength=len(order)), labels, attributes,
        None if graph_attributes is None else graph_attributes[kept], y[kept],
        rows=np.flatnonzero(kept), dropped=int(np.sum(~kept)),
    )  # fmt: skip


def _read_graphs(name: str, texts: Texts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes [graphs], the graph of each node [nodes] and edges [edges, 2], both from 0, of the files that must be."""
    y = _table(name, texts, "graph_labels", columns=1)[:, 0]
    graph = _table(name, texts, "graph_indicator", columns=1)[:, 0] - 1
    edges = _table(name, texts, "A", columns=2) - 1
    n = len(graph)
    _check_lines(name, "graph_indicator", (graph < 0) | (graph >= len(y)), f"names none of the {len(y)} graphs")
    _check_lines(name, "A", ((edges < 0) | (edges >= n)).any(axis=1), f"joins a node that is none of the {n} nodes")
    _check_lines(name, "A", (np.diff(graph[edges]) != 0).any(axis=1), "joins nodes of different graphs")
    return y, graph, edges


def _rows(name: str, texts: Texts, kind: str, count: int) -> np.ndarray | None:
    """Labels or attributes of all nodes, edges or graphs [count, columns]; None without such a file."""
    if kind not in texts:
        return None
    table = _table(name, texts, kind, dtype=np.float64 if kind.endswith("attributes") else np.int64)
    if len(table) != count:
        units = {"node": ("nodes", "graph_indicator"), "edge": ("edges", "A"), "graph": ("graphs", "graph_labels")}
        unit, file = units[kind.partition("_")[0]]
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
