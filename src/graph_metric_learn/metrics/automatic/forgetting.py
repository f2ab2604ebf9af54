"""Distances by fold of a metric that was fitted before: without what it has learned from the graphs of the fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...features.copies import graph_hashes
from ...graphs import Graphs
from ...linalg.ridge import fit_ridge, known_means
from ..base import FoldView
from .exact import Fold
from .mixture import Mixture
from .score_weight import Held

if TYPE_CHECKING:
    from .estimator import GraphMetric


def views_without(metric: GraphMetric, graphs: Graphs, folds: np.ndarray) -> list[FoldView] | None:
    """Distances among graphs, those of each fold [N] held out: the regression is fitted anew without them.

    None if it was fitted to none of these graphs. Where all its graphs are landmarks, their targets need not be kept:
    they are (K + λ W⁻¹) α plus the mean, for weights α = (K + λ W⁻¹)⁻¹ (Y − mean). Where it was fitted to more graphs
    than landmarks, the scores are left out. What was chosen before (families, their weights, λ) stays, although these
    graphs had a say in it.
    """
    learned = metric.learned_
    if learned is None or learned.graphs is None:
        return None
    hashes = graph_hashes(graphs)
    if not np.isin(hashes, learned.graphs).any():
        return None
    mixture = metric.mixture_
    described = mixture.describer.describe(graphs)
    near = Mixture.of(mixture.describer, mixture.weights, described).kernel()
    exact = learned.n_graphs == len(learned.alpha) and learned.setting.power == 0
    across = among = targets = np.zeros((0, 0))
    if exact:
        across, among = mixture.kernel(described), mixture.kernel()
        targets = among @ learned.alpha + learned.setting.penalty * learned.alpha + learned.mean
        targets = np.where(learned.alpha != 0, targets, np.nan)
    views = []
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(train) == 0:
            continue
        scores = np.zeros((len(graphs), 1))
        if exact:
            kept = np.flatnonzero(~np.isin(learned.graphs, hashes[test]))
            mean = known_means(targets[kept])
            alpha = fit_ridge(among[np.ix_(kept, kept)], targets[kept] - mean, learned.setting.penalty)
            scores = across[:, kept] @ alpha + mean
        held = Held.of(Fold(train, test, scores, near), learned.basis.shape[1])
        weight = learned.gate.weight if exact else 0.0
        views.append(held.view(weight, np.arange(len(graphs)), len(graphs)))
    return views
