"""What graphs of an explorer are and what they are predicted to be, without ever predicting a graph from itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...graphs import Graphs
from ...metrics.base import BaseGraphMetric
from ...objectives import Numbers
from ...objectives.classes import elected_output
from ...objectives.numbers import as_numbers
from ...objectives.targets import given_targets, is_missing, task_of
from ...objectives.votes import class_votes, elected, neighbor_sums, weighted_votes
from ...predictors.base import MetricPredictor
from ...predictors.fold_distances import own_fold_views
from ...predictors.ridge import GraphRidge, GraphRidgeClassifier
from ...transport import Embedded, kneighbors, pairwise_distances

_N_NEIGHBORS = 5  # that vote where the model does not say how many
_MOST_IN_FOLDS = 5000  # training graphs whose predictions by folds are looked up
_ROWS = 500  # graphs whose distances to all others are held at once
_SAME = 1e-5  # share of the typical distance below which two graphs are the same


@dataclass
class Targets:
    """Targets of graphs as the page takes them.

    Attributes
    ----------
    kind : {"classes", "numbers", "none"}
    classes : list of str
        Where the kind is "classes".
    values, predicted : ndarray [N] or None
        Numbers of classes, −1 for none; or numbers, NaN for none.
    how : ndarray [N]
        Which sentence of `words` says where the prediction of a graph comes from; −1 where there is none.
    words : list of str
    honest : list of bool
        For each sentence, whether the target of the graph was unknown to what predicted it.
    known : ndarray [N] of bool or None
        Whether the model was fitted to the graph, where that can be told.
    """

    kind: str = "none"
    classes: list[str] = field(default_factory=list)
    values: np.ndarray | None = None
    predicted: np.ndarray | None = None
    how: np.ndarray | None = None
    words: list[str] = field(default_factory=list)
    honest: list[bool] = field(default_factory=list)
    known: np.ndarray | None = None

    @property
    def wrong(self) -> np.ndarray:
        """Graphs of another class than predicted [N]."""
        if self.kind != "classes" or self.values is None or self.predicted is None:
            return np.zeros(0 if self.values is None else len(self.values), dtype=bool)
        return (self.values >= 0) & (self.predicted >= 0) & (self.values != self.predicted)


def read_targets(model: Any, given: Graphs, embedded: Embedded, y: Any) -> Targets:
    """Targets of the graphs and predictions for them.

    Parameters
    ----------
    model : fitted metric or predictor
    given : Graphs
        As read by the metric.
    embedded : Embedded [N]
        The graphs in the space of the metric.
    y : array [N] or None
        Targets; from the graphs when None.
    """
    truth = given_targets(given, y)
    if truth is not None and truth.ndim == 2:
        truth = truth[:, 0]  # of several numbers, the first
    head = model if isinstance(model, MetricPredictor) else None
    if head is None and truth is None:
        return Targets()
    kind = _kind(model, truth)
    if truth is not None and kind == "numbers":
        truth = as_numbers(truth)
    found = Targets(kind)
    if head is not None:
        predicted, how, words, known = _by_head(head, given, embedded)
        found.words, found.how, found.known = words, how, known
        found.honest = [True, True, False][: len(words)]
    else:
        assert truth is not None
        predicted, how, words = _left_out_of_all(model, embedded, truth, kind)
        found.words, found.how, found.honest = words, how, [False]
    if kind == "numbers":
        found.values = truth
        found.predicted = np.where(how >= 0, predicted.astype(float), np.nan)
        return found
    labels = [part.tolist() for part in (truth, predicted[how >= 0]) if part is not None]
    different = {one for part in labels for one in part if not is_missing(one)}
    texts = sorted(different, key=lambda one: (isinstance(one, str), one))
    place = {one: i for i, one in enumerate(texts)}
    found.classes = [str(one) for one in texts]
    if truth is not None:
        found.values = np.array([place.get(one, -1) for one in truth.tolist()])
    codes = [place[one] if there >= 0 else -1 for one, there in zip(predicted.tolist(), how, strict=True)]
    found.predicted = np.array(codes)
    return found


def _kind(model: Any, truth: np.ndarray | None) -> str:
    """Whether targets are classes or numbers: as the model was fitted, else by how they look."""
    if isinstance(model, MetricPredictor):
        return "numbers" if model.task == "numbers" else "classes"
    if isinstance(getattr(model, "objective_", None), Numbers):
        return "numbers"
    return "numbers" if task_of(truth) == "numbers" else "classes"


def _by_head(
    head: MetricPredictor, given: Graphs, embedded: Embedded
) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
    """Predictions [N], which sentence says how each came about, these sentences, and which graphs the model knows."""
    metric = head.metric_
    if not hasattr(head, "y_") or len(head.y_) != len(head.embedded_) or not hasattr(head, "metric_"):
        raise ValueError(f"{type(head).__name__} cannot be explored: pass its metric_ and y")
    clusters = hasattr(head, "n_clusters")
    if clusters:
        everyone = np.asarray(head.predict(given))  # type: ignore[attr-defined]
        words = ["the number of its cluster"]
        return everyone, np.zeros(len(given), dtype=int), words, np.ones(len(given), dtype=bool)
    device = metric.place(embedded)
    nearest, reference = kneighbors(embedded, head.embedded_, n_neighbors=1, device=device, progress=False)
    some = np.arange(min(200, len(head.embedded_)))
    typical = float(np.mean(pairwise_distances(head.embedded_[some], device=device, progress=False)))
    known = nearest[:, 0] <= max(_SAME * typical, metric.rounding)
    chosen = getattr(head, "head_", head)
    k = int(getattr(chosen, "n_neighbors_", _N_NEIGHBORS))
    predicted = np.empty(len(given), dtype=object if head.y_.dtype.kind in "US" else head.y_.dtype)
    target = head.y_ if head.y_.ndim == 1 else head.y_[:, 0]
    how = np.full(len(given), -1)
    words = [
        "that of the model, which has not seen this graph",
        "",
        f"the vote of the {k} nearest reference graphs, without itself and its copies; the metric has seen its target, "
        "so this is optimistic",
    ]
    new = np.flatnonzero(~known)
    if len(new):
        found = np.asarray(head.predict(given[new]))  # type: ignore[attr-defined]
        predicted[new], how[new] = found if found.ndim == 1 else found[:, 0], 0
    folds = own_fold_views(head, _MOST_IN_FOLDS)
    by_row, words[1] = _by_folds(head, folds, target, k)
    for i in np.flatnonzero(known):
        if int(reference[i, 0]) in by_row:
            predicted[i], how[i] = by_row[int(reference[i, 0])], 1
    left = np.flatnonzero(how < 0)
    for start in range(0, len(left), _ROWS):
        rows = left[start : start + _ROWS]
        distances = pairwise_distances(embedded[rows], head.embedded_, device=device, progress=False)
        distances[distances <= max(_SAME * typical, metric.rounding)] = np.inf
        predicted[rows], how[rows] = vote(distances, target, k, head.task, weighted=_weighs(chosen)), 2
    return predicted, how, words, known


def _weighs(head: Any) -> bool:
    """Whether nearer neighbours count more."""
    return getattr(head, "weights", "distance") == "distance"


def _by_folds(head: MetricPredictor, folds: list[Any], target: np.ndarray, k: int) -> tuple[dict[int, Any], str]:
    """Predictions of reference graphs by their numbers, each by a metric that was fitted without it, and how."""
    found: dict[int, Any] = {}
    by_scores = isinstance(getattr(head, "head_", head), (GraphRidge, GraphRidgeClassifier))
    objective = getattr(head.metric_, "objective_", None)
    for fold in folds:
        if by_scores and fold.scores is not None and objective is not None:
            codes = fold.scores if isinstance(objective, Numbers) else elected_output(fold.scores)
            values = objective.decode(codes)
            values = values if values.ndim == 1 else values[:, 0]
        else:
            by_scores = False
            values = vote(fold.across, target[fold.known], k, head.task, weighted=_weighs(getattr(head, "head_", head)))
        found |= dict(zip(fold.held.tolist(), values.tolist(), strict=True))
    by = "the regression" if by_scores else f"the vote of its {k} nearest neighbours"
    return found, f"held out: by {by} of a metric that was learned without this graph (five folds)"


def _left_out_of_all(
    metric: BaseGraphMetric, embedded: Embedded, truth: np.ndarray, kind: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Each graph by its nearest among all others on the page."""
    known = np.flatnonzero([not is_missing(one) for one in truth.tolist()])
    k = min(int(getattr(getattr(metric, "choice_", None), "n_neighbors", _N_NEIGHBORS)), len(known) - 1)
    words = [
        f"the vote of the {k} nearest other graphs of this page; if the metric was fitted to these graphs, it has seen "
        "their targets, and this is optimistic"
    ]
    predicted, how = truth.astype(object), np.full(len(truth), -1)
    if k < 1:
        return predicted, how, words
    voters = truth[known].astype(float) if kind == "numbers" else truth[known]
    device, place = metric.place(embedded), np.full(len(truth), -1)
    place[known] = np.arange(len(known))
    for start in range(0, len(truth), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(truth)))
        distances = pairwise_distances(embedded[rows], embedded[known], device=device, progress=False)
        own = np.flatnonzero(place[rows] >= 0)
        distances[own, place[rows[own]]] = np.inf
        predicted[rows], how[rows] = vote(distances, voters, k, kind), 0
    return predicted, how, words


def vote(distances: np.ndarray, target: np.ndarray, k: int, task: str, *, weighted: bool = True) -> np.ndarray:
    """The class with the most votes of the k nearest [H], or the mean of those that have a number; as k-NN does it.

    NaN where no graph has a number.

    >>> vote(np.array([[1.0, 2.0, 9.0]]), np.array(["ring", "star", "star"]), 2, "classes")
    array(['ring'], dtype='<U4')
    >>> vote(np.array([[1.0, 2.0, 9.0]]), np.array([3.0, 0.0, 7.0]), 2, "numbers")
    array([2.])
    """
    if task == "numbers":
        known = np.isfinite(target)
        if not known.any():
            return np.full(len(distances), np.nan)
        values = np.stack([target[known], np.ones(known.sum())], axis=1)
        sums = neighbor_sums(distances[:, known], values, (k,), weighted=weighted)[:, 0]
        return np.where(sums[:, 1] > 0, sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], 1.0), target[known].mean())
    classes, codes = np.unique(target, return_inverse=True)
    votes = (weighted_votes if weighted else class_votes)(distances, codes, len(classes), (k,))
    return classes[elected(votes[:, 0])]
