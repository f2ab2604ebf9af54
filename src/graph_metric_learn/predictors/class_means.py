"""Nearest class mean: a graph is of the class whose mean, in the space of the metric, is nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.schema import Saved
from ..transport.means import Means
from .predictor import ClassesFromGraphs, MetricPredictor, streamed

_SAME = 1e-9  # relative difference up to which two squared distances in float64 count as equal


class _MeansPredictor(MetricPredictor):
    """Distances to the means of groups of reference graphs."""

    means_: Means
    _chosen_type = Saved

    def _squares(self, graphs: Any) -> np.ndarray:
        """Squared distances of graphs to all means [N, K]."""
        check_is_fitted(self, "means_")
        return self.means_.squared_distances(self.metric_.embed(graphs))

    def to(self, device: Any) -> Any:
        """Moves metric, reference graphs and means to a device."""
        super().to(device)
        self._complete()
        return self


class NearestClassMean(ClassesFromGraphs, _MeansPredictor):
    """Classification by the nearest class mean, with a metric that is learned for it.

    Graphs are points of a Euclidean space, so the mean of a class has a closed form, and the distance to it is exact:
    see :class:`Means`. The cheapest of the classifiers to ask: one comparison per class.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNClassifier`.

    Attributes
    ----------
    metric_, embedded_, y_, names_, classes_
        See :class:`GraphKNNClassifier`.
    means_ : Means
        Means of the classes, in the order of `classes_`.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> clf = gml.NearestClassMean(gml.SGML(random_state=0)).fit(graphs, y)
    >>> clf.predict([nx.cycle_graph(30), nx.star_graph(30)])
    array(['ring', 'star'], dtype='<U4')
    """

    def __init__(self, metric: Any = None, memory: Any = None) -> None:
        self.metric = metric
        self.memory = memory

    def _complete(self) -> None:
        """Classes and their means."""
        self.classes_, codes = np.unique(self.y_, return_inverse=True)
        self.means_ = Means(self.embedded_, codes, len(self.classes_))

    def distances_to_means(self, graphs: Any) -> np.ndarray:
        """Distances of graphs to the means of all classes [N, C]."""
        return np.sqrt(self._squares(graphs))

    def decision_function(self, graphs: Any) -> np.ndarray:
        """Minus the squared distances to the class means [N, C]; for two classes, second minus first [N].

        For rankings and curves: these are no probabilities.
        """
        scores = -self._squares(graphs)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """The class whose mean is nearest [N]; the first of equals."""
        return self.classes_[nearest_mean(self._squares(graphs))]


def nearest_mean(squares: np.ndarray) -> np.ndarray:
    """The column with the smallest squared distance [N]; the first of those that differ by rounding only.

    >>> nearest_mean(np.array([[0.3, 0.1 + 0.2 - 1e-16], [2.0, 1.0]]))
    array([0, 1])
    """
    return (squares <= squares.min(1, keepdims=True) * (1 + _SAME)).argmax(1)
