"""What edges carry as one matrix, by a fitted rule: labels one-hot, vectors and weights standardised."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.schema import FieldError, Labels, Number, Positive, Saved, check_labels, join, or_infinite, or_none, read
from ..graphs.collection import Graphs
from .block_kind import Block

MAX_LABELS = 64  # with more different labels, one column for each is left to the codes of trees


class EdgeFeaturesState(Saved):
    """What files hold of :class:`EdgeFeatures`."""

    labels: list[Labels]
    mean: list[Number]
    scale: list[Positive | None]  # None: of a column that never varies

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.scale):
            raise FieldError("scale", f"has {len(self.scale)} numbers for {len(self.mean)}")
        for labels in self.labels:
            check_labels("labels", labels)


class EdgeFeatures:
    """A row for each arc of `Graphs.edge_data`.

    Attributes
    ----------
    label_values : list of ndarray
        Which label each one-hot column stands for, for every label an edge carries; those with too many are left out.
    mean, scale : ndarray [q]
        Of the vectors, and of the weights after them; a column that never varies has an infinite scale.
    """

    def fit(self, graphs: Graphs) -> EdgeFeatures:
        """Learns columns and statistics from the edges of graphs."""
        data = graphs.edge_data
        values = [] if data is None or data.labels is None else [np.unique(column) for column in data.labels.T]
        self.label_values = [distinct if len(distinct) <= MAX_LABELS else distinct[:0] for distinct in values]
        numbers = _numbers(graphs)
        self.mean, spread = np.zeros((2, numbers.shape[1]))
        if len(numbers):
            self.mean, spread = numbers.mean(0), numbers.std(0)
        self.scale = np.where(spread <= 1e-12 * np.abs(numbers).max(0, initial=0.0), np.inf, spread)
        return self

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(map(len, self.label_values)) + len(self.mean)

    def transform(self, graphs: Graphs) -> np.ndarray:
        """Features of all arcs [A, width], float64."""
        data = graphs.edge_data
        if data is None or not data.ends.shape[1]:
            return np.zeros((0, self.width))
        columns, numbers = () if data.labels is None else tuple(data.labels.T), _numbers(graphs)
        if len(columns) != len(self.label_values) or numbers.shape[1] != len(self.mean):
            raise ValueError("edges carry other labels, vectors or weights than those that were fitted")
        codes = [column[:, None] == values for column, values in zip(columns, self.label_values, strict=True)]
        return np.concatenate([*codes, (numbers - self.mean) / self.scale], axis=1, dtype=np.float64)

    def state(self) -> dict[str, Any]:
        """All that was fitted, as JSON can hold it."""
        labels = [values.tolist() for values in self.label_values]
        return {"labels": labels, "mean": self.mean.tolist(), "scale": or_none(self.scale)}

    @classmethod
    def from_state(cls, state: Any) -> EdgeFeatures:
        """The rule that `state` came from, or a :class:`FieldError`."""
        saved, features = read(EdgeFeaturesState, state, "edge_features"), cls()
        features.label_values = [np.array(values) for values in saved.labels]
        features.mean, features.scale = np.array(saved.mean, dtype=float), or_infinite(saved.scale)
        return features


class OfEdgeFeatures(Block):
    """What blocks share that are made of :class:`EdgeFeatures`."""

    scaling = "apart"
    needs_edges = True

    def fit(self, graphs: Graphs, sample: Graphs) -> OfEdgeFeatures:
        self.features = EdgeFeatures().fit(graphs)
        return self

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.features.state(), {}

    def set_state(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.features = EdgeFeatures.from_state(join(config, arrays))


def _numbers(graphs: Graphs) -> np.ndarray:
    """Vectors and weights of all arcs [A, q], float64."""
    data = graphs.edge_data
    if data is None:
        return np.zeros((0, 0))
    weights = None if data.weights is None else data.weights[:, None]
    parts = [part for part in (data.x, weights) if part is not None]
    return np.concatenate([np.zeros((data.ends.shape[1], 0)), *parts], axis=1)
