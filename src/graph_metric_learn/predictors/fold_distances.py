"""Folds of the reference graphs, on which every head chooses its settings: k, γ and C, a penalty, or the head itself.

A fold (:class:`FoldView`) holds out some graphs, test, and compares them with all others, train, as a metric does that
has learned nothing from the test graphs. Which graphs are held out together says `objectives/folds.py`.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..features.copies import copy_groups
from ..graphs import Graphs
from ..metrics.base import BaseGraphMetric, FoldView, FoldViews
from ..objectives import Objective
from ..objectives.folds import groups_among, held_together
from ..transport import Embedded, pairwise_distances

if TYPE_CHECKING:
    from .predictor import MetricPredictor

N_FOLDS = 5
MOST = 2000  # graphs that settings are chosen on, at most


class ReferenceFolds:
    """Five folds of the reference graphs, of at most 2000 of them, for several heads on one metric.

    A metric that has learned scores knows the targets of the graphs it was fitted to; it says itself what it would be
    without a fold: while it is fitted to the reference graphs by :func:`fit_with_folds`, later by
    :meth:`BaseGraphMetric.views_without`. For others, the folds are of the embedded graphs as they are.

    Parameters
    ----------
    metric, graphs, embedded
        The fitted metric, N graphs, and the same embedded by it.
    groups : ndarray [N], optional
        Graphs that are held out together, as copies of each other are anyway.
    own
        What `fit_with_folds` returned, where the metric was fitted to these graphs, here.

    Attributes
    ----------
    without_targets : bool
        Whether the metric said what it would be without a fold; set by `views`.
    """

    def __init__(
        self, metric: BaseGraphMetric, graphs: Graphs, embedded: Embedded, groups: Any = None, *, own: FoldViews | None
    ) -> None:
        self._metric, self._embedded, self._own = metric, embedded, own
        self._graphs: Graphs | None = graphs
        self._views: list[FoldView] = []
        self._groups = groups

    def views(self, objective: Objective, target: np.ndarray) -> list[FoldView]:
        """Distances by fold; the folds suit the first objective that asks, and its encoded targets [N]."""
        own = None if self._own is None else self._own(MOST)
        if own:
            self.without_targets = True
        elif not self._views:
            self._views = self._computed(objective, target)
        self._graphs = None
        return own or self._views

    def _computed(self, objective: Objective, target: np.ndarray) -> list[FoldView]:
        assert self._graphs is not None
        rng = np.random.default_rng(0)
        some = objective.subsample(target, MOST, rng)
        folds = objective.folds(target[some], N_FOLDS, rng, groups_among(self.groups, some))
        views = self._metric.views_without(self._graphs[some], folds)
        self.without_targets = bool(views)
        if views:  # scores of its own are those of the targets it was fitted to, which may be others
            return [view._replace(train=some[view.train], test=some[view.test], scores=None) for view in views]
        embedded = self._embedded[some]
        distances = pairwise_distances(embedded, device=self._metric.place(embedded), progress=False)
        parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
        return [
            FoldView(some[train], some[test], distances[np.ix_(train, train)], distances[np.ix_(test, train)], None)
            for train, test in parts
            if len(train)
        ]

    @cached_property
    def groups(self) -> np.ndarray | None:
        """Which graphs are held out together [N], copies too; None where each graph is alone."""
        assert self._graphs is not None
        copies = copy_groups(self._graphs)
        if len(np.unique(copies)) == 1:
            return self._groups
        with warnings.catch_warnings():
            if self._own is not None:  # then the metric has said the same
                warnings.simplefilter("ignore", UserWarning)
            together = held_together(self._groups, copies)
        return None if len(np.unique(together)) == len(together) else together


def typical_distance(folds: list[FoldView]) -> float:
    """The median distance among the training graphs; their mean where most are copies of each other; never 0."""
    within = folds[0].within
    return float(np.median(within)) or float(np.mean(within)) or 1.0


def own_fold_views(predictor: MetricPredictor, most: int) -> list[FoldView]:
    """What a metric that a predictor has fitted itself would be without a fold of the reference graphs.

    See :func:`fit_with_folds`; none of a frozen or loaded metric.
    """
    return (predictor._own_folds and predictor._own_folds(most)) or []
