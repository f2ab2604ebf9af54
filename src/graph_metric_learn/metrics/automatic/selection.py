"""Which distances to add up: a few of many candidates, with weights, by how well neighbours predict in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..._core.progress import progress_bar
from ...features.blocks import cloud_of
from ...objectives import Objective
from ...objectives.leave_one_out import leave_one_out, usable
from .candidates import embeddings_for
from .sample import Sample
from .terms import Term

_SHORTLIST = 12  # candidates, the best on their own, that are scored on the full sample
_MANY_EDGES = 200  # edges per graph from which they are not transported to a reference
_CONSTANT = 1e-12  # mean squared distance of a candidate that tells no two graphs apart


@dataclass
class Choice:
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


def select_terms(
    candidates: Mapping[str, list[str]],
    embedding: str,
    objective: Objective,
    sample: Sample,
    screening: Sample,
    *,
    n_steps: int,
    rng: np.random.Generator,
    progress: bool | None,
) -> tuple[list[Term], Choice]:
    """A weighted sum of candidates: all are screened on a subsample, the best 12 are scored on the full sample.

    Parameters
    ----------
    candidates : dict of list of str
        Sets of blocks by title, each tried with all embeddings that fit, or with `embedding` alone.
    sample, screening : Sample
        Graphs that candidates are fitted to and chosen on, and the subsample of them for the screening.
    n_steps : int
        See :func:`choose`.
    """
    terms: dict[str, Term] = {}
    scores: dict[str, float] = {}
    kinds = {title: _embeddings(names, embedding, sample) for title, names in candidates.items()}
    count = sum(map(len, kinds.values()))
    with progress_bar(progress, "choosing", total=count, unit="candidate", delay=1.0) as bar:
        for title, names in candidates.items():
            for term in Term.fit_each(title, names, kinds[title], sample.blocks, sample.sizes[cloud_of(names)], rng):
                squares = screening.squares([term])
                if squares.mean() > _CONSTANT:
                    name = term.name if term.name not in terms else f"{term.name} ({term.kind})"
                    terms[name] = term
                    scores[name] = float(leave_one_out(objective, squares, screening.target).mean())
                bar.update()
    if not terms:
        raise ValueError("all graphs look the same: no block of node features tells any two apart")
    squares_of = {}
    for name in sorted(scores, key=lambda name: -scores[name])[:_SHORTLIST]:
        squares = sample.squares([terms[name]])
        terms[name].weight = 1.0 / float(squares.mean())
        squares_of[name] = squares * np.float32(terms[name].weight)
    choice = choose(squares_of, sample.target, objective, n_steps=n_steps)
    choice.scores = scores
    for name, weight in choice.weights.items():
        terms[name].weight *= weight
    return [terms[name] for name in choice.weights], choice


def _embeddings(names: list[str], wanted: str, sample: Sample) -> list[str]:
    """Embeddings for these blocks; transport to a reference takes too long for large clouds of edges."""
    kinds = embeddings_for(names, wanted)
    cloud = cloud_of(names)
    if wanted == "auto" and cloud == "edges" and sample.sizes[cloud].mean() > _MANY_EDGES:
        kinds = [kind for kind in kinds if kind != "reference"]
    return kinds


def choose(squares: Mapping[str, np.ndarray], target: np.ndarray, objective: Objective, *, n_steps: int = 8) -> Choice:
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

    Notes
    -----
    The score is the leave-one-out score averaged over k: less a matter of luck than that of the best k. Weights are
    multiples of a step, so there are few sums to choose from, and a lucky candidate is averaged with others.

    References
    ----------
    .. [1] R. Caruana et al., "Ensemble selection from libraries of models", ICML 2004.
    """

    def score(distances: np.ndarray) -> float:
        return float(leave_one_out(objective, distances, target).mean())

    scores = {name: score(square) for name, square in squares.items()}
    names = sorted(scores, key=lambda name: -scores[name])
    total = np.zeros_like(squares[names[0]])
    added: list[str] = []
    best, length = -1.0, 0
    trail: list[tuple[str, float]] = []
    for _ in range(n_steps):
        tried = [score(total + squares[name]) for name in names]
        place = int(np.argmax(tried))
        added.append(names[place])
        trail.append((names[place], tried[place]))
        total += squares[names[place]]
        if tried[place] > best + 1e-9:
            best, length = tried[place], len(added)
    weights = {name: added[:length].count(name) / length for name in dict.fromkeys(added[:length])}
    total = np.sum([weight * squares[name] for name, weight in weights.items()], axis=0)
    accuracies = leave_one_out(objective, total, target)
    place = int(accuracies.argmax())
    return Choice(weights, best, float(accuracies[place]), usable(len(target))[place], trail[:length], scores)
