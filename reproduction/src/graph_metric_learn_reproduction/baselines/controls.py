"""Control baselines: a distance without transport or learning, and a classifier that ignores the graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from graph_metric_learn.graphs import Graphs

from .base import DescriptorSystem, System
from .structure import node_features


class MeanPool(DescriptorSystem):
    """The mean of the node features; edges are ignored.

    >>> no_edges = np.zeros((2, 2))
    >>> MeanPool().distances([(no_edges, np.array([[0.0], [2.0]])), (no_edges, np.array([[3.0], [5.0]]))])
    array([[0., 3.],
           [3., 0.]])
    """

    name = "mean-pool"

    def describe(self, graphs: Graphs) -> np.ndarray:
        """Means [N, q]."""
        return np.add.reduceat(node_features(graphs), graphs.offsets[:-1]) / graphs.sizes[:, None]


class LargestClass(System):
    """Predicts the most frequent class of the training graphs; of equally frequent ones the first.

    >>> LargestClass().fit([None] * 3, ["ring", "star", "star"]).predict([None] * 2)
    array(['star', 'star'], dtype='<U4')
    """

    name = "largest-class"

    def fit(self, graphs: Any, y: Any) -> LargestClass:
        """Counts the classes y [N]."""
        self.model_ = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), y)
        return self

    def predict(self, graphs: Any) -> np.ndarray:
        """The same class for each graph [N]."""
        return self.model_.predict(np.zeros((len(graphs), 1)))
