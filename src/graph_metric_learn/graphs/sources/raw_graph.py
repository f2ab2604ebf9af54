"""One graph as it came, whatever its source: what readers of all sources return, and the checks that they share.

Pairs (adjacency, features) are read here; other sources have a file each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

LABEL_NAMES = ("node_labels", "label")
LARGEST_WEIGHT = 1e30  # of edges: sums over many of them are finite in float32
_MANY_NODES = 10_000_000  # that a graph may have without anything being said of most of them


class Names(NamedTuple):
    """Under which names the caller keeps what nodes and edges carry; None for the usual ones of the source.

    Without a name for edge weights, none are read.
    """

    attribute: str = "x"
    label: str | None = None
    edge_attribute: str | None = None
    edge_label: str | None = None
    edge_weight: str | None = "weight"
    edges: bool = True  # whether to read what edges carry at all
    graph_attribute: str | tuple[str, ...] | None = None  # one name or several
    missing: str = "error"  # or "mean": NaN in features of nodes stays

    def check(self) -> None:
        """A `ValueError` for what is no name: several attributes are to be put into one vector by the caller."""
        for option in ("attribute", "label", "edge_attribute", "edge_label", "edge_weight"):
            value = getattr(self, option)
            if value is not None and not isinstance(value, str):
                advice = "put several numbers of a node or edge into one attribute, as a list"
                raise ValueError(f"{option} must be one name, got {value!r}: {advice}")
        attribute_names("graph_attribute", self.graph_attribute)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of node labels, in the order in which they are looked for."""
        return (self.label,) if self.label else LABEL_NAMES


class RawGraph(NamedTuple):
    """One graph, as it came; arrays are None where it carries nothing of the kind."""

    n: int  # nodes
    edges: np.ndarray  # [2, e], in any order and orientation, possibly repeated
    x: Any = None  # vectors of nodes [n, …]
    labels: Any = None  # of nodes [n, …]
    y: Any = None  # target of the graph: a number, a string, or a row of numbers
    edge_labels: Any = None  # [e, …]
    edge_x: Any = None  # vectors of edges [e, …]
    edge_weights: Any = None  # [e]
    orientation: str = "unknown"  # or "undirected": an edge stands for both directions; or "directed"
    unused: tuple[str, ...] = ()  # what it carries beside all this, in words
    title: str | None = None  # what it is called, if it says so
    columns: tuple[str, ...] | None = None  # names of the columns of x, if it says so
    edge_columns: tuple[str, ...] | None = None  # the same of edge_x
    vector: Any = None  # of the whole graph: GraphVectors [1, q]
    stereo: np.ndarray | None = None  # codes of atoms [n], uint8
    coarse: np.ndarray | None = None  # the same
    vector_names: tuple[str, ...] = ()  # of the attributes that it was read from


def attribute_names(what: str, names: Any) -> tuple[str, ...]:
    """Names of attributes of whole graphs, given as one text, several, or None; or a `ValueError`.

    >>> attribute_names("graph_attribute", "u"), attribute_names("graph_attribute", ["age", "sex"])
    (('u',), ('age', 'sex'))
    """
    if names is None:
        return ()
    listed = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, (list, tuple)) else (names,)
    if not listed or len(set(map(repr, listed))) < len(listed):
        raise ValueError(f"{what} must name one attribute or several, each once, got {names!r}")
    for name in listed:
        if not isinstance(name, str) or "=" in name:
            raise ValueError(f"{what} must be a name or a list of names without '=', got {names!r}")
    return listed


def as_numpy(array: Any) -> Any:
    """A NumPy array of a tensor, list or array; None stays None."""
    if array is None:
        return None
    if hasattr(array, "detach"):  # a tensor; NumPy has neither sparse ones nor bfloat16 and float8
        tensor = array.detach().cpu()
        tensor = tensor if str(tensor.layout) == "torch.strided" else tensor.to_dense()
        known_to_numpy = str(tensor.dtype) in ("torch.float16", "torch.float32", "torch.float64")
        array = (tensor.float() if tensor.dtype.is_floating_point and not known_to_numpy else tensor).numpy()
    return array.toarray() if sparse.issparse(array) else np.asarray(array)


