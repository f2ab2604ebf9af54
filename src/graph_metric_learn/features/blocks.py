"""Named blocks of node features: attributes, labels, degrees and structure at several hops, Weisfeiler-Lehman trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..graphs.collection import Graphs
from ..graphs.convert import as_graphs
from ..persistence.models import inside
from .node_features import NodeFeatures
from .propagation import hop_by_hop
from .structure import graph_size, local_structure
from .trees import code_vectors, wl_hashes

SMOOTH = ("attributes", "labels", "degree", "structure", "size")  # kinds that are mixed along the edges
KINDS = (*SMOOTH, "wl", "trees")
_MOST_LABELS = 256
MOST_COLUMNS = 96  # more of them are reduced to principal components
_EXACT_DEGREES = 32  # larger ones share columns, each for degrees up to a quarter larger


class NodeBlocks(BaseEstimator):
    """Blocks of node features by name, each centred and scaled to a mean squared norm of 1 over nodes seen in `fit`.

    A name is a kind and a number. "attributes@0", "labels@2", "degree@1", "structure@0" (see :func:`local_structure`)
    and "size@0" (see :func:`graph_size`) are features smoothed over that many hops, symmetrically normalised. "wl@3"
    and "trees@3" stand for the tree of depth 3 around a node, which the Weisfeiler-Lehman label of level 3 names: "wl"
    has a vector for each tree, the same for equal ones, nearly orthogonal for different ones; "trees" has one column
    out of many, as a sparse array of 0 and 1, neither centred nor scaled.

    Parameters
    ----------
    code_size, n_columns : int
        Columns of a "wl" and of a "trees" block.

    Attributes
    ----------
    bases_ : dict of ndarray [q, 96]
        Maps onto principal components, for "attributes" of more columns than that.
    kinds_ : list of str
        What the fitted graphs have: all kinds, but "attributes" and "labels" only where nodes carry them.
    centres_, scales_ : dict of ndarray [q]
        Of the blocks that were fitted; columns of attributes, structure and size are scaled one by one.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> blocks = NodeBlocks().fit([(adjacency, np.array([[1.0], [2.0], [3.0]]))], ["attributes@0", "wl@1"])
    >>> [block.shape for block in blocks.transform([(adjacency, np.eye(3)[:, :1])])]
    [(3, 1), (3, 32)]
    """

    def __init__(self, code_size: int = 32, n_columns: int = 1024) -> None:
        self.code_size = code_size
        self.n_columns = n_columns

    def fit(self, graphs: Any, names: Sequence[str], sample: np.ndarray | None = None) -> NodeBlocks:
        """Learns the columns of the named blocks from graphs (anything `as_graphs` takes), their scale from a sample
        of them (indices; all when None).
        """
        given = as_graphs(graphs)
        self.kinds_ = available_kinds(given)
        for name in names:
            kind, _ = _parse(name)
            if (kind == "attributes" and given.x is None) or (kind == "labels" and given.labels is None):
                raise ValueError(f"block {name!r}, but the nodes of the graphs carry no {kind}")
        self.features_ = {
            kind: NodeFeatures(kind).fit(given)
            for kind in ("attributes", "labels")
            if any(_parse(name)[0] == kind for name in names)
        }
        if "labels" in self.features_:
            assert given.labels is not None
            self.features_["labels"].label_values_ = [np.unique(column) for column in given.labels.T]  # no gaps
        self.names_ = list(names)
        self.label_kind_ = _label_kind(given)
        seen = given if sample is None else given[sample]
        self.bases_: dict[str, np.ndarray] = {}
        if "attributes" in self.features_ and self.features_["attributes"].width_ > MOST_COLUMNS:
            wide = self._start("attributes", seen)
            self.bases_["attributes"] = principal_components(wide - wide.mean(0))
        self.centres_: dict[str, np.ndarray] = {}
        self.scales_: dict[str, np.ndarray] = {}
        for name, block in zip(self.names_, self._raw(seen), strict=True):
            if isinstance(block, np.ndarray):
                self.centres_[name] = block.mean(0, dtype=np.float64).astype(np.float32)
                spread = np.asarray(np.mean((block - self.centres_[name]) ** 2, axis=0, dtype=np.float64))
                if _parse(name)[0] not in ("structure", "size"):  # columns of one unit
                    spread[:] = spread.mean()
                varies = spread > 1e-12  # what never varies says nothing
                self.scales_[name] = np.sqrt(varies / np.where(varies, spread, 1.0) / max(1, varies.sum()))
                self.scales_[name] = self.scales_[name].astype(np.float32)
        return self

    def transform(self, graphs: Any) -> list[Any]:
        """The blocks [S, q], float32, in the order of the names."""
        check_is_fitted(self, "names_")
        given = as_graphs(graphs)
        if _label_kind(given) != self.label_kind_ and any(_parse(name)[0] in ("wl", "trees") for name in self.names_):
            raise ValueError(f"nodes carry {_label_kind(given)}, those that were fitted {self.label_kind_}")
        return [
            (block - self.centres_[name]) * self.scales_[name] if name in self.centres_ else block
            for name, block in zip(self.names_, self._raw(given), strict=True)
        ]

    def _raw(self, given: Graphs) -> list[Any]:
        """The blocks before centring and scaling; what several need is computed once."""
        parsed = [_parse(name) for name in self.names_]
        far = {kind: max((number for k, number in parsed if k == kind), default=-1) for kind in KINDS}
        found: dict[tuple[str, int], Any] = {}
        for kind in SMOOTH:
            if far[kind] >= 0:
                start = replace(given, x=self._start(kind, given))
                found.update({(kind, hop): x for hop, x in enumerate(hop_by_hop(start, far[kind]))})
        deepest = max(far["wl"], far["trees"])
        for level, hashes in enumerate(wl_hashes(given, deepest) if deepest >= 0 else ()):
            if ("wl", level) in parsed:
                found["wl", level] = code_vectors(hashes, self.code_size)
            if ("trees", level) in parsed:
                found["trees", level] = _tree_columns(hashes, self.n_columns)
        return [found[place] for place in parsed]

    def _start(self, kind: str, given: Graphs) -> np.ndarray:
        """Features [S, q] of a kind, before they are mixed."""
        if kind == "degree":
            return _degree_columns(given.degrees)
        if kind == "structure":
            return local_structure(given)
        if kind == "size":
            return graph_size(given)
        x = self.features_[kind].transform(given).x
        assert x is not None
        return x @ self.bases_[kind] if kind in self.bases_ else x

    def only(self, names: Sequence[str]) -> NodeBlocks:
        """The same transformer for some of its blocks."""
        fewer = clone(self)
        fewer.kinds_, fewer.label_kind_, fewer.names_ = self.kinds_, self.label_kind_, list(names)
        used = {_parse(name)[0] for name in names}
        fewer.features_ = {kind: features for kind, features in self.features_.items() if kind in used}
        fewer.bases_ = {kind: basis for kind, basis in self.bases_.items() if kind in used}
        fewer.centres_ = {name: self.centres_[name] for name in names if name in self.centres_}
        fewer.scales_ = {name: self.scales_[name] for name in names if name in self.scales_}
        return fewer

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that was fitted: what JSON can hold, and arrays."""
        check_is_fitted(self, "names_")
        config = {
            "params": self.get_params(), "kinds": self.kinds_, "names": self.names_, "label_kind": self.label_kind_,
            "features": {kind: features.state() for kind, features in self.features_.items()},
        }  # fmt: skip
        fitted = {"basis": self.bases_, "centre": self.centres_, "scale": self.scales_}
        return config, {f"{what} {name}": value for what, found in fitted.items() for name, value in found.items()}

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NodeBlocks:
        """The transformer that `state` came from."""
        blocks = cls(**config["params"])
        blocks.kinds_, blocks.names_ = config["kinds"], config["names"]
        blocks.label_kind_ = config["label_kind"]
        blocks.features_ = {kind: NodeFeatures.from_state(state) for kind, state in config["features"].items()}
        blocks.bases_, blocks.centres_, blocks.scales_ = (
            inside(arrays, what) for what in ("basis ", "centre ", "scale ")
        )
        return blocks


