"""What nodes carry and was not measured, NaN, is filled with the mean of the fitted graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np

from .._core.schema import Saved, array
from .collection import Graphs


class NodeMeans(Saved):
    """Means of node features over the nodes of the fitted graphs that have them.

    Attributes
    ----------
    means : ndarray [q] or None
        0 for a column that no node has; None where nodes carry no features.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> fitted = as_graphs([(edge, np.array([[1.0, np.nan], [3.0, 5.0]]))], missing="mean")
    >>> NodeMeans.of(fitted).fill(fitted).x
    array([[1., 5.],
           [3., 5.]])
    """

    means: Annotated[np.ndarray, array("q")] | None = None

    @classmethod
    def of(cls, graphs: Graphs) -> NodeMeans:
        """Those of the graphs."""
        if graphs.x is None:
            return cls()
        there = ~np.isnan(graphs.x)
        sums = np.where(there, graphs.x, 0.0).sum(0, dtype=np.float64)
        return cls(sums / np.maximum(there.sum(0), 1))

    def fill(self, graphs: Graphs) -> Graphs:
        """The graphs with these means in place of NaN; graphs without gaps stay as they are."""
        if graphs.x is None or self.means is None or not (gaps := np.isnan(graphs.x)).any():
            return graphs
        if graphs.x.shape[1] != len(self.means):
            raise ValueError(f"nodes carry {graphs.x.shape[1]} features, those that were fitted {len(self.means)}")
        return replace(graphs, x=np.where(gaps, self.means.astype(graphs.x.dtype), graphs.x))
