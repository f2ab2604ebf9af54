"""Candidates are scored here, alone and in sums, by how well neighbours predict; the best weighted sum is chosen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import field
from msgspec.structs import replace

from ..._core.parallel import by_threads
from ..._core.schema import Count, Number, Saved
from ..._core.threads import one_thread_for_products
from ...objectives import Objective
from ...objectives.folds import groups_among
from ...objectives.leave_one_out import leave_one_out, usable
from .sample import Sample
from .screening import Screened
from .terms import Term

_SHORTLIST = 12  # candidates, the best on their own, that are scored on the full sample


class Choice(Saved):
    """Squared distances that are added up.

    Attributes
    ----------
    weights : dict
        Weight by name of the candidate; they add up to 1.
    score : float
        Leave-one-out score, averaged over k.
    accuracy : float
        Leave-one-out score with the best k.
    n_neighbors : int
        That k; of a metric that learned, the best k with its learned scores.
    trail : list of (str, float)
        What was added, and the score after it.
    scores : dict
        Score of each candidate on its own.
    """

    weights: dict[str, Number]
    score: Number
    accuracy: Number
    n_neighbors: Count
    trail: list[tuple[str, Number]] = field(default_factory=list)
    scores: dict[str, Number] = field(default_factory=dict)


@one_thread_for_products()
def select_terms(
    screened: Mapping[str, Screened], objective: Objective, sample: Sample, screening: Sample, *, n_steps: int
) -> tuple[list[Term], Choice, dict[str, np.ndarray]]:
    """A weighted sum of candidates: all are scored on a subsample, the best 12 on the full sample.

    The chosen terms are projected onto few coordinates, and weighted so that squared distances have mean 1. The squared
    distances of all 12 come back, too.
    """

    def score(name: str) -> float:
        squares, groups = screened[name].squares, screening.groups
        return float(leave_one_out(objective, squares, screening.target, groups=groups).mean())

    scores = dict(zip(screened, by_threads(score, screened), strict=True))

    def squares(name: str) -> np.ndarray:
        term = screened[name].term
        if term.projection is None:
            term.compact(sample.embedded(term))
        term.weight = 1.0
        found = sample.squares(term)
        term.weight = 1.0 / max(float(found.mean()), 1e-30)
        return found * np.float32(term.weight)

    best = sorted(scores, key=lambda name: -scores[name])[:_SHORTLIST]
    squares_of = dict(zip(best, by_threads(squares, best), strict=True))
    chosen = choose(squares_of, sample.target, objective, n_steps=n_steps, groups=sample.groups)
    choice = replace(chosen, scores=scores)
    terms = []
    for name, weight in choice.weights.items():
        terms.append(screened[name].term)
        terms[-1].weight *= weight
    return terms, choice, squares_of


def chosen_without(
    squares: Mapping[str, np.ndarray],
    target: np.ndarray,
    objective: Objective,
    known: np.ndarray,
    *,
    n_steps: int,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Squared distances [N, N] of the sum that `choose` would find if it knew some of the graphs only."""
    among = {name: one[np.ix_(known, known)] for name, one in squares.items()}
    choice = choose(among, target[known], objective, n_steps=n_steps, groups=groups_among(groups, known))
    return np.sum([np.float32(weight) * squares[name] for name, weight in choice.weights.items()], axis=0)


def choose(
    squares: Mapping[str, np.ndarray],
    target: np.ndarray,
    objective: Objective,
    *,
    n_steps: int = 8,
    groups: np.ndarray | None = None,
) -> Choice:
    """A weighted sum of few candidates, by greedy selection with replacement [1]_.

    Parameters
    ----------
    squares : dict of ndarray [N, N]
        Squared distances by candidate, of mean 1, so that weights compare.
    target : ndarray [N]
        Encoded by the objective.
    objective : Objective
    n_steps : int
        Greedy steps; the best of the sums on the way is kept. 1 chooses the best candidate alone.
    groups : ndarray [N], optional
        Graphs of one group do not predict each other.

    Notes
    -----
    The score is the leave-one-out score averaged over k: less a matter of luck than that of the best k. Weights are
    multiples of a step, so there are few sums to choose from, and a lucky candidate is averaged with others.

    References
    ----------
    .. [1] R. Caruana et al., "Ensemble selection from libraries of models", ICML 2004.
    """

    def score(distances: np.ndarray) -> float:
        return float(leave_one_out(objective, distances, target, groups=groups).mean())

    def with_one_more(name: str) -> float:
        return score(total + squares[name])

    scores = dict(zip(squares, by_threads(score, squares.values()), strict=True))
    names = sorted(scores, key=lambda name: -scores[name])
    total = np.zeros_like(squares[names[0]])
    added: list[str] = []
    best, length = -np.inf, 0
    trail: list[tuple[str, float]] = []
    for step in range(n_steps):
        tried = list(by_threads(with_one_more, names)) if step else [scores[name] for name in names]
        place = int(np.argmax(tried))
        added.append(names[place])
        trail.append((names[place], tried[place]))
        total += squares[names[place]]
        if tried[place] > best + 1e-9:
            best, length = tried[place], len(added)
    weights = {name: added[:length].count(name) / length for name in dict.fromkeys(added[:length])}
    total = np.sum([weight * squares[name] for name, weight in weights.items()], axis=0)
    accuracies = leave_one_out(objective, total, target, groups=groups)
    place = int(accuracies.argmax())
    return Choice(weights, best, float(accuracies[place]), usable(len(target))[place], trail[:length], scores)
