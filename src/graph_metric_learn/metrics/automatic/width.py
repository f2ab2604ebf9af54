"""What n_components="auto" does: keeps the fewest coordinates by which neighbours predict nearly as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.schema import Natural, Number, Saved
from ...objectives import Objective
from .compaction import Projection
from .sample import squares_without_copies
from .score_weight import Fold, score_squares

MOST = 512  # coordinates with n_components="auto", at most
_WIDTHS = (32, 64, 128, 256)  # that "auto" tries before it keeps all
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


@dataclass
class Coordinates:
    """Vectors of training graphs without learned scores, as they are or of fewer coordinates.

    Attributes
    ----------
    whole : ndarray or csr_array [N, d]
        Of mean squared distance 1: the vectors, or their principal coordinates where there are too many.
    principal : ndarray [N, r] or None
        In order of variance; None where all are to be kept.
    projection : Projection or None
        Of vectors onto these.
    """

    whole: Any
    principal: np.ndarray | None
    projection: Projection | None
    projected: bool = False  # whether `whole` are principal coordinates

    @classmethod
    def fit(cls, vectors: Any, most: int | None) -> Coordinates:
        """At most `most` coordinates of vectors [N, d]; None keeps all."""
        if most is None:
            return cls(vectors, None, None)
        projection = Projection.fit(vectors, most)
        principal = projection.apply(vectors)
        projected = vectors.shape[1] > most or sparse.issparse(vectors)
        return cls(principal if projected else vectors, principal, projection, projected)

    def divided(self, scale: float) -> Coordinates:
        """The same vectors in another unit."""
        factor = np.float32(1.0 / scale)
        principal = None if self.principal is None else self.principal * factor
        return Coordinates(self.whole * factor, principal, self.projection, self.projected)

    def first(self, width: int | None) -> Any:
        """The coordinates of largest variance; all of them if there are no more than `width`, or with None."""
        if self.principal is None or width is None or width >= self.whole.shape[1]:
            return self.whole
        return np.ascontiguousarray(self.principal[:, :width])

    def projection_to(self, width: int) -> Projection | None:
        """The map from vectors to `first(width)`; None where they are the vectors themselves."""
        if self.projection is None or (width >= self.whole.shape[1] and not self.projected):
            return None
        return self.projection.first(width)


def most_coordinates(n_components: Any) -> int:
    """How many coordinates vectors may have."""
    return int(n_components) if isinstance(n_components, (int, np.integer)) else MOST


def score_columns(outputs: np.ndarray, n_components: Any) -> int:
    """Coordinates that are kept for learned scores: as many as outputs [N, T] differ in, but not all there are."""
    filled = np.nan_to_num(outputs)
    rank = int(np.linalg.matrix_rank(filled - filled.mean(0)))
    return rank if n_components is None else min(rank, most_coordinates(n_components) - 1)


def choose_width(
    coordinates: Coordinates,
    asked: int | None,
    folds: Sequence[Fold],
    weight: float,
    objective: Objective,
    target: np.ndarray,
) -> Width:
    """The smallest width that costs less than half a point; or what the asked one costs.

    Parameters
    ----------
    coordinates : Coordinates
        Of the training graphs.
    asked : int or None
        The width, where it is not to be chosen.
    folds : list of Fold
        Learned scores without each fold.
    weight : float
        Of these scores.
    objective, target
        What neighbours are to predict.
    """
    full = coordinates.whole.shape[1]
    tried = [width for width in _WIDTHS if width < full] if asked is None else [min(asked, full)]
    best = _score(coordinates.whole, folds, weight, objective, target)
    for width in tried:
        score = best if width == full else _score(coordinates.first(width), folds, weight, objective, target)
        if asked is not None or best - score < _COST:
            return Width(width, full, score, best)
    return Width(full, full, best, best)


def _score(
    coordinates: np.ndarray, folds: Sequence[Fold], weight: float, objective: Objective, target: np.ndarray
) -> float:
    """Mean score of neighbours on graphs held out, over several k."""
    some = np.zeros(len(coordinates), dtype=bool)
    some[np.random.default_rng(0).permutation(len(coordinates))[:_GRAPHS]] = True
    place = np.cumsum(some) - 1
    squares = squares_without_copies(np.ascontiguousarray(coordinates[some]))
    found = []
    for fold in folds:
        known, held = (part[some[part]] for part in (fold.known, fold.held))
        ks = [k for k in _KS if k <= len(known)]
        if not ks or len(held) == 0:
            continue
        gaps = score_squares(fold.placed[held], fold.placed[known])
        distances = np.sqrt(squares[np.ix_(place[held], place[known])] + np.float32(weight / fold.unit) * gaps)
        found.append(objective.neighbor_scores(distances, target[known], target[held], ks, weighted=True).mean(1))
    return float(np.concatenate(found).mean()) if found else 0.0