def check_size(n: int, listed: int, name: str) -> None:
    """A `ValueError` for a graph that claims many more nodes than what it lists (rows, ends of edges) can speak of.

    Nodes take memory whether there is anything to say of them or not.
    """
    if n > _MANY_NODES and n > 10 * listed:
        raise ValueError(f"{name} claims to have {n} nodes, but lists only {listed} ends of edges and rows of features")


def first_text(*values: Any) -> str | None:
    """The first of the values that is a text with something in it.

    >>> first_text(None, "", 7, "benzene", "c1ccccc1")
    'benzene'
    """
    return next((str(value) for value in values if isinstance(value, str) and value.strip()), None)


def target_of(y: np.ndarray | None) -> Any:
    """The target of a graph: a number or a string, or the one row of several [1, T]; None for what has more rows."""
    if y is None or y.size == 1:
        return None if y is None else y.item()
    return y[0] if y.ndim == 2 and y.shape[0] == 1 and y.size else None


def labels_and_vectors(labels: Any, vectors: Any) -> tuple[Any, Any]:
    """Labels and vectors of edges; vectors of whole numbers are labels, if there are no others."""
    if labels is None and vectors is not None and vectors.dtype.kind in "iu":
        return vectors, None
    return labels, vectors


def checked_rows(array: Any, count: int, name: str, what: str) -> Any:
    """What edges carry [count, columns], or a clear error; None stays None."""
    if array is None:
        return None
    if array.ndim not in (1, 2) or len(array) != count:
        raise ValueError(f"{name} has {what} of shape {array.shape} for {count} edges")
    return array[:, None] if array.ndim == 1 else array


def checked_weights(weights: Any, count: int, name: str) -> np.ndarray:
    """Weights of edges [count], float64, or a clear error."""
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} has edge weights that are not numbers") from None
    except OverflowError:  # whole numbers of hundreds of digits
        raise ValueError(f"{name} has edge weights beyond {LARGEST_WEIGHT:g}: scale them down") from None
    if weights.size != count or not np.isfinite(weights).all():
        raise ValueError(f"{name} has edge weights that are not one finite number per edge")
    if np.abs(weights).max(initial=0.0) > LARGEST_WEIGHT:
        raise ValueError(f"{name} has edge weights beyond {LARGEST_WEIGHT:g}: scale them down")
    return weights.reshape(count)


def read_pair(adjacency: Any, x: Any, name: str, names: Names) -> RawGraph:
    """A pair (adjacency [n, n], features [n, q] or None); dense, scipy sparse or torch.

    An entry of the adjacency is an edge if it is not 0, and its value is the weight.
    """
    if len(getattr(adjacency, "shape", ())) == 2 and (entries := getattr(adjacency, "nnz", None)) is not None:
        check_size(adjacency.shape[0], int(entries), name)
    adjacency = _as_matrix(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"{name} has an adjacency of shape {adjacency.shape}, expected a square matrix")
    values = adjacency.data if sparse.issparse(adjacency) else adjacency
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        raise ValueError(f"{name} has an adjacency with entries that are not finite numbers")
    rows, columns = adjacency.nonzero()
    weights = None
    if names.edges and names.edge_weight is not None and adjacency.dtype.kind != "b":
        listed = values[values != 0] if sparse.issparse(adjacency) else adjacency[rows, columns]
        weights = checked_weights(listed, len(rows), name)
    edges = np.stack([rows, columns]).astype(np.int64)
    return RawGraph(adjacency.shape[0], edges, as_numpy(x), edge_weights=weights)


def _as_matrix(adjacency: Any) -> Any:
    """A NumPy array, or a scipy array of compressed rows in which entries for the same place have been added up."""
    if "sparse" in str(getattr(adjacency, "layout", "")):  # of torch
        entries = adjacency.detach().cpu().to_sparse_coo()
        places = tuple(as_numpy(entries._indices()))
        adjacency = sparse.coo_array((as_numpy(entries._values()), places), shape=tuple(entries.shape))
    if not sparse.issparse(adjacency):
        return as_numpy(adjacency)
    rows = sparse.csr_array(adjacency)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
