"""How predictions of graphs held out are judged: by how many are right, or by how well they rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._core.validation import one_of
from .base import Objective
from .labels import SeveralLabels
from .ranking import auc, average_precision

SCORERS = ("auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "r2")
_RARE = 0.1  # share of the graphs below which a class is rare: predicting others is nearly always right
_RANKINGS = {"roc_auc": auc, "average_precision": average_precision}
_WORDS = {"roc_auc": "AUC", "average_precision": "average precision", "balanced_accuracy": "balanced accuracy"}


class Scorer:
    """Scores of predictions for one objective; more is better.

    Parameters
    ----------
    objective : Objective
    name : str
        One of `SCORERS`, but "auto"; or "" for the mean of the scores of graphs by the objective.

    Attributes
    ----------
    ranks : bool
        Whether graphs are ranked, label by label, instead of judged one by one.
    words : str
        What the score is called in reports.
    """

    def __init__(self, objective: Objective, name: str = "") -> None:
        self.objective, self.name = objective, name
        self.ranks = name in _RANKINGS
        self.words = _WORDS.get(name, objective.score_name)

    def in_words(self, score: float) -> str:
        """A score, for reports."""
        return f"{score:.3f}" if self.ranks else self.objective.in_words(score)

    def of_outputs(self, outputs: np.ndarray, target: np.ndarray) -> tuple[float, float]:
        """Score of outputs [H, T] for graphs with these targets, and how much it counts beside that of others."""
        if not self.ranks:
            scores, weights = self.objective.output_scores(outputs, target), self._weights(target)
            return float(scores @ weights) / max(float(weights.sum()), 1e-300), float(weights.sum())
        values, weight = self._ranked(outputs[:, None, :], target)
        return float(values[0]), weight

    def of_neighbors(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = True,
    ) -> tuple[np.ndarray, float]:  # fmt: skip
        """Score by k [K] of predicting graphs from distances [H, M] to others with targets `neighbors`, and its weight.

        With `weighted`, nearer neighbours count more.
        """
        if not self.ranks:
            scores = self.objective.neighbor_scores(distances, neighbors, target, ks, weighted=weighted)
            weights = self._weights(target)
            return weights @ scores / max(float(weights.sum()), 1e-300), float(weights.sum())
        outputs = self.objective.neighbor_outputs(distances, neighbors, ks, weighted=weighted)
        return self._ranked(outputs, target)

    def _weights(self, target: np.ndarray) -> np.ndarray:
        """How much each graph counts [H]."""
        if self.name != "balanced_accuracy":
            return np.isfinite(target).sum(1) if isinstance(self.objective, SeveralLabels) else np.ones(len(target))
        counts = np.bincount(target)
        return len(target) / counts[target] / np.count_nonzero(counts)

    def _ranked(self, outputs: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, float]:
        """Mean over the labels of the score of outputs [H, S, T], by setting [S]; labels of one kind do not count."""
        truth, columns = self.objective.relevance(target)
        total, weight = np.zeros(outputs.shape[1]), 0.0
        for label, column in zip(truth.T, columns, strict=True):
            known = np.isfinite(label)
            positive = int(label[known].sum())
            pairs = min(positive, int(known.sum()) - positive)
            if pairs:
                total += pairs * _RANKINGS[self.name](outputs[known][:, :, column], label[known])
                weight += pairs
        return (total / weight if weight else np.full(len(total), 0.5)), weight


def scorer_for(scoring: str, objective: Objective, target: np.ndarray) -> Scorer:
    """A scorer by name; "auto" ranks (AUC) where a class is rarer than a tenth, else takes the score of the task."""
    one_of("scoring", scoring, SCORERS)
    if not objective.supervised:
        return Scorer(objective)
    if scoring == "auto":
        share = objective.rarest_share(target)
        return Scorer(objective, "roc_auc" if share is not None and share < _RARE else "")
    numbers = objective.rarest_share(target) is None
    if numbers != (scoring == "r2"):
        what, others = ("numbers", "'r2'") if numbers else ("classes or labels", "'accuracy' or 'roc_auc'")
        raise ValueError(f"scoring={scoring!r} is not for {what}: use {others}")
    if scoring == "balanced_accuracy" and target.ndim > 1:
        raise ValueError(f"scoring={scoring!r} is not for several labels: use 'accuracy' or 'roc_auc'")
    return Scorer(objective, scoring if scoring not in ("accuracy", "r2") else "")
