"""Support vector classification on a metric between graphs."""

from __future__ import annotations

import warnings
from copy import copy
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from ..graphs import Graphs
from ..metrics.base import FoldView
from .calibration import probabilities
from .fold_distances import ReferenceFolds, typical_distance
from .held_out import calibrated, judged
from .predictor import ClassesFromGraphs, MetricPredictor, streamed
from .settings import SVC, check_weighted_classes, weights_of_classes
from .state import ChosenSVC

if TYPE_CHECKING:
    import sklearn.svm

_GAMMAS = (0.3, 1.0, 3.0)  # divided by the median distance
_COSTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_AHEAD = 1e-8  # by how much the score of the predicted class is larger, at least
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
        As in `sklearn.svm.SVC`; γ and C are chosen by the accuracy with these weights. With None, by accuracy; where a
        class is rare, by AUC, and classes are balanced, which probabilities and predictions make up for.

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
        """γ and C with the best score on graphs held out, and probabilities from their scores."""
        objective, codes = self._objective()
        views = folds.views(objective, codes)
        typical = typical_distance(views)
        gammas = [gamma / typical for gamma in _GAMMAS] if isinstance(self.gamma, str) else [float(self.gamma)]
        costs = _COSTS if isinstance(self.C, str) else (float(self.C),)
        tests = [view.test for view in views]
        classes = np.unique(self.y_)
        scorer, targets = self._scorer(), [codes[test] for test in tests]
        balanced = self.class_weight is None and scorer.ranks  # else nearly all decisions are alike
        class_weight = "balanced" if balanced else weights_of_classes(self.class_weight, classes)
        weights = compute_sample_weight(class_weight, self.y_)
        best: tuple[tuple[float, float], dict[str, Any], float, float, Any] = ((-np.inf, 0.0), {}, 1.0, 1.0, None)
        for gamma, cost in product(gammas, costs):
            scores = [_held_out(view, self.y_, gamma, cost, class_weight) for view in views]
            found = judged(scorer, scores, targets)
            right = np.concatenate([objective.output_scores(*pair) for pair in zip(scores, targets, strict=True)])
            accuracy = float(np.average(right, weights=weights[np.concatenate(tests)]))
            if self.class_weight is not None:
                found |= {"held_out_score": accuracy, "scored_by": "weighted accuracy"}
            how_good = round(found["held_out_score"], 9), round(accuracy, 9)  # of those that rank alike, the more exact
            if how_good > best[0]:
                best = (how_good, found, gamma, cost, scores)
        _, found, gamma, cost, scores = best
        calibrator = calibrated(objective, views, scores, codes)
        return {"gamma": gamma, "C": cost, "balanced": balanced, **found, "calibrator": calibrator}

    def _check_chosen(self, chosen: dict[str, Any]) -> None:
        super()._check_chosen(chosen).calibrator.check(1, len(np.unique(self.y_)))

    def _complete(self) -> None:
        """Fits the SVM; on loading it is fitted again instead of being saved."""
        from sklearn.svm import SVC  # here, because it is slow to import and other predictors do not need it

        self.gamma_, self.C_ = float(self.chosen_["gamma"]), float(self.chosen_["C"])
        kernel = np.exp(-self.gamma_ * self._distances(self.embedded_).astype(float))
        class_weight = weights_of_classes(self.class_weight, np.unique(self.y_))
        class_weight = "balanced" if self.chosen_["balanced"] else class_weight
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

    def predict(self, graphs: Any) -> np.ndarray:
        """The most likely class [N]; with `class_weight`, that of the SVM, which may be another one."""
        return self.predict_with_shares(graphs)[0]

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], calibrated on graphs held out in `fit`.

        With more than two classes, they grow with the mean decision for a class against the others, and the class that
        the SVM predicts is the most likely one, unless classes are rare.
        """
        return self.predict_with_shares(graphs)[1]

    @streamed
    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both; the graphs are compared once."""
        kernel = self._kernel(graphs)
        found = probabilities(_scores(self.svc_, kernel), self.chosen_["calibrator"])
        if self.class_weight is not None:
            return self.svc_.predict(kernel), found
        return self.classes_[found.argmax(1)], found

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config, tensors = super()._state()
        if isinstance(self.class_weight, dict):  # keys of JSON are strings
            config["params"]["class_weight"] = [[one, float(weight)] for one, weight in self.class_weight.items()]
        return config, tensors


def _held_out(view: FoldView, y: np.ndarray, gamma: float, cost: float, class_weight: Any) -> np.ndarray:
    """Scores of the graphs held out in a fold [H, C], see `_scores`; −inf for classes that no other graph is of."""
    from sklearn.svm import SVC

    classes, seen = np.unique(y), np.unique(y[view.train])
    scores = np.zeros((len(view.test), len(seen)))
    if len(seen) > 1:
        model = SVC(C=cost, kernel="precomputed", class_weight=class_weight)
        _fit(model, np.exp(-gamma * view.within.astype(float)), y[view.train])
        scores = _scores(model, np.exp(-gamma * view.across.astype(float)))
    wide = np.full((len(view.test), len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, seen)] = scores
    return wide


def _fit(svc: sklearn.svm.SVC, kernel: np.ndarray, y: np.ndarray) -> None:
    """Fits an SVM without the warning that there are many classes: they are read, and checked, before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MANY_CLASSES, UserWarning)
        svc.fit(kernel, y)


def _scores(svc: sklearn.svm.SVC, kernel: np.ndarray) -> np.ndarray:
    """What probabilities are made of: scores of the classes [N, C]; of two, half of the decision for each.

    The score of a class is the mean decision for it, against each other class. `decision_function` counts votes
    instead, which hardly say by how much they were won: one slope does not make probabilities of them. The predicted
    class is the one with most votes. Where another one has the largest score, as for one of fifty graphs, the two
    exchange theirs, so that the predicted class is the most likely one.
    """
    n_classes = len(svc.classes_)
    if n_classes == 2:
        decisions = svc.decision_function(kernel)[:, None]
        return decisions * np.array([-0.5, 0.5])
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
