"""Distances by fold of a metric that was fitted before: without what it has learned from the graphs of the fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...features.copies import graph_hashes
from ...graphs import Graphs
from ...linalg.ridge import fit_ridge, known_means
from ..base import FoldView
from .sample import squares_without_copies
from .score_weight import Fold, fewer_columns, score_squares
from .terms import AT_ONCE, stacked

if TYPE_CHECKING:
    from .estimator import GraphMetric


def views_without(metric: GraphMetric, graphs: Graphs, folds: np.ndarray) -> list[FoldView] | None:
    """Distances among graphs, those of each fold [N] held out: the regression is fitted anew without them.

    None if it was fitted to none of these graphs. The targets need not be kept: they are (K + λI) α plus their mean,
    for weights α = (K + λI)⁻¹ Y. What was chosen before (blocks, embeddings, kernels, λ) stays, although these graphs
    had a say in it.
    """
    learned = metric.learned_
    if learned is None or learned.graphs is None:
        return None
    hashes = graph_hashes(graphs)
    if not np.isin(hashes, learned.graphs).any():
        return None
    machine = learned.machine
    pieces = [metric._embedded(piece) for piece in graphs.pieces(AT_ONCE)]
    embedded = {key: stacked([piece[key] for piece in pieces]) for key in pieces[0]}
    squares = squares_without_copies(metric._unlearned(embedded))
    kernel, among = machine.kernel(embedded), machine.reference_kernel()
    targets = machine.targets(among)
    found = []
    for fold in np.unique(folds):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        kept = np.flatnonzero(~np.isin(learned.graphs, hashes[held]))
        if len(known) == 0:
            continue
        mean = known_means(targets[kept])
        weights = fit_ridge(among[np.ix_(kept, kept)], targets[kept] - mean, machine.penalty)
        of_graphs, of_kept = (part @ weights + mean for part in (kernel[:, kept], among[np.ix_(kept, kept)]))
        both = np.concatenate([of_graphs, of_kept])
        placed = fewer_columns(both, of_kept, learned.basis.shape[1]) if len(kept) else np.zeros_like(both)
        unit = float(score_squares(placed[len(graphs) :], placed[len(graphs) :]).mean()) if len(kept) else 1.0
        view = Fold(known, held, of_graphs, placed[: len(graphs)], squares, max(unit, 1e-30))
        found.append(view.view(learned.gate.weight, np.arange(len(graphs)), len(graphs)))
    return found
