"""Distances between graphs held out and graphs known, for choosing what comes after a metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics.base import BaseGraphMetric, FoldView
from ..objectives import Objective
from ..transport import Embedded, pairwise_distances

N_FOLDS = 5
MOST = 2000  # graphs that settings are chosen on, at most


def fold_distances(
    metric: BaseGraphMetric,
    embedded: Embedded,
    objective: Objective,
    target: np.ndarray,
    groups: Any = None,
    *,
    own: bool,
) -> list[FoldView]:
    """Five folds of the reference graphs, of at most 2000 of them.

    A metric that has learned scores knows the targets of the graphs it was fitted to (`own`: these here); it says
    itself what it would be without a fold, see :meth:`BaseGraphMetric.fold_views`. For others, the folds are of the
    embedded graphs as they are.
    """
    views = metric.fold_views(MOST) if own else None
    if views:
        return views
    rng = np.random.default_rng(0)
    some = objective.subsample(target, MOST, rng)
    folds = objective.folds(target[some], N_FOLDS, rng, None if groups is None else np.asarray(groups)[some])
    distances = pairwise_distances(embedded[some], device=metric.place(embedded), progress=False)
    found = []
    for fold in np.unique(folds):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(known) and len(held):
            within, across = distances[np.ix_(known, known)], distances[np.ix_(held, known)]
            found.append(FoldView(some[known], some[held], within, across, None))
    return found


def typical_distance(folds: list[FoldView]) -> float:
    """The median distance among known graphs; their mean where most are copies of each other; never 0."""
    within = folds[0].within
    return float(np.median(within)) or float(np.mean(within)) or 1.0
