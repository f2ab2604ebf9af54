"""Whatever the user has (PyG, NetworkX, adjacency and features) to `Graphs`.

Types are recognised by the name of their module: nothing is imported that the caller does not use already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core.ragged import offsets
from .collection import Graphs

LABEL_NAMES = ("node_labels", "label")


class _One(NamedTuple):
    """One graph, as it came: n nodes, edges [2, e] in any direction, features, labels, class."""

    n: int
    edges: np.ndarray
    x: Any = None
    labels: Any = None
    y: Any = None


def as_graphs(graphs: Any, *, attribute: str = "x", label: str | None = None) -> Graphs:
    """Checks graphs of any supported kind and puts them into one `Graphs`.

    Parameters
    ----------
    graphs : list of graphs, GraphDataset, PyG dataset or Batch
        Each graph a `torch_geometric.data.Data`; a `networkx.Graph` (any hashable nodes); or a pair (adjacency,
        features), the adjacency dense or scipy sparse, the features [n, q] or None. The class of a graph is read from
        `Data.y` or, for NetworkX, from `graph.graph["y"]`.
    attribute : str
        Name of the node features: an attribute of `Data`, or of NetworkX nodes (vectors or numbers).
    label : str, optional
        Name of the discrete node labels; by default "node_labels" or "label", if there.

    Returns
    -------
    Graphs
        A directed edge counts both ways; repeated edges count once; edge weights are not used (an entry of the
        adjacency is an edge if it is not 0); self-loops are dropped, since encoders add their own; isolated nodes stay.

    Examples
    --------
    >>> import networkx as nx
    >>> path = nx.path_graph(["a", "b", "c"])
    >>> nx.set_node_attributes(path, {"a": [0.0], "b": [1.0], "c": [0.0]}, "x")
    >>> as_graphs([path]).edges
    array([[0, 1, 1, 2],
           [1, 0, 2, 1]])
    """
    if isinstance(graphs, Graphs) and len(graphs):
        return graphs
    graphs = getattr(graphs, "graphs", graphs)  # a GraphDataset
    ones = [_one(graph, f"graph {i}", attribute, label) for i, graph in enumerate(_as_list(graphs))]
    if not ones:
        raise ValueError("no graphs were given: pass a list with at least one graph")
    sizes = np.array([one.n for one in ones], dtype=np.int64)
    for i in np.flatnonzero(sizes == 0):
        raise ValueError(f"graph {i} has no nodes: drop it or give it one")
    shift = np.repeat(offsets(sizes)[:-1], [one.edges.shape[1] for one in ones])
    edges = np.concatenate([one.edges for one in ones], axis=1) + shift
    y = None if any(one.y is None for one in ones) else np.array([one.y for one in ones])
    x, labels = _features(ones, sizes), _labels(ones, sizes)
    for found, name, default in ((x, attribute, "x"), (labels, label, None)):
        if found is None and name != default:
            raise ValueError(f"no graph has a node attribute {name!r}")
    return Graphs(sizes, _simple(edges, int(sizes.sum())), x, labels, y)


def _as_list(graphs: Any) -> Sequence[Any]:
    kind = _kind(graphs)
    if kind in ("networkx", "data") or (isinstance(graphs, tuple) and _is_pair(graphs)):
        raise ValueError("got a single graph: pass a list of graphs, [graph] for one")
    if hasattr(graphs, "to_data_list"):
        return graphs.to_data_list()
    if isinstance(graphs, str) or not hasattr(graphs, "__len__") or not hasattr(graphs, "__getitem__"):
        raise ValueError(f"expected a list of graphs, got {type(graphs).__name__}")
    return [graphs[i] for i in range(len(graphs))]


def _kind(graph: Any) -> str:
    classes = {(base.__module__.partition(".")[0], base.__name__) for base in type(graph).__mro__}
    if ("networkx", "Graph") in classes:
        return "networkx"
    if ("torch_geometric", "Data") in classes and not hasattr(graph, "to_data_list"):
        return "data"
    return "pair" if _is_pair(graph) else "unknown"


def _is_pair(graph: Any) -> bool:
    if not isinstance(graph, (tuple, list)) or len(graph) != 2:
        return False
    return sparse.issparse(graph[0]) or getattr(graph[0], "ndim", None) == 2


def _one(graph: Any, name: str, attribute: str, label: str | None) -> _One:
    kind = _kind(graph)
    if kind == "data":
        return _from_data(graph, name, attribute, label)
    if kind == "networkx":
        return _from_networkx(graph, name, attribute, label)
    if kind == "pair":
        return _from_pair(graph[0], graph[1], name)
    hint = ", or (adjacency, None) without features" if getattr(graph, "ndim", 0) == 2 else ""
    kinds = "torch_geometric Data, networkx.Graph or (adjacency, features)"
    raise ValueError(f"{name} is a {type(graph).__name__}: expected {kinds}{hint}")


def _label_names(label: str | None) -> tuple[str, ...]:
    return (label,) if label else LABEL_NAMES


def _from_data(data: Any, name: str, attribute: str, label: str | None) -> _One:
    stored = data.to_dict()
    x = _numpy(stored.get(attribute))
    found = [stored[key] for key in _label_names(label) if stored.get(key) is not None]
    labels = _numpy(found[0]) if found else None
    n = int(stored.get("num_nodes") or (len(x) if x is not None else data.num_nodes or 0))
    edges = stored.get("edge_index")
    edges = np.empty((2, 0), dtype=np.int64) if edges is None else _numpy(edges)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError(f"{name} has an edge_index of shape {edges.shape}, expected (2, number of edges)")
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"{name} has an edge to node {edges.max()}, but only {n} nodes")
    y = _numpy(stored.get("y"))
    return _One(n, edges.astype(np.int64, copy=False), x, labels, y.item() if y is not None and y.size == 1 else None)


def _from_networkx(graph: Any, name: str, attribute: str, label: str | None) -> _One:
    place = {node: i for i, node in enumerate(graph.nodes)}
    edges = np.array([(place[u], place[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2).T
    x = _node_attribute(graph, name, attribute)
    found = [values for key in _label_names(label) if (values := _node_attribute(graph, name, key)) is not None]
    labels = found[0] if found else None
    return _One(len(place), edges, x, labels, graph.graph.get("y"))


def _node_attribute(graph: Any, name: str, attribute: str) -> np.ndarray | None:
    values = dict(graph.nodes(data=attribute))
    missing = [node for node, value in values.items() if value is None]
    if not values or len(missing) == len(values):
        return None
    if missing:
        raise ValueError(f"{name}: node {missing[0]!r} has no attribute {attribute!r}, other nodes have")
    try:
        return np.array([_numpy(value) for value in values.values()])
    except ValueError:
        raise ValueError(f"{name}: attribute {attribute!r} has different lengths on different nodes") from None


def _from_pair(adjacency: Any, x: Any, name: str) -> _One:
    if not sparse.issparse(adjacency):
        adjacency = _numpy(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"{name} has an adjacency of shape {adjacency.shape}, expected a square matrix")
    values = adjacency.data if sparse.issparse(adjacency) else adjacency
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        raise ValueError(f"{name} has an adjacency with entries that are not finite numbers")
    return _One(adjacency.shape[0], np.array(adjacency.nonzero(), dtype=np.int64), _numpy(x))


def _numpy(array: Any) -> Any:
    """A NumPy array of a tensor, list or array; None stays None."""
    if array is None:
        return None
    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    return array.toarray() if sparse.issparse(array) else np.asarray(array)


def _simple(edges: np.ndarray, n: int) -> np.ndarray:
    """Both directions of every edge, once, without self-loops, in order of row and column."""
    edges = edges[:, edges[0] != edges[1]]
    keys = np.unique(np.concatenate([edges[0] * n + edges[1], edges[1] * n + edges[0]]))
    return np.stack([keys // n, keys % n]) if n else edges


def _stacked(parts: list[Any], sizes: np.ndarray, what: str) -> Any:
    """Rows of all graphs [S, width], with errors that name the graph; None where no graph has them."""
    if all(part is None for part in parts):
        return None
    for i, (part, n) in enumerate(zip(parts, sizes, strict=True)):
        if part is None:
            raise ValueError(f"graph {i} has no {what}, other graphs have: give all of them {what}, or none")
        if part.ndim not in (1, 2) or len(part) != n:
            raise ValueError(f"graph {i} has {what} of shape {part.shape}, expected ({n}, q): one row per node")
    parts = [part.reshape(len(part), -1) for part in parts]
    for i, part in enumerate(parts):
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(f"graph {i} has {what} of width {part.shape[1]}, graph 0 of width {parts[0].shape[1]}")
    return np.concatenate(parts)


def _features(ones: list[_One], sizes: np.ndarray) -> np.ndarray | None:
    x = _stacked([one.x for one in ones], sizes, "features")
    if x is None:
        return None
    if x.dtype.kind not in "fiub":
        raise ValueError(f"node features have dtype {x.dtype}, expected numbers: give discrete labels as node labels")
    if x.shape[1] == 0:
        raise ValueError("node features have width 0: leave them out to use degrees")
    with np.errstate(over="ignore"):
        x = x.astype(np.float32)
    if not np.isfinite(x).all():
        row = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
        graph = int(np.searchsorted(offsets(sizes), row, side="right")) - 1
        raise ValueError(f"graph {graph} has a NaN or infinite node feature: clean or drop it")
    return x


def _labels(ones: list[_One], sizes: np.ndarray) -> np.ndarray | None:
    labels = _stacked([one.labels for one in ones], sizes, "node labels")
    if labels is None:
        return None
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iubUSO":
        raise ValueError(f"node labels have dtype {labels.dtype}, expected whole numbers or strings")
    return labels.astype(str) if labels.dtype.kind in "USO" else labels.astype(np.int64)
