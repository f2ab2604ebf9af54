"""Node features: from what a graph carries to one matrix, by a fitted rule that new graphs go through unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._core.schema import FieldError, Labels, Number, Positive, Saved, check_labels, or_infinite, or_none, read
from ..graphs.collection import Graphs
from ..graphs.convert import as_graphs

FEATURE_KINDS = ("auto", "x", "attributes", "labels", "degree", "fuse")
_Width = Annotated[int, Meta(ge=0, le=1_000_000)]  # more columns in a file are damage

# What is fitted for each kind.
_FITTED = {
    "x": ("n_attributes_",),
    "attributes": ("n_attributes_", "mean_", "scale_"),
    "labels": ("label_values_",),
    "degree": ("max_degree_",),
    "fuse": ("n_attributes_", "mean_", "scale_", "label_values_"),
}
_LISTS = ("mean_", "scale_")
_ROUNDING = 1e-12  # deviation of a constant column, relative to its largest value


class FeaturesState(Saved):
    """What files hold of :class:`NodeFeatures`."""

    kind: Literal["auto", "x", "attributes", "labels", "degree", "fuse"]
    kind_: Literal["x", "attributes", "labels", "degree", "fuse"]
    width_: _Width
    n_attributes_: _Width | None = None
    max_degree_: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    mean_: list[Number] | None = None
    scale_: list[Positive | None] | None = None  # None: of a column that never varies
    label_values_: Annotated[list[Annotated[Labels, Meta(min_length=1)]], Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("auto", self.kind_):
            raise FieldError("kind_", f"is {self.kind_!r}, but kind is {self.kind!r}")
        for name in self.__struct_fields__[3:]:
            if (getattr(self, name) is None) == (name in _FITTED[self.kind_]):
                raise FieldError(name, "is missing" if name in _FITTED[self.kind_] else "is not known")
        for name in _LISTS:
            if len(getattr(self, name) or [0] * (self.n_attributes_ or 0)) != (self.n_attributes_ or 0):
                raise FieldError(name, f"has not as many numbers as there are attributes: {self.n_attributes_}")
        for labels in self.label_values_ or []:
            check_labels("label_values_", labels)


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
            counts = f"{labels.shape[1]} labels, the metric was fitted with {len(self.label_values_)}"
            raise ValueError(f"nodes carry {counts}")
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
        reads_x, reads_labels = (name in _FITTED[self.kind_] for name in ("n_attributes_", "label_values_"))
        for reads, values, what in ((reads_x, graphs.x, "features"), (reads_labels, graphs.labels, "labels")):
            if reads and values is None:
                raise ValueError(f"features={self.kind_!r}, but the graphs have no node {what}")
        return graphs.x if reads_x else None, graphs.labels if reads_labels else None

    def state(self) -> dict[str, Any]:
        """All that was fitted, as plain lists and numbers."""
        check_is_fitted(self, "width_")
        state = {"kind": self.kind, "kind_": self.kind_, "width_": self.width_}
        for name in _FITTED[self.kind_]:
            value = getattr(self, name)
            labels = isinstance(value, list)
            state[name] = [one.tolist() for one in value] if labels else or_none(value) if name in _LISTS else value
        return state

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
        saved = read(FeaturesState, state, "features")
        features = cls(saved.kind)
        features.kind_, features.width_ = saved.kind_, saved.width_
        for name in _FITTED[saved.kind_]:
            setattr(features, name, getattr(saved, name))
        if saved.mean_ is not None and saved.scale_ is not None:
            features.mean_, features.scale_ = np.array(saved.mean_, dtype=float), or_infinite(saved.scale_)
        if saved.label_values_ is not None:
            features.label_values_ = [np.array(values) for values in saved.label_values_]
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
