"""How well neighbours predict new graphs: by folds in which everything is chosen without the fold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from ..._core.schema import NonNegative, Number, Saved
from ...features.copies import copy_groups
from ...graphs import Graphs
from ...objectives.base import error_of_equals
from ...objectives.folds import groups_among, held_together
from .given import Given
from .training import N_FOLDS

if TYPE_CHECKING:
    from .estimator import GraphMetric

_K = 5  # neighbours that vote where nothing was learned
_CLEAR = 2.0  # standard errors by which a score must be above that of the guess
_CLEAR_AGAIN = 3.0  # of the balanced score: it is a second look, at which chance must not have a second chance


class Estimate(Saved):
    """A score on graphs that played no part in any choice.

    Attributes
    ----------
    score, error : float
        Mean over all graphs, each held out once, and its standard error; graphs of one group count as one draw.
    guess : float
        Score of predicting the largest class, or the mean, for all.
    guess_name : str
        What that is called.
    balanced, balanced_error : float or None
        Mean over the classes of the score within each, where classes are unequal, and its standard error.
    balanced_guess : float or None
        The same mean of predicting the largest class for all: one over the number of classes.
    """

    score: Number
    error: NonNegative
    guess: Number
    guess_name: str
    balanced: Number | None = None
    balanced_error: NonNegative | None = None
    balanced_guess: Number | None = None

    @property
    def at_chance(self) -> bool:
        """Whether no score is clearly above that of the guess; equal is not above."""
        if self.score > self.guess + _CLEAR * self.error:
            return False
        if self.balanced is None or self.balanced_error is None or self.balanced_guess is None:
            return True
        return self.balanced <= self.balanced_guess + _CLEAR_AGAIN * self.balanced_error


def estimate_score(metric: GraphMetric, given: Given, rng: np.random.Generator) -> Estimate | None:
    """Fits the metric anew without each of five folds, and lets neighbours predict the fold; None without targets."""
    objective, target, graphs, groups = metric.objective_, given.target, given.original, given.own_groups
    if not objective.supervised:
        return None
    copies = copy_groups(graphs)
    together = held_together(groups, copies)
    folds = objective.folds(target, N_FOLDS, rng, together)
    found = np.zeros(len(target))
    for fold in np.unique(folds):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        found[held] = objective.guess(target[known], target[held])
        own = groups_among(groups, known)
        kept = own if own is not None and len(np.unique(own)) > 1 else None
        learnable = _learnable(graphs[known], metric.objective_.decode(target[known]), kept)
        if learnable is None or len(np.unique(copies[known])) == 1:  # the guess stays
            continue
        again = clone(metric).set_params(estimate=False, task=metric.task_, random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what there is to say of the graphs was said of all of them
            again.fit(*learnable)
        distances = again.pairwise_distances(graphs[held], graphs[known])
        k = min(again.chosen_n_neighbors or _K, len(known))
        scores = objective.neighbor_scores(distances, target[known], target[held], [k], weighted=True)
        found[held] = scores[:, 0]
    of_groups = np.bincount(np.unique(together, return_inverse=True)[1], found - found.mean())
    error = float(np.sqrt((of_groups**2).sum()) / len(found))
    if error == 0:
        error = error_of_equals(len(of_groups))
    guess = objective.guess(target, target)  # by folds, it would be wrong where classes are equal
    return Estimate(
        float(found.mean()), error, float(guess.mean()), objective.guess_name, objective.balanced(found, target),
        objective.balanced_error(found, target, together), objective.balanced(guess, target),
    )  # fmt: skip


def _learnable(
    graphs: Graphs, y: np.ndarray, groups: np.ndarray | None
) -> tuple[Graphs, np.ndarray, np.ndarray | None] | None:
    """What a metric can be fitted to: of several numbers those that differ, and graphs that have one of them.

    None where all targets are the same.
    """
    if y.ndim == 1:
        return (graphs, y, groups) if len(np.unique(y)) > 1 else None
    differ = [len(np.unique(column[np.isfinite(column)])) > 1 for column in y.T]
    rows = np.flatnonzero(np.isfinite(y[:, differ]).any(1))
    if not any(differ) or len(np.unique(y[rows][:, differ], axis=0)) == 1:
        return None
    return graphs[rows], y[rows][:, differ], groups_among(groups, rows)
