"""Node features: from what a graph carries to one matrix, by a fitted rule that new graphs go through unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._core.fields import FieldError, choice, labels, list_of, number, optional, record, whole
from ..graphs.collection import Graphs
from ..graphs.convert import as_graphs

FEATURE_KINDS = ("auto", "x", "attributes", "labels", "degree", "fuse")
_MOST = 1_000_000  # columns in a file: more are damage

# What is fitted for each kind, and what files may hold of it.
_FITTED = {
    "x": ("n_attributes_",),
    "attributes": ("n_attributes_", "mean_", "scale_"),
    "labels": ("label_values_",),
    "degree": ("max_degree_",),
    "fuse": ("n_attributes_", "mean_", "scale_", "label_values_"),
}
_FIELDS = {
    "n_attributes_": whole(0, _MOST), "max_degree_": whole(1, _MOST), "mean_": list_of(number()),
    "scale_": list_of(optional(number(0, above=True))), "label_values_": list_of(labels(1), 1),
}  # fmt: skip

_ROUNDING = 1e-12  # deviation of a constant column, relative to its largest value


class NodeFeatures(TransformerMixin, BaseEstimator):
    """Makes the feature matrix of graphs.

    Parameters
    ----------
    kind : {"auto", "x", "attributes", "labels", "degree", "fuse"}
        - "x": the features as they are;
        - "attributes": the features with mean 0 and variance 1 per column, over the nodes seen in `fit`;
        - "labels": one column per node label (one-hot, a block for each label a node carries);
        - "degree": one column per degree 1, 2, … up to the largest seen in `fit`;
        - "fuse": attributes and labels side by side;
        - "auto": "x" where graphs have features, else "labels" where they have labels, else "degree".

    Attributes
    ----------
    kind_ : str
        What "auto" turned out to be.
    width_ : int
        Number of columns q.
    mean_, scale_ : ndarray [q]
        For "attributes" and "fuse".
    label_values_ : list of ndarray
        For "labels" and "fuse": which value each column of each block stands for. Whole numbers from 0 up have a column
        for every number up to the largest.
    max_degree_ : int
        For "degree".

    Notes
    -----
    What was not seen in `fit`: a new label gives zeros in its block; a larger degree counts as the largest. A node
    without neighbours has zeros for its degree. A column that never varies becomes 0 when standardised.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> NodeFeatures("degree").fit_transform([(adjacency, None)]).x
    array([[0., 1.],
           [1., 0.],
           [1., 0.]], dtype=float32)
    """

    def __init__(self, kind: str = "auto") -> None:
        self.kind = kind

    def fit(self, graphs: Any, y: Any = None) -> NodeFeatures:
        """Learns columns and statistics from graphs (anything `as_graphs` takes)."""
        if self.kind not in FEATURE_KINDS:
            raise ValueError(f"unknown features {self.kind!r}: use one of {', '.join(map(repr, FEATURE_KINDS))}")
        collection = as_graphs(graphs)
        self.kind_ = self.kind
        if self.kind == "auto":
            self.kind_ = "x" if collection.x is not None else "labels" if collection.labels is not None else "degree"
        x, labels = self._carried(collection)
        if self.kind_ == "degree":
            self.max_degree_ = max(1, int(collection.degrees.max()))
        if x is not None:
            self.n_attributes_ = x.shape[1]
        if x is not None and self.kind_ != "x":
            self.mean_, spread = x.mean(0, dtype=np.float64), x.std(0, dtype=np.float64)
            self.scale_ = np.where(spread <= _ROUNDING * np.abs(x).max(0), np.inf, spread)
        if labels is not None:
            self.label_values_ = [_values(column) for column in labels.T]
        self.width_ = self.columns_
        return self

    def transform(self, graphs: Any) -> Graphs:
        """The graphs with the feature matrix as their `x` [S, `width_`]."""
        check_is_fitted(self, "width_")
        collection = as_graphs(graphs)
        x, labels = self._carried(collection)
        if x is not None and x.shape[1] != self.n_attributes_:
            raise ValueError(f"graphs have {x.shape[1]} node features, the metric was fitted with {self.n_attributes_}")
        if labels is not None and labels.shape[1] != len(self.label_values_):
            raise ValueError(
                f"nodes carry {labels.shape[1]} labels, the metric was fitted with {len(self.label_values_)}"
            )
        if labels is not None and labels.dtype.kind != self.label_values_[0].dtype.kind:
            raise ValueError("node labels are of another type than those the metric was fitted with")
        if x is not None and self.kind_ == "x":
            return collection if x.dtype == np.float32 else replace(collection, x=x.astype(np.float32))
        blocks = [] if x is None else [((x - self.mean_) / self.scale_).astype(np.float32)]
        if self.kind_ == "degree":
            blocks.append(_one_hot(np.minimum(collection.degrees, self.max_degree_) - 1, self.max_degree_))
        for column, values in () if labels is None else zip(labels.T, self.label_values_, strict=True):
            index = np.minimum(np.searchsorted(values, column), len(values) - 1)
            blocks.append(_one_hot(np.where(values[index] == column, index, -1), len(values)))
        return replace(collection, x=np.concatenate(blocks, axis=1), columns=None)

    def _carried(self, graphs: Graphs) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Attributes [S, q] and labels [S, L] of the nodes, None for what this kind does not use, or a clear error."""
        x = graphs.x if self.kind_ in ("x", "attributes", "fuse") else None
        labels = graphs.labels if self.kind_ in ("labels", "fuse") else None
        if x is None and self.kind_ in ("x", "attributes", "fuse"):
            raise ValueError(f"features={self.kind_!r}, but the graphs have no node features")
        if labels is None and self.kind_ in ("labels", "fuse"):
            raise ValueError(f"features={self.kind_!r}, but the graphs have no node labels")
        return x, labels

    def state(self) -> dict[str, Any]:
        """All that was fitted, as plain lists and numbers."""
        check_is_fitted(self, "width_")
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
        return {"kind": self.kind, **{name: _plain(value) for name, value in fitted.items()}}

    @property
    def columns_(self) -> int:
        """How many columns `transform` makes, from what was fitted."""
        if self.kind_ == "degree":
            return self.max_degree_
        values = self.label_values_ if self.kind_ in ("labels", "fuse") else []
        return sum(map(len, values)) + (0 if self.kind_ == "labels" else self.n_attributes_)

    @classmethod
    def from_state(cls, state: Any) -> NodeFeatures:
        """The transformer that `state` came from, or a :class:`FieldError`."""
        kind = state.get("kind_") if isinstance(state, dict) else None
        fitted = {name: _FIELDS[name] for name in _FITTED.get(kind if isinstance(kind, str) else "", ())}
        head = {"kind": choice(FEATURE_KINDS), "kind_": choice(_FITTED), "width_": whole(0, _MOST)}
        state = record({**head, **fitted})(state, "features")
        if state["kind"] not in ("auto", state["kind_"]):
            raise FieldError("features.kind_", f"is {state['kind_']!r}, but kind is {state['kind']!r}")
        for name in ("mean_", "scale_"):
            if name in state and len(state[name]) != state["n_attributes_"]:
                raise FieldError(f"features.{name}", f"has {len(state[name])} numbers for {state['n_attributes_']}")
        features = cls(state["kind"])
        for name, value in state.items():
            if name in ("mean_", "scale_"):
                value = np.array([np.inf if v is None else v for v in value], dtype=float)
            elif name == "label_values_":
                value = [np.array(values) for values in value]
                if any(not np.array_equal(values, np.unique(values)) for values in value):
                    raise FieldError("features.label_values_", "must ascend, each label once")
            setattr(features, name, value)
        if features.width_ < features.columns_:
            raise FieldError("features.width_", f"is {features.width_}, but there are {features.columns_} columns")
        return features


def _values(column: np.ndarray) -> np.ndarray:
    """What the columns of a one-hot block stand for, ascending."""
    if column.dtype.kind == "i" and column.min() >= 0:
        if column.max() > 100_000:
            raise ValueError(f"node labels up to {column.max()}: use numbers from 0 up, or strings, for few labels")
        return np.arange(column.max() + 1)
    return np.unique(column)


def _one_hot(column: np.ndarray, width: int) -> np.ndarray:
    """Rows with a 1 in these columns [S], zeros where the column is negative [S, width], float32."""
    block = np.zeros((len(column), width), dtype=np.float32)
    rows = np.flatnonzero(column >= 0)
    block[rows, column[rows]] = 1.0
    return block


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [None if isinstance(v, float) and not np.isfinite(v) else v for v in value.tolist()]
    return [_plain(v) for v in value] if isinstance(value, list) else value
