"""Kernel ridge regression on a metric between graphs: numbers, and classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._core.schema import FieldError
from ..linalg.ridge import fit_ridge, known_means
from ..metrics.base import FoldView
from ..objectives import Numbers
from ..objectives.classes import elected_output
from .calibration import label_probabilities, probabilities
from .fold_distances import ReferenceFolds, typical_distance
from .held_out import calibrated, judged
from .predictor import ClassesFromGraphs, MetricPredictor, NumbersFromGraphs, classes_of, streamed
from .state import ChosenRidge, ChosenRidgeClasses

_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


class _Ridge(MetricPredictor):
    """Outputs of a regression: the metric's own where it has one, else one on the kernel exp(−d² / median d²)."""

    _chosen_type: ClassVar[Any] = ChosenRidge
    weights_: np.ndarray | None

    def __init__(self, metric: Any = None, memory: Any = None) -> None:
        self.metric = metric
        self.memory = memory

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """The penalty, by folds, unless the metric has chosen it; and the score on graphs held out."""
        objective, target = self._objective()
        views = folds.views(objective, target)
        chosen: dict[str, Any]
        if self._own and self.metric_.regression_task == self.task_:  # its folds say what it predicts for them
            chosen = {"own": True}
            predicted = [self._as_outputs(view.scores) for view in views]
        else:
            outputs = objective.outputs(target)
            scale = typical_distance(views) ** 2
            tried = {penalty: [_predicted(view, outputs, scale, penalty) for view in views] for penalty in _PENALTIES}

            def error(penalty: float) -> float:
                parts = zip(views, tried[penalty], strict=True)
                errors = [(outputs[view.test] - part) ** 2 for view, part in parts]
                return float(np.mean([np.nanmean(one) for one in errors if np.isfinite(one).any()]))

            penalty = min(_PENALTIES, key=error)
            chosen, predicted = {"own": False, "scale": scale, "penalty": penalty}, tried[penalty]
        tests = [view.test for view in views]
        chosen |= judged(self._scorer(), predicted, [target[test] for test in tests])
        return chosen | self._calibrated(views, predicted)

    def _as_outputs(self, scores: Any) -> np.ndarray:
        """What the metric's own regression says [N, T], as outputs of this one."""
        raise NotImplementedError

    def _calibrated(self, views: list[FoldView], outputs: list[np.ndarray]) -> dict[str, Any]:
        """What else is learned from outputs of graphs held out, fold by fold."""
        return {}

    def _check_chosen(self, chosen: dict[str, Any]) -> Any:
        saved = super()._check_chosen(chosen)
        metric: Any = self.metric_
        if saved.own:
            fits = metric.regression_task == self.task_ and hasattr(metric, "learned_")
            if fits and self.task_ == "classes":
                fits = np.isin(metric.classes_, self.y_).all()
            elif fits:
                fits = metric.learned_.alpha.shape[1] == self.y_[0].size
            if not fits:
                raise FieldError("own", "is true, but the metric has no regression for these targets")
        return saved

    def _complete(self) -> None:
        """Fits the regression, where the metric has none; on loading it is fitted again instead of being saved."""
        self.weights_ = None
        objective, target = self._objective()
        if not self.chosen_["own"]:
            outputs = objective.outputs(target)
            self.mean_ = known_means(outputs)
            kernel = np.exp(-(self._distances(self.embedded_).astype(float) ** 2) / self.chosen_["scale"])
            self.weights_ = fit_ridge(kernel, outputs - self.mean_, self.chosen_["penalty"])

    def _outputs(self, graphs: Any) -> np.ndarray:
        """Predicted outputs [N, T]."""
        if self.weights_ is None:
            return self._as_outputs(self.metric_.scores(graphs))  # type: ignore[attr-defined]  # it has learned them
        distances = self._distances(self.metric_.embed(graphs), self.embedded_).astype(float)
        return np.exp(-(distances**2) / self.chosen_["scale"]) @ self.weights_ + self.mean_


