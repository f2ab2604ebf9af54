"""Support vector classification on a metric between graphs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..metrics.base import FoldView
from ..objectives import Classes
from .base import ClassesFromGraphs, MetricPredictor
from .calibration import calibrate, probabilities
from .fold_distances import typical_distance
from .settings import SVC, check_settings
from .streaming import streamed

_GAMMAS = (0.3, 1.0, 3.0)  # divided by the median distance
_COSTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def _is_calibrated(model: GraphSVC) -> bool:
    return "calibrator" in getattr(model, "chosen_", {"calibrator": None})


class GraphSVC(ClassesFromGraphs, MetricPredictor):
    """Support vector classification of graphs with the kernel exp(−γ d) of a learned metric.

    The kernel is positive definite for every γ > 0: the distance is Euclidean between embedded graphs.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        See :class:`GraphKNNClassifier`.
    gamma : float or "auto"
        γ; "auto" is 0.3, 1 or 3 divided by the median distance, chosen by folds.
    C : float or "auto"
        Cost of errors, as in `sklearn.svm.SVC`; "auto" is one of 0.3, 1, 3, 10, 30 and 100, chosen by folds.
    class_weight : dict, "balanced" or None
        As in `sklearn.svm.SVC`; γ and C are chosen by the accuracy with these weights.
    memory : str or joblib.Memory, optional
        Where fitted metrics are kept, so that a search over the other settings fits each of them once.

    Attributes
    ----------
    svc_ : sklearn.svm.SVC
        Fitted on the kernel matrix.
    gamma_, C_ : float
        What "auto" turned out to be.
    """

    def __init__(
        self, metric: Any = None, gamma: Any = "auto", C: Any = "auto", class_weight: Any = None, memory: Any = None
    ) -> None:
        self.metric = metric
        self.gamma = gamma
        self.C = C
        self.class_weight = class_weight
        self.memory = memory

    def _check_options(self) -> None:
        check_settings(self, SVC)

    def _choose(self, groups: Any) -> dict[str, Any]:
        """γ and C with the best accuracy on graphs held out, and probabilities from their scores."""
        objective = Classes()
        objective.classes_, codes = np.unique(self.y_, return_inverse=True)
        folds = self._folds(objective, codes, groups)
        typical = typical_distance(folds)
        gammas = [gamma / typical for gamma in _GAMMAS] if isinstance(self.gamma, str) else [float(self.gamma)]
        costs = _COSTS if isinstance(self.C, str) else (float(self.C),)
        held = np.concatenate([fold.held for fold in folds])
        weights = compute_sample_weight(self.class_weight, self.y_)[held]
        best: tuple[float, float, float, Any] = (-1.0, 1.0, 1.0, None)
        for gamma, cost in product(gammas, costs):
            predicted, decisions = _held_out(folds, self.y_, gamma, cost, self.class_weight)
            right = float(np.average(predicted == self.y_[held], weights=weights))
            if right > best[0] + 1e-9:
                best = (right, gamma, cost, decisions)
        right, gamma, cost, decisions = best
        calibrator = calibrate(decisions, codes[held], len(objective.classes_))
        return {"gamma": gamma, "C": cost, "held_out_score": right, "calibrator": calibrator}

    def _complete(self) -> None:
        """Fits the SVM; on loading it is fitted again instead of being saved."""
        from sklearn.svm import SVC  # here, because it is slow to import and other predictors do not need it

        self.gamma_ = float(self.chosen_.get("gamma", self.gamma))
        self.C_ = float(self.chosen_.get("C", self.C))
        kernel = np.exp(-self.gamma_ * self._distances(self.embedded_).astype(float))
        self.svc_ = SVC(C=self.C_, kernel="precomputed", class_weight=self.class_weight).fit(kernel, self.y_)
        self.classes_ = self.svc_.classes_

    def _kernel(self, graphs: Any) -> np.ndarray:
        check_is_fitted(self, "svc_")
        distances = self._distances(self.metric_.embed(graphs), self.embedded_)
        return np.exp(-self.gamma_ * distances.astype(float))

    @streamed
    def decision_function(self, graphs: Any) -> np.ndarray:
        """As `sklearn.svm.SVC`."""
        kernel = self._kernel(graphs)
        return self.svc_.decision_function(kernel)

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        kernel = self._kernel(graphs)
        return self.svc_.predict(kernel)

    @available_if(_is_calibrated)
    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], calibrated on graphs held out in `fit`.

        Models saved by versions without probabilities have no such method.
        """
        decisions = self.decision_function(graphs)
        return probabilities(decisions, self.chosen_["calibrator"])

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config, tensors = super()._state()
        if isinstance(self.class_weight, dict):  # keys of JSON are strings
            config["params"]["class_weight"] = [[one, float(weight)] for one, weight in self.class_weight.items()]
        return config, tensors


def _held_out(
    folds: list[FoldView], y: np.ndarray, gamma: float, cost: float, class_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Predicted classes of the graphs held out, fold by fold [H], and their decisions [H] or [H, C]."""
    from sklearn.svm import SVC

    classes, predictions, decisions = np.unique(y), [], []
    for fold in folds:
        known = np.unique(y[fold.known])
        if len(known) == 1:  # all others are held out together
            predicted, found = np.repeat(known, len(fold.held)), np.zeros(len(fold.held))
        else:
            model = SVC(C=cost, kernel="precomputed", class_weight=class_weight)
            model.fit(np.exp(-gamma * fold.within.astype(float)), y[fold.known])
            kernel = np.exp(-gamma * fold.across.astype(float))
            predicted, found = model.predict(kernel), model.decision_function(kernel)
        predictions.append(predicted)
        if len(known) < len(classes):
            found = _for_all_classes(found, known, classes)
        decisions.append(found)
    return np.concatenate(predictions), np.concatenate(decisions)


def _for_all_classes(decisions: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Decisions of an SVM that has seen the known classes alone, in the form of one that has seen all.

    >>> _for_all_classes(np.array([0.5, -0.2]), np.array([0, 2]), np.arange(3))
    array([[-0.5, -1.5,  0.5],
           [ 0.2, -1.5, -0.2]])
    """
    columns = decisions if decisions.ndim == 2 else np.stack([-decisions, decisions], axis=1)[:, -len(known) :]
    wide = np.full((len(decisions), len(classes)), float(columns.min()) - 1.0)
    wide[:, np.searchsorted(classes, known)] = columns
    return wide if len(classes) > 2 else (wide[:, 1] - wide[:, 0])
