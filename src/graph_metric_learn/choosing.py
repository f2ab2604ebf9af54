"""Which distances to add up: a few of many candidates, with weights, by how well neighbours agree in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .voting import class_votes

NEIGHBORS = (1, 2, 3, 5, 7)
_ROWS = 500  # graphs at most that a bag is judged on
_TERMS = 6  # candidates at most in the sum


@dataclass
class Choice:
    """Squared distances that are added up.

    Attributes
    ----------
    weights : dict
        Weight by name of the candidate, the largest first; they add up to 1.
    score : float
        Leave-one-out accuracy, averaged over k.
    accuracy : float
        Leave-one-out accuracy with the best k.
    n_neighbors : int
        That k.
    scores : dict
        Score of each candidate on its own.
    """

    weights: dict[str, float]
    score: float
    accuracy: float
    n_neighbors: int
    scores: dict[str, float] = field(default_factory=dict)


def usable(count: int) -> list[int]:
    """Those k that so many graphs have neighbours for, when one is left out."""
    return [k for k in NEIGHBORS if k < count]


def leave_one_out(squares: np.ndarray, codes: np.ndarray, ks: Sequence[int] = NEIGHBORS) -> np.ndarray:
    """Accuracy of k-NN for each k < N, each graph classified by all others, from distances [N, N] of any power."""
    return left_out_hits(squares, codes, ks).mean(0)


def left_out_hits(
    squares: np.ndarray, codes: np.ndarray, ks: Sequence[int] = NEIGHBORS, rows: np.ndarray | None = None
) -> np.ndarray:
    """Whether each graph is classified right by all others, for each k [N, len(ks)].

    With `rows`, the distances are those of these graphs to all [R, N], and so is the result.
    """
    rows = np.arange(len(codes)) if rows is None else rows
    others = squares.astype(np.float32, copy=True)
    others[np.arange(len(rows)), rows] = np.inf
    votes = class_votes(others, codes, int(codes.max()) + 1, tuple(ks))
    return votes.round(9).argmax(2) == codes[rows, None]


def choose(
    squares: Mapping[str, np.ndarray],
    codes: np.ndarray,
    *,
    n_steps: int = 6,
    n_bags: int = 8,
    rng: np.random.Generator | None = None,
) -> Choice:
    """A weighted sum of few candidates, by ensemble selection [1]_.

    A sum is built step by step: the candidate is added, also one that is there already, with which most graphs are
    classified right by all others. This is done several times, each judged on another half of the graphs, and the
    sums are averaged.

    Parameters
    ----------
    squares : dict of ndarray [N, N]
        Squared distances by candidate, of mean 1, so that weights compare.
    codes : ndarray [N]
        Classes 0, 1, …
    n_steps : int
        How many candidates are added; the best sum on the way counts.
    n_bags : int
        How many sums are averaged; 1 judges on all graphs. With one step and one bag, the best candidate alone is
        chosen.
    rng : Generator, optional
        Draws the halves.

    Notes
    -----
    The score is the leave-one-out accuracy averaged over k: less a matter of luck than that of the best k. Weights are
    multiples of a step, so there are few sums to choose from, and a lucky candidate is averaged with others.

    References
    ----------
    .. [1] R. Caruana et al., "Ensemble selection from libraries of models", ICML 2004.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    ks, count = usable(len(codes)), len(codes)
    scores = {name: float(leave_one_out(square, codes, ks).mean()) for name, square in squares.items()}
    names = sorted(scores, key=lambda name: -scores[name])
    weights = dict.fromkeys(names, 0.0)
    for _ in range(n_bags):
        rows = np.arange(count) if n_bags == 1 else np.sort(rng.permutation(count)[: min(_ROWS, (count + 1) // 2)])
        added = _sum_for({name: squares[name][rows] for name in names}, codes, ks, rows, n_steps)
        for name in added:
            weights[name] += 1.0 / len(added)
    heaviest = sorted((name for name in names if weights[name] > 0), key=lambda name: -weights[name])[:_TERMS]
    whole = sum(weights[name] for name in heaviest)
    weights = {name: weights[name] / whole for name in heaviest}
    accuracies = leave_one_out(sum(weight * squares[name] for name, weight in weights.items()), codes, ks)  # type: ignore[arg-type]
    place = int(accuracies.argmax())
    return Choice(weights, float(accuracies.mean()), float(accuracies[place]), ks[place], scores)


def _sum_for(
    squares: Mapping[str, np.ndarray], codes: np.ndarray, ks: Sequence[int], rows: np.ndarray, n_steps: int
) -> list[str]:
    """The candidates of the best sum that is built for some graphs, one as often as it was added."""
    total = np.zeros_like(next(iter(squares.values())))
    added: list[str] = []
    best, length = -1.0, 0
    for _ in range(n_steps):
        tried = {name: float(left_out_hits(total + part, codes, ks, rows).mean()) for name, part in squares.items()}
        name = max(tried, key=lambda name: tried[name])
        added.append(name)
        total += squares[name]
        if tried[name] > best + 1e-9:
            best, length = tried[name], len(added)
    return added[:length]