def principal_components(centred: np.ndarray) -> np.ndarray:
    """A map [q, 96] onto the axes along which rows [S, q] vary most; onto all of them where q is smaller."""
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return np.ascontiguousarray(vectors[:, ::-1][:, :MOST_COLUMNS], dtype=np.float32)


def available_kinds(graphs: Graphs) -> list[str]:
    """Kinds of blocks that these graphs can have; one column for each of thousands of labels is left to "wl"."""
    lacking = {"attributes"} if graphs.x is None else set()
    if graphs.labels is None or sum(len(np.unique(column)) for column in graphs.labels.T) > _MOST_LABELS:
        lacking.add("labels")
    return [kind for kind in KINDS if kind not in lacking]


def _label_kind(graphs: Graphs) -> str:
    """What the labels of nodes are, in words: labels of another kind have other codes."""
    if graphs.labels is None:
        return "no labels"
    kind = "strings" if graphs.labels.dtype.kind in "USO" else "whole numbers"
    return f"{graphs.labels.shape[1]} label(s) each, {kind}"


def _parse(name: str) -> tuple[str, int]:
    kind, _, number = name.partition("@")
    if kind not in KINDS or not number.isdigit():
        raise ValueError(f"unknown block {name!r}: use one of {', '.join(KINDS)} with @ and a number, as in 'wl@2'")
    return kind, int(number)


def _tree_columns(hashes: np.ndarray, n_columns: int) -> sparse.csr_array:
    """A one in the column that a tree's name falls into [S, n_columns]."""
    columns = (hashes >> np.uint64(32)) % np.uint64(n_columns)
    count = len(hashes)
    ones = np.ones(count, dtype=np.float32)
    return sparse.csr_array((ones, columns.astype(np.int64), np.arange(count + 1)), shape=(count, n_columns))


def _degree_columns(degrees: np.ndarray) -> np.ndarray:
    """One column for each degree up to 32, then one for every quarter more; 60 columns reach 10^4 [S, columns]."""
    large = _EXACT_DEGREES + np.ceil(np.log(np.maximum(degrees, 1) / _EXACT_DEGREES) / np.log(1.25))
    place = np.where(degrees <= _EXACT_DEGREES, degrees, large).astype(int)
    columns = np.zeros((len(degrees), _EXACT_DEGREES + 48), dtype=np.float32)
    columns[np.arange(len(degrees)), np.minimum(place, columns.shape[1] - 1)] = 1.0
    return columns
