"""What the graphs of an explorer are and what they are predicted to be; no graph is ever predicted from itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...graphs import Graphs
from ...metrics.base import BaseGraphMetric
from ...objectives import Numbers
from ...objectives.numbers import as_numbers
from ...objectives.targets import given_targets, is_missing, task_of
from ...objectives.votes import class_votes, elected, neighbor_sums
from ...predictors.fold_distances import own_fold_views
from ...predictors.predictor import MetricPredictor, target_titles
from ...predictors.ridge import GraphRidge, GraphRidgeClassifier, predicted_by_scores
from ...transport import Embedded, kneighbors, pairwise_distances

_N_NEIGHBORS = 5  # that vote where the model does not say how many
_MOST_IN_FOLDS = 5000  # training graphs whose predictions by folds are looked up
_ROWS = 500  # graphs whose distances to all others are held at once
_SAME = 1e-5  # share of the typical distance below which two graphs are the same
_N_TYPICAL = 200  # reference graphs that the typical distance is of
_UNSEEN, _HELD_OUT, _LEFT_OUT = range(3)  # where predictions of a predictor come from: sentences by these indices


@dataclass
class Targets:
    """Targets of graphs as the page takes them: indices of classes, −1 for none; or numbers, NaN for none."""

    kind: str = "none"  # or "classes" or "numbers"
    classes: list[str] = field(default_factory=list)
    values: np.ndarray | None = None  # [N]
    predicted: np.ndarray | None = None  # [N]
    origin: np.ndarray | None = None  # [N] which sentence says where a prediction comes from; −1 where there is none
    sentences: list[str] = field(default_factory=list)
    unbiased: list[bool] = field(default_factory=list)  # by sentence: was the target unknown to what predicted it?
    fitted: np.ndarray | None = None  # [N] whether the model was fitted to the graph, where that can be told

    @property
    def wrong(self) -> np.ndarray:
        """Graphs of another class than predicted [N]."""
        if self.kind != "classes" or self.values is None or self.predicted is None:
            return np.zeros(0 if self.values is None else len(self.values), dtype=bool)
        return (self.values >= 0) & (self.predicted >= 0) & (self.values != self.predicted)


def read_targets(
    model: BaseGraphMetric | MetricPredictor, graphs: Graphs, embedded: Embedded, y: Any, label: str | int | None = None
) -> Targets:
    """Targets of graphs, and predictions for them.

    The graphs come as the metric has read them, and `embedded` [N] by it; `y` [N] are from the graphs when None. Of
    several labels or numbers [N, T] one is shown, by its name or place; the first when None.
    """
    truth = given_targets(graphs, y)
    column = column_of(model, truth, label)
    if truth is not None and truth.ndim == 2:
        is_table = task_of(truth) == "labels"
        truth = truth[:, column]
        if is_table:
            truth = np.array([None if is_missing(one) else int(one) for one in truth.tolist()], dtype=object)
    if truth is None and not isinstance(model, MetricPredictor):
        return Targets()
    if isinstance(model, MetricPredictor):
        return encoded(truth, _by_predictor(model, graphs, embedded, column))
    assert truth is not None
    return encoded(truth, _left_out_of_all(model, embedded, truth))


def column_of(model: Any, truth: np.ndarray | None, label: str | int | None) -> int:
    """The place of one of several labels or numbers, those of a model or of the graphs."""
    if label is None:
        return 0
    titles = target_titles(model)
    if not titles and truth is not None and truth.ndim == 2:
        titles = [str(place) for place in range(truth.shape[1])]
    if str(label) in titles:
        return titles.index(str(label))
    if isinstance(label, int) and 0 <= label < len(titles):
        return label
    raise ValueError(f"there is no label {label!r} to show; there are {', '.join(titles) or 'no several labels'}")


def encoded(truth: np.ndarray | None, targets: Targets) -> Targets:
    """Targets with their true values, classes as indices; what comes in has predictions, if any, as they were made."""
    predicted = None
    if targets.predicted is not None and targets.origin is not None:
        predicted = np.where(targets.origin >= 0, targets.predicted.astype(object), np.array(None))
    if targets.kind == "numbers":
        values = None if truth is None else as_numbers(truth)
        return replace(targets, values=values, predicted=None if predicted is None else predicted.astype(float))
    labels = {label for part in (predicted, truth) if part is not None for label in part.tolist()}
    ordered = sorted((one for one in labels if not is_missing(one)), key=lambda label: (isinstance(label, str), label))
    codes = {label: code for code, label in enumerate(ordered)}
    indices = [None if p is None else np.array([codes.get(one, -1) for one in p.tolist()]) for p in (truth, predicted)]
    return replace(targets, classes=[str(label) for label in ordered], values=indices[0], predicted=indices[1])


def _by_predictor(predictor: Any, graphs: Graphs, embedded: Embedded, column: int) -> Targets:
    """New graphs by the predictor itself; those it was fitted to by folds, or without themselves."""
    kind = "numbers" if predictor.task == "numbers" else "classes"
    if not hasattr(predictor, "y_") or len(predictor.y_) != len(predictor.embedded_):
        raise ValueError(f"{type(predictor).__name__} cannot be explored: pass its metric_ and y")
    if hasattr(predictor, "n_clusters"):
        clusters, same_for_all = np.asarray(predictor.predict(graphs)), np.zeros(len(graphs), dtype=int)
        return Targets(kind, [], None, clusters, same_for_all, ["the number of its cluster"], [True], same_for_all == 0)
    metric, references, target = predictor.metric_, predictor.embedded_, _column(predictor.y_, column)
    device = metric.place(embedded)
    some = references[np.arange(min(_N_TYPICAL, len(references)))]
    typical = float(np.mean(pairwise_distances(some, device=device, progress=False)))
    same = max(_SAME * typical, metric.rounding)  # below this, a graph is a copy of a reference graph
    nearest, rows = kneighbors(embedded, references, n_neighbors=1, device=device, progress=False)
    fitted = nearest[:, 0] <= same
    head = getattr(predictor, "head_", predictor)
    k = int(getattr(head, "n_neighbors_", _N_NEIGHBORS))
    task = predictor.task_
    by_vote = partial(vote, k=k, task=task, weighted=getattr(head, "weights", "distance") == "distance")

    whole = np.int64 if task == "labels" else target.dtype
    values = np.empty(len(graphs), dtype=object if target.dtype.kind in "US" else whole)
    origin = np.where(fitted, _LEFT_OUT, _UNSEEN)
    if not fitted.all():
        values[~fitted] = _column(np.asarray(predictor.predict(graphs[np.flatnonzero(~fitted)])), column)
    held_out, by_regression = _held_out(predictor, column, by_vote)
    for i, row in enumerate(rows[:, 0].tolist()):
        if fitted[i] and row in held_out:
            values[i], origin[i] = held_out[row], _HELD_OUT
    left = np.flatnonzero(origin == _LEFT_OUT)
    for start in range(0, len(left), _ROWS):
        part = left[start : start + _ROWS]
        distances = pairwise_distances(embedded[part], references, device=device, progress=False)
        distances[distances <= same] = np.inf
        values[part] = by_vote(distances, target)
    method = "the regression" if by_regression else f"the vote of its {k} nearest neighbours"
    sentences = [
        "that of the model, which has not seen this graph",
        f"held out: by {method} of a metric that was learned without this graph (five folds)",
        f"the vote of the {k} nearest reference graphs, without itself and its copies; the metric has seen its target, "
        "so this is optimistic",
    ]
    return Targets(kind, [], None, values, origin, sentences, [True, True, False], fitted)


def _column(values: np.ndarray, column: int) -> np.ndarray:
    return values if values.ndim == 1 else values[:, column]


def _held_out(
    predictor: MetricPredictor, column: int, by_vote: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[dict[int, Any], bool]:
    """Predictions of reference graphs by row, each by a metric fitted without it; whether a regression made them."""
    predicted: dict[int, Any] = {}
    target = _column(predictor.y_, column)
    head: Any = getattr(predictor, "head_", predictor)
    regression = isinstance(head, (GraphRidge, GraphRidgeClassifier))
    for train, test, _, across, scores in own_fold_views(predictor, _MOST_IN_FOLDS):
        known = np.full(len(test), True)
        if regression and scores is not None:
            known = known if predictor.y_.ndim == 1 else np.isfinite(scores[:, column])
            values = _column(predicted_by_scores(head, scores), column)
        else:
            regression = False
            values = by_vote(across, target[train])
        predicted |= dict(zip(test[known].tolist(), values[known].tolist(), strict=True))
    return predicted, regression


def _left_out_of_all(metric: BaseGraphMetric, embedded: Embedded, truth: np.ndarray) -> Targets:
    """Each graph by its nearest among all others on the page; classes or numbers as the metric was fitted, or look."""
    is_number = isinstance(getattr(metric, "objective_", None), Numbers) or task_of(truth) == "numbers"
    kind = "numbers" if is_number else "classes"
    labelled = np.flatnonzero([not is_missing(target) for target in truth.tolist()])
    k = min(metric.chosen_n_neighbors or _N_NEIGHBORS, len(labelled) - 1)
    values, origin = truth.astype(object), np.full(len(truth), -1)
    sentence = (
        f"the vote of the {k} nearest other graphs of this page; if the metric was fitted to these graphs, it has seen "
        "their targets, and this is optimistic"
    )
    if k >= 1:
        voters = as_numbers(truth)[labelled] if is_number else truth[labelled]
        device = metric.place(embedded)
        column = np.full(len(truth), -1)  # of a graph among those that vote
        column[labelled] = np.arange(len(labelled))
        for start in range(0, len(truth), _ROWS):
            rows = np.arange(start, min(start + _ROWS, len(truth)))
            distances = pairwise_distances(embedded[rows], embedded[labelled], device=device, progress=False)
            voting = np.flatnonzero(column[rows] >= 0)
            distances[voting, column[rows[voting]]] = np.inf
            values[rows], origin[rows] = vote(distances, voters, k, kind), 0
    return Targets(kind, [], None, values, origin, [sentence], [False])


def vote(distances: np.ndarray, target: np.ndarray, k: int, task: str, *, weighted: bool = True) -> np.ndarray:
    """The class with the most votes of the k nearest [H], or the mean of those that have a number; as k-NN does it.

    From distances [H, R] and the targets [R] of those that vote; NaN where none of these has a number.

    >>> vote(np.array([[1.0, 2.0, 9.0]]), np.array(["ring", "star", "star"]), 2, "classes")
    array(['ring'], dtype='<U4')
    >>> vote(np.array([[1.0, 2.0, 9.0]]), np.array([3.0, 0.0, 7.0]), 2, "numbers")
    array([2.])
    """
    if task == "numbers":
        finite = np.isfinite(target)
        if not finite.any():
            return np.full(len(distances), np.nan)
        values = np.stack([target[finite], np.ones(finite.sum())], axis=1)
        sums, weights = neighbor_sums(distances[:, finite], values, (k,), weighted=weighted)[:, 0].T
        return np.where(weights > 0, sums / np.where(weights > 0, weights, 1.0), target[finite].mean())
    if task == "labels":
        known = np.isfinite(target)
        distances, target = distances[:, known], target[known].astype(np.int64)
    classes, codes = np.unique(target, return_inverse=True)
    votes = class_votes(distances, codes, len(classes), (k,), weighted=weighted)
    return classes[elected(votes[:, 0])]