class GraphRidge(NumbersFromGraphs, _Ridge):
    """Kernel ridge regression of numbers per graph.

    With a `GraphMetric` it is the regression that the metric has learned, in closed form; with others, a regression on
    the kernel exp(−d² / median d²) of the metric.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNRegressor`.

    Attributes
    ----------
    metric_, embedded_, y_, names_
        See :class:`GraphKNNRegressor`.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 24)]
    >>> model = gml.GraphRidge(gml.GraphMetric(random_state=0)).fit(graphs, [n + 0.5 for n in range(4, 24)])
    >>> bool(abs(model.predict([nx.cycle_graph(12)])[0] - 12.5) < 1)
    True
    """

    def _as_outputs(self, scores: Any) -> np.ndarray:
        """In units of the reference graphs: of very many, the metric has seen some only."""
        numbers = self.metric_.objective_.decode(scores)  # type: ignore[attr-defined]
        return Numbers.of(self.y_)[0].encoded(numbers)

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """Numbers [N] or [N, T]."""
        return self._decided(self._outputs(graphs))[0]

    def _decided(self, outputs: np.ndarray) -> tuple[np.ndarray, None]:
        """What is predicted where the regression has these outputs [N, T]."""
        return self._objective()[0].decode(outputs), None


class GraphRidgeClassifier(ClassesFromGraphs, _Ridge):
    """Classification by kernel ridge regression on the classes: see :class:`GraphRidge`.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNClassifier`.

    Attributes
    ----------
    metric_, embedded_, y_, names_
        See :class:`GraphKNNClassifier`.
    classes_ : ndarray or list of ndarray
        See :class:`GraphKNNClassifier`.
    """

    _chosen_type = ChosenRidgeClasses
    _takes_labels = True

    def _as_outputs(self, scores: Any) -> np.ndarray:
        """With a column of zeros for each class that the metric has not seen: of very many graphs it looks at some."""
        if self.y_.ndim == 2:
            return scores
        classes = np.unique(self.y_)
        outputs = np.zeros((len(scores), len(classes)))
        outputs[:, np.searchsorted(classes, self.metric_.classes_)] = scores  # type: ignore[attr-defined]
        return outputs

    def _calibrated(self, views: list[FoldView], outputs: list[np.ndarray]) -> dict[str, Any]:
        objective, target = self._objective()
        return {"calibrator": calibrated(objective, views, outputs, target)}

    def _check_chosen(self, chosen: dict[str, Any]) -> None:
        count = self.y_.shape[1] if self.y_.ndim == 2 else len(np.unique(self.y_))
        super()._check_chosen(chosen).calibrator.check(count if self.y_.ndim == 2 else 1, count)

    def _complete(self) -> None:
        super()._complete()
        self.classes_ = classes_of(self.y_)

    @streamed
    def decision_function(self, graphs: Any) -> np.ndarray:
        """Outputs of the classes [N, C]; for two classes, second minus first [N]. Outputs of several labels [N, T]."""
        outputs = self._outputs(graphs)
        return outputs[:, 1] - outputs[:, 0] if self.y_.ndim == 1 and outputs.shape[1] == 2 else outputs

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], or of each label [N, T], calibrated on graphs held out in `fit`."""
        return self.predict_with_shares(graphs)[1]

    def predict(self, graphs: Any) -> np.ndarray:
        """The most likely class [N]; of several labels, whether each is likely, 0 or 1 [N, T]."""
        return self.predict_with_shares(graphs)[0]

    @streamed
    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both; the graphs are compared once."""
        return self._decided(self._outputs(graphs))

    def _decided(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What `predict` and `predict_proba` return where the regression has these outputs [N, T]."""
        calibrator = self.chosen_["calibrator"]
        if self.y_.ndim == 2:
            found = label_probabilities(outputs, calibrator)
            return (found > 0.5).astype(np.int64), found
        found = probabilities(outputs, calibrator)
        return self.classes_[elected_output(found)], found


def predicted_by_scores(head: GraphRidge | GraphRidgeClassifier, scores: np.ndarray) -> np.ndarray:
    """What a ridge predictor predicts for graphs with these scores [N, T] of the metric's own regression."""
    return head._decided(head._as_outputs(scores))[0]


def _predicted(view: FoldView, outputs: np.ndarray, scale: float, penalty: float) -> np.ndarray:
    """Outputs of the test graphs of a fold [H, T], by a regression on its training graphs."""
    mean = known_means(outputs[view.train])
    kernel = np.exp(-(view.within.astype(float) ** 2) / scale)
    weights = fit_ridge(kernel, outputs[view.train] - mean, penalty)
    return np.exp(-(view.across.astype(float) ** 2) / scale) @ weights + mean
