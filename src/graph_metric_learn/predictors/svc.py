"""Support vector classification on a metric between graphs."""

from __future__ import annotations

import warnings
from copy import copy
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET
from sklearn.utils.class_weight import compute_sample_weight

from .._core.schema import FieldError
from ..graphs import Graphs
from ..metrics.base import FoldView
from .calibration import calibrate, probabilities
from .fold_distances import ReferenceFolds, typical_distance
from .predictor import ClassesFromGraphs, MetricPredictor, streamed
from .settings import SVC, check_weighted_classes, weights_of_classes
from .state import ChosenSVC

if TYPE_CHECKING:
    import sklearn.svm

_GAMMAS = (0.3, 1.0, 3.0)  # divided by the median distance
_COSTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_AHEAD = 1e-9  # by how much the score of the predicted class is larger, at least
_MANY_CLASSES = "The number of unique classes is greater than 50% of the number of samples"  # as scikit-learn warns


class GraphSVC(ClassesFromGraphs, MetricPredictor):
    """Support vector classification of graphs with the kernel exp(−γ d) of a learned metric.

    The kernel is positive definite for every γ > 0: the distance is Euclidean between embedded graphs.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNClassifier`.
    gamma : float or "auto"
        γ; "auto" is 0.3, 1 or 3 divided by the median distance, chosen by folds.
    C : float or "auto"
        Cost of errors, as in `sklearn.svm.SVC`; "auto" is one of 0.3, 1, 3, 10, 30 and 100, chosen by folds.
    class_weight : dict, "balanced" or None
        As in `sklearn.svm.SVC`; γ and C are chosen by the accuracy with these weights.

    Attributes
    ----------
    svc_ : sklearn.svm.SVC
        Fitted on the kernel matrix.
    gamma_, C_ : float
        What "auto" turned out to be.
    """

    _settings = SVC
    _chosen_type = ChosenSVC

    def __init__(
        self, metric: Any = None, gamma: Any = "auto", C: Any = "auto", class_weight: Any = None, memory: Any = None
    ) -> None:
        self.metric = metric
        self.gamma = gamma
        self.C = C
        self.class_weight = class_weight
        self.memory = memory

    def _checked(self, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
        graphs, y = super()._checked(graphs, y)
        check_weighted_classes(self.class_weight, np.unique(y))
        return graphs, y

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """γ and C with the best accuracy on graphs held out, and probabilities from their scores."""
        objective, codes = self._objective()
        views = folds.views(objective, codes)
        typical = typical_distance(views)
        gammas = [gamma / typical for gamma in _GAMMAS] if isinstance(self.gamma, str) else [float(self.gamma)]
        costs = _COSTS if isinstance(self.C, str) else (float(self.C),)
        test = np.concatenate([view.test for view in views])
        classes = np.unique(self.y_)
        class_weight = weights_of_classes(self.class_weight, classes)
        weights = compute_sample_weight(class_weight, self.y_)[test]
        best: tuple[float, float, float, Any] = (-1.0, 1.0, 1.0, None)
        for gamma, cost in product(gammas, costs):
            predicted, scores = _held_out(views, self.y_, gamma, cost, class_weight)
            right = float(np.average(predicted == self.y_[test], weights=weights))
            if right > best[0] + 1e-9:
                best = (right, gamma, cost, scores)
        right, gamma, cost, scores = best
        calibrator = calibrate(scores, codes[test], len(classes))
        if scores.ndim == 2:
            calibrator["scores"] = "pairs"  # that they are means of decisions between two classes, see `_scores`
        return {"gamma": gamma, "C": cost, "held_out_score": right, "calibrator": calibrator}

    def _check_chosen(self, chosen: dict[str, Any]) -> None:
        calibrator, n_classes = super()._check_chosen(chosen).calibrator, len(np.unique(self.y_))
        calibrator.check(1 if n_classes == 2 else n_classes, n_classes)
        if (calibrator.scores is UNSET) != (n_classes == 2):
            raise FieldError("calibrator.scores", "is missing" if n_classes > 2 else "is not known")

    def _complete(self) -> None:
        """Fits the SVM; on loading it is fitted again instead of being saved."""
        from sklearn.svm import SVC  # here, because it is slow to import and other predictors do not need it

        self.gamma_, self.C_ = float(self.chosen_["gamma"]), float(self.chosen_["C"])
        kernel = np.exp(-self.gamma_ * self._distances(self.embedded_).astype(float))
        class_weight = weights_of_classes(self.class_weight, np.unique(self.y_))
        self.svc_ = SVC(C=self.C_, kernel="precomputed", class_weight=class_weight)
        _fit(self.svc_, kernel, self.y_)
        self.classes_ = self.svc_.classes_

    def _kernel(self, graphs: Any) -> np.ndarray:
        distances = self._distances(self.metric_.embed(graphs), self.embedded_)
        return np.exp(-self.gamma_ * distances.astype(float))

    @streamed
    def decision_function(self, graphs: Any) -> np.ndarray:
        """Of two classes, decisions for the second [N]; of more, votes of the classes [N, C], as `sklearn.svm.SVC`."""
        return self.svc_.decision_function(self._kernel(graphs))

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        return self.svc_.predict(self._kernel(graphs))

    @streamed
    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], calibrated on graphs held out in `fit`.

        With more than two classes, they grow with the mean decision for a class against the others, and the predicted
        class is the most likely one.
        """
        return probabilities(_scores(self.svc_, self._kernel(graphs)), self.chosen_["calibrator"])

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config, tensors = super()._state()
        if isinstance(self.class_weight, dict):  # keys of JSON are strings
            config["params"]["class_weight"] = [[one, float(weight)] for one, weight in self.class_weight.items()]
        return config, tensors


def _held_out(
    views: list[FoldView], y: np.ndarray, gamma: float, cost: float, class_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Predicted classes of the graphs held out, fold by fold [H], and their `_scores` [H] or [H, C]."""
    from sklearn.svm import SVC

    classes, predictions, scores = np.unique(y), [], []
    for view in views:
        seen = np.unique(y[view.train])
        if len(seen) == 1:  # all others are held out together
            predictions.append(np.repeat(seen, len(view.test)))
            decisions = np.zeros(len(view.test))
        else:
            model = SVC(C=cost, kernel="precomputed", class_weight=class_weight)
            _fit(model, np.exp(-gamma * view.within.astype(float)), y[view.train])
            kernel = np.exp(-gamma * view.across.astype(float))
            predictions.append(model.predict(kernel))
            decisions = _scores(model, kernel)
        scores.append(decisions if len(seen) == len(classes) else _for_all_classes(decisions, seen, classes))
    return np.concatenate(predictions), np.concatenate(scores)


