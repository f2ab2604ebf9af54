"""What n_components="auto" does: keeps the fewest coordinates by which neighbours predict nearly as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core.schema import Natural, Number, Saved
from ...linalg.squared_distances import squared_distances
from .coordinates import MOST, Coordinates, hashed
from .mixture import Described, Mixture
from .score_weight import Held
from .training import Training

_WIDTHS = (32, 64, 128, 256)  # that "auto" tries before it keeps all
ALL_HASHES = 256  # with n_components=None
_COST = 0.005  # of the score of neighbours that "auto" accepts: half a point of accuracy
_KS = (1, 3, 5, 10)
_GRAPHS = 2000  # that widths are compared on, at most


class Width(Saved):
    """Coordinates of the unlearned part of the distance, and what leaving out the others costs.

    Attributes
    ----------
    kept, full : int
        How many there are, of how many.
    score, full_score : float
        Of neighbours on graphs held out, mean over several k: with those that are kept, and with all.
    """

    kept: Natural
    full: Natural
    score: Number
    full_score: Number


def parts_of_width(width: int | None, landmarks: int) -> tuple[int, int]:
    """How many principal coordinates and how many hashes make up so many coordinates; None is all.

    >>> [parts_of_width(*both) for both in ((64, 1000), (64, 10), (2, 10), (1, 10))]
    [(32, 32), (9, 32), (1, 1), (1, 0)]
    """
    if width is None:
        return landmarks - 1, ALL_HASHES
    # A power of 2, so that fewer can be made of them.
    hashes = 1 << (width // 2 + 1).bit_length() - 1 if width > 2 else width - 1
    return max(1, min(width - hashes, landmarks - 1)), hashes


def score_columns(outputs: np.ndarray, n_components: Any) -> int:
    """Coordinates that are kept for learned scores: as many as outputs [N, T] differ in, but not all there are."""
    filled = np.nan_to_num(outputs)
    rank = int(np.linalg.matrix_rank(filled - filled.mean(0)))
    return rank if n_components is None else min(rank, most_coordinates(n_components) - 1)


def most_coordinates(n_components: Any) -> int:
    """How many coordinates vectors may have."""
    return int(n_components) if isinstance(n_components, (int, np.integer)) else MOST


def choose_width(
    mixture: Mixture,
    whole: Coordinates,
    judged: tuple[np.ndarray, Described],
    folds: Sequence[Held],
    weight: float,
    training: Training,
) -> tuple[Coordinates, Width]:
    """The fewest coordinates that cost less than half a point, and what they cost.

    Parameters
    ----------
    mixture : Mixture
    whole : Coordinates
        As many as there may be.
    judged : ndarray [J, m], descriptions
        Of the graphs of the folds: kernels to the landmarks, and descriptions.
    folds : list of Held
        Learned scores without each fold.
    weight : float
        Of these scores.
    training : Training
    """
    kernel, described = judged
    diagonal = mixture.diagonal(described)
    full = _score(whole.place(kernel, hashed(mixture, described, whole.n_hashes), diagonal), folds, weight, training)
    for width in _WIDTHS:
        n_axes, n_hashes = parts_of_width(width, kernel.shape[1])
        if n_axes + n_hashes >= whole.width:
            break
        fewer = whole.first(n_axes, n_hashes)
        score = _score(fewer.place(kernel, hashed(mixture, described, n_hashes), diagonal), folds, weight, training)
        if full - score < _COST:
            return fewer, Width(fewer.width, whole.width, score, full)
    return whole, Width(whole.width, whole.width, full, full)


def _score(vectors: np.ndarray, folds: Sequence[Held], weight: float, training: Training) -> float:
    """Mean score of neighbours on graphs held out, over several k."""
    some = np.zeros(len(vectors), dtype=bool)
    some[np.random.default_rng(0).permutation(len(vectors))[:_GRAPHS]] = True
    total = counted = 0.0
    for fold in folds:
        train, test = (part[some[part]] for part in (fold.train, fold.test))
        ks = [k for k in _KS if k <= len(train)]
        if not ks or len(test) == 0:
            continue
        gaps = squared_distances(fold.placed[test], fold.placed[train])
        squares = squared_distances(vectors[test], vectors[train]) + np.float32(weight / fold.unit) * gaps
        values, count = training.scorer.of_neighbors(
            np.sqrt(squares), training.target[train], training.target[test], ks
        )
        total, counted = total + count * float(values.mean()), counted + count
    return total / counted if counted else 0.0
