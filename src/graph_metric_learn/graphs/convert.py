"""Whatever the user has (PyG, NetworkX, adjacency and features) to `Graphs`.

Types are recognised by the name of their module: nothing is imported that the caller does not use already.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from .._core.ragged import offsets
from .._core.validation import one_of
from .arcs import DIRECTED, UNDIRECTED, UNKNOWN, Listed, combine
from .collection import Graphs, not_finite
from .column_names import Columns, in_one_order
from .graph_vectors import joined, read_vector
from .sources.networkx_graphs import read_networkx
from .sources.pyg import PlainData, read_data
from .sources.raw_graph import Names, RawGraph, attribute_names, read_pair

_NO_GRAPHS = "no graphs were given: pass a list with at least one graph"
_ORIENTATIONS = {"undirected": UNDIRECTED, "directed": DIRECTED, "unknown": UNKNOWN}


def as_graphs(
    graphs: Any,
    *,
    attribute: str = "x",
    label: str | None = None,
    edge_attribute: str | None = None,
    edge_label: str | None = None,
    edge_weight: str | None = "weight",
    edges: Any = "auto",
    directed: Any = "auto",
    graph_attribute: str | Sequence[str] | None = None,
    missing: str = "error",
) -> Graphs:
    """Checks graphs of any supported kind and puts them into one `Graphs`.

    Parameters
    ----------
    graphs : list of graphs, GraphDataset, PyG dataset or Batch
        Each graph a `torch_geometric.data.Data`; a `networkx.Graph` of any kind (any hashable nodes); or a pair
        (adjacency, features), the adjacency dense or sparse, its values being weights, the features [n, q] or None; or
        three, the third being a vector of the whole graph ([q], or a dictionary of numbers and texts by name). The
        target of a graph, or the row of its targets, is read from `Data.y` ([1, T] for several) or, for NetworkX, from
        `graph.graph["y"]`; what it is called from `Data.name`, else `Data.smiles`, or from `graph.name`. The collection
        has names if all graphs have one. A NetworkX graph may name the columns of its vectors, in lists
        `graph.graph["node_columns"]` and `graph.graph["edge_columns"]`: columns are then matched by name.
    attribute : str
        Name of the node features: an attribute of `Data`, or of NetworkX nodes (vectors or numbers).
    label : str, optional
        Name of the discrete node labels; by default "node_labels" or "label", if there.
    edge_attribute, edge_label, edge_weight : str, optional
        Names of what edges carry: vectors, discrete labels, weights. By default they are "edge_attr" (vectors, or
        labels where it holds whole numbers), "edge_type" and "edge_weight" ("weight" in NetworkX), if there; others
        must be named. edge_weight=None reads no weights.
    edges : {"auto", False}
        False reads edges without what they carry, and both ways.
    directed : {"auto", True, False}
        Whether edges have a direction. "auto": a DiGraph is directed; other graphs are if some of their edges, but not
        all, have their reverse with the same data. If every edge is listed once, it counts both ways, with a warning.
    graph_attribute : str or list of str, optional
        Names of what describes whole graphs, such as "u" or ["age", "site"]: attributes of `Data`, or entries of
        `graph.graph` of NetworkX. Each is a number, a text (a category), or several ([q] or [1, q]); NaN, None, or its
        absence on some graphs says that it was not measured. By default it is read where graphs themselves say in
        which attribute it is, in one that is called "graph_attribute". See `Graphs.graph_x`.
    missing : {"error", "mean"}
        What NaN in node features is: an error, or something that was not measured, which stays NaN until metrics put
        the mean of their graphs in its place.

    Returns
    -------
    Graphs
        Repeated edges that carry nothing count once, parallel edges that carry something stay apart, and their weights
        add up. Weights that are all 1 are no weights; negative ones are weights like any other. Self-loops are dropped,
        since encoders add their own; isolated nodes stay.

    Examples
    --------
    >>> import networkx as nx
    >>> path = nx.path_graph(["a", "b", "c"])
    >>> nx.set_node_attributes(path, {"a": [0.0], "b": [1.0], "c": [0.0]}, "x")
    >>> as_graphs([path]).edges
    array([[0, 1, 1, 2],
           [1, 0, 2, 1]])
    """
    check_edge_options(edges, directed)
    one_of("missing", missing, ("error", "mean"))
    if isinstance(graphs, Graphs):
        if not len(graphs):
            raise ValueError(_NO_GRAPHS)
        graphs.check_numbers(missing)
        return graphs if edges == "auto" else graphs.without_edge_data()
    graphs = getattr(graphs, "graphs", graphs)  # a GraphDataset
    whole = attribute_names("graph_attribute", graph_attribute) or None
    names = Names(attribute, label, edge_attribute, edge_label, edge_weight, edges == "auto", whole, missing)
    names.check()
    listed = list(iterate(graphs))
    if listed and all(isinstance(one, Graphs) for one in listed):
        return as_graphs(Graphs.concatenate(listed), edges=edges, missing=missing)
    raw, columns = in_one_order([_read(graph, f"graph {i}", names) for i, graph in enumerate(listed)])
    if not raw:
        raise ValueError(_NO_GRAPHS)
    collection, listed_once = _stack_graphs(raw, columns, names, directed if names.edges else False)
    if listed_once and directed == "auto" and names.edges:
        warnings.warn(
            "every edge is listed in one direction only and is read as undirected: pass directed=True if the direction "
            "means something, directed=False to say that it does not",
            stacklevel=2,
        )
    return collection


def _stack_graphs(raw: Sequence[RawGraph], columns: Columns, names: Names, directed: Any) -> tuple[Graphs, bool]:
    """Graphs as they came in one collection, checked; and whether every edge was listed once."""
    sizes = np.array([one.n for one in raw], dtype=np.int64)
    if not sizes.all():
        raise ValueError(f"graph {int(np.argmin(sizes))} has no nodes: drop it or give it one")
    y, x = _targets([one.y for one in raw]), _features(raw, sizes, names.missing)
    labels = _labels([one.labels for one in raw], sizes, "node labels", "node")
    edges, edge_data, listed_once = combine(_listed(raw, sizes), int(sizes.sum()), directed)
    _refuse_names_of_nothing(raw, names, x, labels)
    edge_data = None if edge_data is None else replace(edge_data, columns=columns.edges)
    unused = tuple(dict.fromkeys(what for one in raw for what in one.unused))
    vectors = joined([one.vector for one in raw], [1] * len(raw))
    titles = None if any(one.title is None for one in raw) else np.array([one.title for one in raw], object)
    stereo, coarse = (_codes([getattr(one, part) for one in raw], sizes) for part in ("stereo", "coarse"))
    stereo = None if stereo is None or not stereo.any() else stereo
    collection = Graphs(
        sizes, edges, x, labels, y, edge_data, unused, titles, columns.nodes, stereo=stereo, coarse=coarse
    )
    return collection if vectors is None else collection.with_graph_vectors(vectors), listed_once


def _codes(parts: Sequence[np.ndarray | None], sizes: np.ndarray) -> np.ndarray | None:
    """Codes of all nodes [S], 0 for graphs that have none; None where no graph has any."""
    if all(part is None for part in parts):
        return None
    each = [np.zeros(n, np.uint8) if part is None else part for part, n in zip(parts, sizes, strict=True)]
    return np.concatenate(each)


def check_edge_options(edges: Any, directed: Any) -> None:
    """A `ValueError` unless these are what `edges` and `directed` may be."""
    if edges not in (False, "auto"):
        raise ValueError(f'unknown edges={edges!r}: edges is "auto" or False')
    if directed not in (True, False, "auto"):
        raise ValueError(f'unknown directed={directed!r}: directed is "auto", True or False')


def _refuse_names_of_nothing(raw: Sequence[RawGraph], names: Names, x: Any, labels: Any) -> None:
    """A `ValueError` for an attribute of nodes or edges that the caller named and no graph has."""
    for values, name, default in ((x, names.attribute, "x"), (labels, names.label, None)):
        if values is None and name != default:
            others = dict.fromkeys(what for one in raw for what in one.unused if what.startswith("node"))
            there = f"; there is {', '.join(others)}" if others else ""
            raise ValueError(f"no graph has a node attribute {name!r}{there}")
    for name in attribute_names("graph_attribute", names.graph_attribute):
        if not any(name in one.vector_names for one in raw):
            raise ValueError(f"no graph has a graph attribute {name!r}")
    if not names.edges or not any(one.edges.size for one in raw):
        return
    weight = None if names.edge_weight == "weight" else names.edge_weight
    for part, name in (("edge_labels", names.edge_label), ("edge_x", names.edge_attribute), ("edge_weights", weight)):
        if name is not None and all(getattr(one, part) is None for one in raw):
            raise ValueError(f"no graph has an edge attribute {name!r}")


def _targets(targets: list[Any]) -> np.ndarray | None:
    """Targets that the graphs carry [G] or [G, T], None without any.

    Objects, with None inside, where some graphs have none; and where some are strings, others numbers.
    """
    if all(target is None for target in targets):
        return None
    widths = {i: np.size(target) for i, target in enumerate(targets) if target is not None}
    first = min(widths)
    for i, width in widths.items():
        if width != widths[first]:
            raise ValueError(f"graph {i} has {width} targets (y), graph {first} has {widths[first]}")
    if len(widths) == len(targets) and len({isinstance(target, str) for target in targets}) == 1:
        return np.array(targets)
    some = np.empty(len(targets), dtype=object)
    for i, target in enumerate(targets):
        some[i] = target if np.ndim(target) == 0 else tuple(target.tolist())
    return some


def iterate(graphs: Any) -> Iterator[Any]:
    """Single graphs, one after the other, of a list, dataset, batch, or iterable of graphs or batches."""
    graphs = getattr(graphs, "graphs", graphs)  # a GraphDataset
    kind = _kind(graphs)
    if kind in ("networkx", "data") or (isinstance(graphs, tuple) and _is_pair(graphs)):
        raise ValueError("got a single graph: pass a list of graphs, [graph] for one")
    if kind == "hetero":
        raise ValueError(_HETERO)
    if hasattr(graphs, "to_data_list"):
        return iter(graphs.to_data_list())
    if not isinstance(graphs, (str, bytes, dict)):
        if isinstance(graphs, Iterable):
            lists = (graph.to_data_list() if hasattr(graph, "to_data_list") else [graph] for graph in graphs)
            return chain.from_iterable(lists)  # of batches, too
        if hasattr(graphs, "__getitem__") and hasattr(graphs, "__len__"):  # a Subset of torch does not iterate
            return (graphs[i] for i in range(len(graphs)))
    raise ValueError(f"expected a list of graphs, got {type(graphs).__name__}")


_HETERO = "HeteroData has several types of nodes: convert it with .to_homogeneous(), which keeps them as node_type"


def _kind(graph: Any) -> str:
    if isinstance(graph, PlainData):
        return "data"
    classes = {(base.__module__.partition(".")[0], base.__name__) for base in type(graph).__mro__}
    if ("networkx", "Graph") in classes:
        return "networkx"
    if ("torch_geometric", "HeteroData") in classes:
        return "hetero"
    if ("torch_geometric", "Data") in classes and not hasattr(graph, "to_data_list"):
        return "data"
    return "pair" if _is_pair(graph) else "unknown"


def _with_vector(raw: RawGraph, rest: Sequence[Any], name: str, names: Names) -> RawGraph:
    """A graph of a pair with the vector that follows the pair, if one does."""
    if not rest:
        return raw
    wanted = attribute_names("graph_attribute", names.graph_attribute)
    if isinstance(rest[0], Mapping):
        there = {key: rest[0][key] for key in wanted or rest[0] if key in rest[0]}
    else:
        there = {wanted[0] if len(wanted) == 1 else "u": rest[0]}
    return raw._replace(vector=read_vector(there, name), vector_names=(*there,))


def _is_pair(graph: Any) -> bool:
    if not isinstance(graph, (tuple, list)) or len(graph) not in (2, 3):
        return False
    if len(graph) == 3 and not _is_vector(graph[2]):
        return False
    return sparse.issparse(graph[0]) or getattr(graph[0], "ndim", None) == 2


def _is_vector(value: Any) -> bool:
    """Whether a value describes a whole graph: a dictionary, a list, or an array [q] or [1, q]."""
    shape = getattr(value, "shape", None)
    if shape is None:
        return isinstance(value, (Mapping, list, tuple))
    return len(shape) == 1 or (len(shape) == 2 and shape[0] == 1)


def _read(graph: Any, name: str, names: Names) -> RawGraph:
    kind = _kind(graph)
    if kind == "data":
        return read_data(graph, name, names)
    if kind == "networkx":
        return read_networkx(graph, name, names)
    if kind == "pair":
        return _with_vector(read_pair(graph[0], graph[1], name, names), graph[2:], name, names)
    if kind == "hetero":
        raise ValueError(f"{name}: {_HETERO}")
    hint = ", or (adjacency, None) without features" if getattr(graph, "ndim", 0) == 2 else ""
    hint = "; from_smiles reads SMILES" if isinstance(graph, str) else hint
    kinds = "torch_geometric Data, networkx.Graph or (adjacency, features)"
    raise ValueError(f"{name} is a {type(graph).__name__}: expected {kinds}{hint}")


def _listed(raw: Sequence[RawGraph], sizes: np.ndarray) -> Listed:
    """The edges of all graphs, as they were listed."""
    counts = np.array([one.edges.shape[1] for one in raw])
    shift = np.repeat(offsets(sizes)[:-1], counts)
    ends = np.concatenate([one.edges for one in raw], axis=1) + shift
    orientation = np.repeat([_ORIENTATIONS[one.orientation] for one in raw], counts)
    weights = None
    if any(one.edge_weights is not None for one in raw):
        parts = zip((one.edge_weights for one in raw), counts, strict=True)
        weights = np.concatenate([np.ones(count) if part is None else part for part, count in parts])
    vectors = _stacked([one.edge_x for one in raw], counts, "edge features", "edge")
    if vectors is not None:
        vectors = _numbers(vectors, counts, "edge feature")
    labels = _labels([one.edge_labels for one in raw], counts, "edge labels", "edge")
    return Listed(ends, orientation, labels, vectors, weights)


def _stacked(parts: list[Any], counts: np.ndarray, what: str, unit: str) -> Any:
    """Rows of all graphs [S, width], with errors that name the graph; None where no graph has them.

    A graph without a single edge carries nothing on its edges, and need not.
    """
    parts = [part if n else None for part, n in zip(parts, counts, strict=True)]
    if all(part is None for part in parts):
        return None
    for i, (part, n) in enumerate(zip(parts, counts, strict=True)):
        if part is None and n > 0:
            raise ValueError(f"graph {i} has no {what}, other graphs have: give all of them {what}, or none")
        if part is not None and (part.ndim not in (1, 2) or len(part) != n):
            raise ValueError(f"graph {i} has {what} of shape {part.shape}, expected ({n}, q): one row per {unit}")
    filled = {i: part.reshape(len(part), -1) for i, part in enumerate(parts) if part is not None}
    first = min(filled)
    for i, part in filled.items():
        if part.shape[1] != filled[first].shape[1]:
            widths = f"of width {part.shape[1]}, graph {first} of width {filled[first].shape[1]}"
            raise ValueError(f"graph {i} has {what} {widths}")
    return np.concatenate(list(filled.values()))


def _features(raw: Sequence[RawGraph], sizes: np.ndarray, missing: str) -> np.ndarray | None:
    x = _stacked([one.x for one in raw], sizes, "features", "node")
    if x is None:
        return None
    if x.dtype.kind not in "fiub":
        advice = "name discrete labels by label=, not attribute="
        raise ValueError(f"node features have dtype {x.dtype}, expected numbers: {advice}")
    if x.shape[1] == 0:
        raise ValueError("node features have width 0: leave them out to use degrees")
    return _numbers(x, sizes, "node feature", missing)


def _numbers(x: np.ndarray, counts: np.ndarray, what: str, missing: str = "error") -> np.ndarray:
    """Finite numbers, float32 where they came so, else float64; they must also be finite as float32.

    With missing="mean" they may be NaN.
    """
    if x.dtype.kind not in "fiub":
        raise ValueError(f"{what}s have dtype {x.dtype}, expected numbers")
    x = x if x.dtype == np.float32 else x.astype(np.float64)
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    finite = (np.isfinite(single) | (np.isnan(x) & (missing == "mean"))).all(1)
    if not finite.all():
        graph = int(np.searchsorted(offsets(counts), int(np.flatnonzero(~finite)[0]), side="right")) - 1
        if np.isfinite(x[~finite]).all():
            raise ValueError(f"graph {graph} has a {what} beyond 3e+38, the largest float32: scale them down")
        raise ValueError(not_finite(graph, x[~finite], what))
    return x


_TOO_LARGE = "are too large to be told apart: number them from 0, or give them as strings"


def _labels(parts: list[Any], counts: np.ndarray, what: str, unit: str) -> np.ndarray | None:
    """Discrete labels [S, L]: whole numbers (int64) or strings."""
    kinds = {part.dtype.kind for part in parts if part is not None and part.size}
    if len(kinds & set("US")) and len(kinds & set("iubf")):
        raise ValueError(f"{what} are numbers in some graphs and strings in others: use one kind")
    labels = _stacked(parts, counts, what, unit)
    if labels is None:
        return None
    if labels.dtype.kind == "O" and len({type(value) in (str, np.str_) for value in labels.ravel()}) == 2:
        raise ValueError(f"{what} mix strings and numbers: 1 and '1' would be the same label")
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        if (np.abs(labels) >= 2**53).any():
            raise ValueError(f"{what} {_TOO_LARGE}")
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iubUSO":
        raise ValueError(f"{what} have dtype {labels.dtype}, expected whole numbers or strings")
    if labels.dtype.kind in "uO" and any(isinstance(v, int) and abs(v) >= 2**63 for v in labels.ravel().tolist()):
        raise ValueError(f"{what} {_TOO_LARGE}")
    return labels.astype(str) if labels.dtype.kind in "USO" else labels.astype(np.int64)
