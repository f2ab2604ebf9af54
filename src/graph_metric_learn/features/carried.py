"""Blocks of what nodes carry: attributes and labels."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from .._core.schema import Saved, array, check_choice, read
from ..graphs.collection import Graphs
from ..linalg.principal_axes import MAX_COLUMNS, principal_components
from .block_kind import SmoothBlock
from .node_features import NodeFeatures

_MAX_LABELS = 256  # with more different labels, one column for each is left to the codes of trees


class _Basis(Saved):
    basis: Annotated[np.ndarray, array("q r")] | None = None


class _Carried(SmoothBlock):
    """A matrix of features by a fitted rule."""

    kind: str
    basis: np.ndarray | None = None  # [q, 96]

    def fit(self, graphs: Graphs, sample: Graphs) -> _Carried:
        self.features = NodeFeatures(self.kind).fit(graphs)
        return self

    def start(self, graphs: Graphs) -> np.ndarray:
        x = self.features.transform(graphs).x
        assert x is not None
        return x if self.basis is None else x @ self.basis

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.features.state(), {} if self.basis is None else {"basis": self.basis}

    def set_state(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.features = NodeFeatures.from_state(config)
        check_choice("features.kind_", self.features.kind_, [self.kind])
        self.basis = read(_Basis, arrays, q=self.features.columns_).basis

    def widths(self) -> tuple[int, ...]:
        return (self.features.columns_ if self.basis is None else self.basis.shape[1],)


class Attributes(_Carried):
    """Attributes, standardised; more than 96 columns are reduced to principal components."""

    kind = "attributes"

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return "attributes of nodes" if graphs.x is None else None

    def fit(self, graphs: Graphs, sample: Graphs) -> Attributes:
        super().fit(graphs, sample)
        if self.features.width_ > MAX_COLUMNS:
            wide = super().start(sample)
            self.basis = principal_components(wide - wide.mean(0))
        return self


class Labels(_Carried):
    """Labels, one column for each that occurs."""

    kind = "labels"

    @classmethod
    def lacks(cls, graphs: Graphs) -> str | None:
        return "labels of nodes" if graphs.labels is None else None

    @classmethod
    def worth_trying(cls, graphs: Graphs) -> bool:
        return graphs.labels is not None and sum(len(np.unique(c)) for c in graphs.labels.T) <= _MAX_LABELS

    def fit(self, graphs: Graphs, sample: Graphs) -> Labels:
        super().fit(graphs, sample)
        assert graphs.labels is not None
        self.features.label_values_ = [np.unique(column) for column in graphs.labels.T]  # only labels that occur
        return self
