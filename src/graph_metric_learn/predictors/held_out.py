"""What is found out on graphs held out: how good predictions are, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metrics.base import FoldView
from ..objectives import Classes, Objective, SeveralLabels
from ..objectives.scoring import Scorer
from .calibration import as_of_all, calibrate, calibrate_labels


def judged(scorer: Scorer, outputs: Sequence[np.ndarray], targets: Sequence[np.ndarray]) -> dict[str, Any]:
    """The score of predicted outputs [H, T] of graphs held out, fold by fold, its standard error, and its name.

    Of an AUC A of n rare graphs, the error is √(A (1 − A) / n), which it is at most where others are many.
    """
    pairs = [(output, _where_predicted(target, output)) for output, target in zip(outputs, targets, strict=True)]
    found = [scorer.of_outputs(output, target) for output, target in pairs]
    total = sum(weight for _, weight in found)
    score = sum(one * weight for one, weight in found) / max(total, 1e-300) if total else 0.5
    if scorer.ranks:
        error = np.sqrt(max(score * (1 - score), 0.0) / max(total, 1.0))
    else:
        scores = np.concatenate([scorer.objective.output_scores(*pair) for pair in pairs])
        error = scores.std() / np.sqrt(len(scores))
    return {"held_out_score": float(score), "held_out_error": float(error), "scored_by": scorer.words}


def _where_predicted(target: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Targets; of tables [H, T] those entries alone that something was predicted for."""
    return target if target.ndim == 1 else np.where(np.isfinite(outputs), target, np.nan)


def class_counts(objective: Objective, target: np.ndarray) -> np.ndarray:
    """How many graphs there are of each class [C]; or with each label 0 and 1 [2, T]."""
    if isinstance(objective, SeveralLabels):
        return np.stack([(target == value).sum(0) for value in (0, 1)])
    assert isinstance(objective, Classes)
    return np.bincount(target, minlength=len(objective.classes_))


def calibrated(
    objective: Objective, views: Sequence[FoldView], outputs: Sequence[np.ndarray], target: np.ndarray
) -> dict[str, Any]:
    """How sure outputs [H, T] of graphs held out are, fold by fold; the target [N] is of all graphs.

    A fold says nothing of a class that all its training graphs lack.
    """
    counts, truth = class_counts(objective, target), target[np.concatenate([view.test for view in views])]
    if truth.ndim == 2:
        return calibrate_labels(np.concatenate(outputs), truth, counts)
    classes = np.arange(len(counts))
    scores = [
        np.where(np.isin(classes, target[view.train]), output, -np.inf)
        for view, output in zip(views, outputs, strict=True)
    ]
    return calibrate(np.concatenate(scores), truth, counts)


def votes_of_all(objective: Objective, shares: np.ndarray, train: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Shares of votes [H, T] of the graphs `train` [M], as if all had voted: these may hold more of a rare class."""
    if target.ndim == 2:
        return shares
    return as_of_all(shares, class_counts(objective, target), class_counts(objective, target[train]))