def _fit(svc: sklearn.svm.SVC, kernel: np.ndarray, y: np.ndarray) -> None:
    """Fits an SVM without the warning that there are many classes: they are read, and checked, before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MANY_CLASSES, UserWarning)
        svc.fit(kernel, y)


def _scores(svc: sklearn.svm.SVC, kernel: np.ndarray) -> np.ndarray:
    """What probabilities are made of: decisions of an SVM of two classes [N]; of more, scores of the classes [N, C].

    The score of a class is the mean decision for it, against each other class. `decision_function` counts votes
    instead, which hardly say by how much they were won: one slope does not make probabilities of them. The predicted
    class is the one with most votes. Where another one has the largest score, as for one of fifty graphs, the two
    exchange theirs, so that the predicted class is the most likely one.
    """
    n_classes = len(svc.classes_)
    if n_classes == 2:
        return svc.decision_function(kernel)
    by_pairs = copy(svc).set_params(decision_function_shape="ovo").decision_function(kernel)
    won = by_pairs > 0
    first, second = np.triu_indices(n_classes, 1)
    scores, votes = np.empty((2, len(kernel), n_classes))
    for one in range(n_classes):
        for_it, against_it = first == one, second == one
        scores[:, one] = (by_pairs[:, for_it].sum(1) - by_pairs[:, against_it].sum(1)) / (n_classes - 1)
        votes[:, one] = won[:, for_it].sum(1) + (~won[:, against_it]).sum(1)
    rows, elected, best = np.arange(len(kernel)), votes.argmax(1), scores.argmax(1)
    scores[rows, best], scores[rows, elected] = scores[rows, elected], scores[rows, best] + _AHEAD
    return scores


def _for_all_classes(scores: np.ndarray, seen: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Scores by an SVM that has seen some of the classes alone, in the form of one that has seen all.

    Classes that it has not seen have −inf; of two classes, the one that it has seen wins by 1.

    >>> _for_all_classes(np.array([0.5, -0.25]), np.array([0, 2]), np.arange(3))
    array([[-0.5 ,  -inf,  0.5 ],
           [ 0.25,  -inf, -0.25]])
    """
    columns = scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1)[:, -len(seen) :]
    lost = -np.inf if len(classes) > 2 else -1.0
    wide = np.full((len(scores), len(classes)), lost)
    wide[:, np.searchsorted(classes, seen)] = columns
    return wide if len(classes) > 2 else (wide[:, 1] - wide[:, 0])
