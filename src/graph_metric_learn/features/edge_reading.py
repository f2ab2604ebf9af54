"""How edges were read in `fit`, so that new graphs are read alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
from msgspec import Meta

from .._core.schema import FieldError, Saved
from ..graphs.arcs import without_directions
from ..graphs.collection import EdgeData, Graphs
from .onehot import decoded, one_hot_columns

_Width = Annotated[int, Meta(ge=0, le=1_000_000)]  # more labels or numbers of an edge are damage


class EdgeReading(Saved, frozen=True):  # type: ignore[misc]  # Saved itself is not frozen
    """What the edges of the fitted graphs carry.

    Attributes
    ----------
    directed, weighted : bool
        Whether they have directions and weights.
    n_labels, n_vectors : int
        How many labels and how many numbers each edge carries.
    code_columns : tuple of bool
        Which of these numbers are a one-hot code, and read as one more label.
    """

    directed: bool = False
    weighted: bool = False
    n_labels: _Width = 0
    n_vectors: _Width = 0
    code_columns: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if len(self.code_columns) not in (0, self.n_vectors):
            raise FieldError("code_columns", f"must have {self.n_vectors} entries, or none")

    @classmethod
    def of(cls, graphs: Graphs) -> EdgeReading:
        """How these graphs are read."""
        data = graphs.edge_data
        if data is None:
            return cls()
        n_labels, n_vectors = (0 if part is None else part.shape[1] for part in (data.labels, data.x))
        codes = one_hot_columns(data.x) if data.x is not None and len(data.x) else np.zeros(0, dtype=bool)
        return cls(data.directed, data.weights is not None, n_labels, n_vectors, tuple(codes.tolist()))

    @property
    def carries(self) -> list[str]:
        """What edges carry, in words, after one-hot codes were read as labels."""
        labelled = self.n_labels > 0 or any(self.code_columns)
        vectors = self.n_vectors > sum(self.code_columns)
        carried = {"labels": labelled, "vectors": vectors, "weights": self.weighted, "directions": self.directed}
        return [name for name, there in carried.items() if there]

    def apply(self, graphs: Graphs) -> Graphs:
        """The graphs with edges that carry what the fitted ones did, or a clear error.

        Edges without weights have weight 1; edges count both ways if those that were fitted did; weights that those had
        not are left out.
        """
        if not self.carries:
            return graphs.without_edge_data()
        data = graphs.edge_data
        if data is None:
            data = EdgeData(graphs.edges)
        elif data.directed and not self.directed:
            data = without_directions(data, int(graphs.sizes.sum()))
        count = data.ends.shape[1]
        for what, array, wanted in (("labels", data.labels, self.n_labels), ("features", data.x, self.n_vectors)):
            width = 0 if array is None else array.shape[1]
            if count and width != wanted:
                raise ValueError(f"edges carry {width} {what}, those that were fitted {wanted}")
        weights = None
        if self.weighted:
            weights = np.ones(count) if data.weights is None else data.weights
        labels, x = (data.labels, data.x) if count else (None, None)
        if x is None and self.n_vectors:
            x = np.zeros((count, self.n_vectors))
        codes = np.array(self.code_columns, dtype=bool)
        if codes.any():
            assert x is not None
            coded = decoded(x[:, codes])[:, None]
            labels = coded if labels is None else np.concatenate([labels, coded.astype(labels.dtype)], axis=1)
            x = None if codes.all() else x[:, ~codes]
        elif labels is None and self.n_labels:
            labels = np.zeros((count, self.n_labels), dtype=np.int64)
        return replace(graphs, edge_data=EdgeData(data.ends, self.directed, labels, x, weights))
