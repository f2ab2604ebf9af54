"""Support vector classification on a metric between graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from .base import ClassesFromGraphs, MetricPredictor, labelled_graphs


class GraphSVC(ClassesFromGraphs, MetricPredictor):
    """Support vector classification of graphs with the kernel exp(−γ d) of a learned metric.

    The kernel is positive definite for every γ > 0: the distance is Euclidean between embedded graphs.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        See :class:`GraphKNNClassifier`.
    gamma : float
        γ.
    C : float
        Cost of errors, as in `sklearn.svm.SVC`.

    Attributes
    ----------
    svc_ : sklearn.svm.SVC
        Fitted on the kernel matrix.
    """

    def __init__(self, metric: Any = None, gamma: float = 1.0, C: float = 1.0) -> None:
        self.metric = metric
        self.gamma = gamma
        self.C = C

    def fit(self, graphs: Any, y: Any = None) -> GraphSVC:
        """Learns the metric, then the classifier."""
        for name in ("gamma", "C"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}")
        given, y = labelled_graphs(self.metric, graphs, y)
        self._fit_metric(given, y)
        self._refer_to(given, y)
        self._complete()
        return self

    def _complete(self) -> None:
        """Fits the SVM; on loading it is fitted again instead of being saved."""
        kernel = np.exp(-self.gamma * self._distances(self.embedded_).astype(float))
        self.svc_ = SVC(C=self.C, kernel="precomputed").fit(kernel, self.y_)
        self.classes_ = self.svc_.classes_

    def _kernel(self, graphs: Any) -> np.ndarray:
        check_is_fitted(self, "svc_")
        distances = self._distances(self.metric_.embed(graphs), self.embedded_)
        return np.exp(-self.gamma * distances.astype(float))

    def decision_function(self, graphs: Any) -> np.ndarray:
        """As `sklearn.svm.SVC`."""
        kernel = self._kernel(graphs)
        return self.svc_.decision_function(kernel)

    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        kernel = self._kernel(graphs)
        return self.svc_.predict(kernel)
