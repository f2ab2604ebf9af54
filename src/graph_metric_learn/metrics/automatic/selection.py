"""Which distances to add up: a few of many candidates, with weights, by how well neighbours agree in training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...objectives.votes import class_votes, elected

NEIGHBORS = (1, 2, 3, 5, 7)


@dataclass
class Choice:
    """Squared distances that are added up.

    Attributes
    ----------
    weights : dict
        Weight by name of the candidate; they add up to 1.
    score : float
        Leave-one-out accuracy, averaged over k.
    accuracy : float
        Leave-one-out accuracy with the best k.
    n_neighbors : int
        That k.
    trail : list of (str, float)
        What was added, and the score after it.
    scores : dict
        Score of each candidate on its own.
    """

    weights: dict[str, float]
    score: float
    accuracy: float
    n_neighbors: int
    trail: list[tuple[str, float]] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)


def leave_one_out(
    squares: np.ndarray, codes: np.ndarray, ks: Sequence[int] = NEIGHBORS, votes_of: Callable = class_votes
) -> np.ndarray:
    """Accuracy of k-NN for each k < N, each graph classified by all others, from distances [N, N] of any power.

    `votes_of` is :func:`class_votes`, or :func:`weighted_votes` for distances themselves.
    """
    return left_out_hits(squares, codes, ks, votes_of).mean(0)


def left_out_hits(
    squares: np.ndarray, codes: np.ndarray, ks: Sequence[int] = NEIGHBORS, votes_of: Callable = class_votes
) -> np.ndarray:
    """Whether each graph is classified right by all others, for each k [N, len(ks)]."""
    others = squares.astype(np.float32, copy=True)
    np.fill_diagonal(others, np.inf)
    votes = votes_of(others, codes, int(codes.max()) + 1, tuple(ks))
    return elected(votes) == codes[:, None]


def usable(count: int) -> list[int]:
    """Those k that so many graphs have neighbours for, when one is left out."""
    return [k for k in NEIGHBORS if k < count]


def choose(squares: Mapping[str, np.ndarray], codes: np.ndarray, *, n_steps: int = 8) -> Choice:
    """A weighted sum of few candidates: one is added at each step, also one that is there already [1]_.

    Parameters
    ----------
    squares : dict of ndarray [N, N]
        Squared distances by candidate, of mean 1, so that weights compare.
    codes : ndarray [N]
        Classes 0, 1, …
    n_steps : int
        How many are added; the best sum on the way counts. 1 chooses the best candidate alone.

    Notes
    -----
    The score is the leave-one-out accuracy averaged over k: less a matter of luck than that of the best k. Weights are
    multiples of a step, so there are few sums to choose from, and a lucky candidate is averaged with others.

    References
    ----------
    .. [1] R. Caruana et al., "Ensemble selection from libraries of models", ICML 2004.
    """
    ks = usable(len(codes))
    scores = {name: float(leave_one_out(square, codes, ks).mean()) for name, square in squares.items()}
    names = sorted(scores, key=lambda name: -scores[name])
    total = np.zeros_like(squares[names[0]])
    added: list[str] = []
    best, length = -1.0, 0
    trail: list[tuple[str, float]] = []
    for _ in range(n_steps):
        tried = [float(leave_one_out(total + squares[name], codes, ks).mean()) for name in names]
        place = int(np.argmax(tried))
        added.append(names[place])
        trail.append((names[place], tried[place]))
        total += squares[names[place]]
        if tried[place] > best + 1e-9:
            best, length = tried[place], len(added)
    weights = {name: added[:length].count(name) / length for name in dict.fromkeys(added[:length])}
    total = np.sum([weight * squares[name] for name, weight in weights.items()], axis=0)
    accuracies = leave_one_out(total, codes, ks)
    place = int(accuracies.argmax())
    return Choice(weights, best, float(accuracies[place]), ks[place], trail[:length], scores)
