"""The weight of the learned scores in the distance, 0 included, and k with it: decided on graphs held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ..._core.parallel import by_threads
from ..._core.schema import Count, NonNegative, Number, Saved
from ...linalg.principal_axes import spanning_directions
from ...linalg.ridge import known_means
from ...linalg.squared_distances import squared_distances
from ..base import FoldView
from .exact import Fold
from .training import N_FOLDS, Training

_WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of the squared distance of the scores; 1 for the unlearned part
_KS = (1, 2, 3, 5, 7, 10, 15, 25, 40)
_JUDGED = 2000  # graphs held out that settings are judged by, at most
CERTAIN = 3.0  # standard errors by which the regression must beat the mean


class ScoreWeight(Saved):
    """What was found on graphs held out.

    Attributes
    ----------
    weight : float
        Of the learned scores in the squared distance, where the unlearned part has mean 1; 0 where they do not help.
    n_neighbors : int
        The best k with it.
    unlearned, learned : float
        Score of k-NN on graphs held out, without and with learned scores, each with its best k.
    regression : float
        Score of the regression's own predictions.
    scored_by : str
        What these scores are, one of `objectives.scoring.SCORERS`, or "" for those of the task.
    guess : float
        The task's own score of predicting the largest class, or the mean, for all.
    gain, error : float
        What the regression takes off the squared error of the mean, relative to it, and its standard error, for which
        graphs that are held out together count as one, and which is larger for few of these, see :func:`few_factor`.
        Predictions that are too bold are first drawn towards the mean, as distances between them do not depend on their
        scale. Where graphs are ranked, twice the AUC less 1, and the standard error that it has by chance.
    """

    weight: NonNegative
    n_neighbors: Count
    unlearned: Number
    learned: Number
    regression: Number
    scored_by: Literal["", "roc_auc", "average_precision", "balanced_accuracy"]
    guess: Number
    gain: Number
    error: NonNegative

    @property
    def is_certain(self) -> bool:
        """Whether the regression is clearly better than predicting the mean."""
        return self.gain > CERTAIN * self.error


@dataclass(frozen=True)
class Held:
    """A fold as distances: without learned scores, and by them.

    Attributes
    ----------
    train, test : ndarray
        Indices of the graphs that are known, and of those held out.
    scores : ndarray [N, T]
        Of the regression without the test graphs, for all graphs.
    placed : ndarray [N, r]
        The same as coordinates of the distance.
    kernel : ndarray [N, N]
        Squared distances without learned scores are (k(G, G) / 2 + k(H, H) / 2 − k(G, H)) / spread, of mean 1.
    spread : float
    unit : float
        Mean squared distance of the training graphs by `placed`.
    """

    train: np.ndarray
    test: np.ndarray
    scores: np.ndarray
    placed: np.ndarray
    kernel: np.ndarray
    spread: float
    unit: float

    @classmethod
    def of(cls, fold: Fold, most: int | None) -> Held:
        """Coordinates of the scores, at most so many."""
        scores = np.where(np.isfinite(fold.scores), fold.scores, np.nanmean(fold.scores, axis=0))
        placed = fewer_columns(scores, scores[fold.train], most)
        some = fold.train[:: max(1, len(fold.train) // _JUDGED)]
        unit = max(float(squared_distances(placed[some]).mean()), 1e-30)
        spread = max(float(fold.kernel[some, some].mean() - fold.kernel[np.ix_(some, some)].mean()), 1e-12)
        return cls(fold.train, fold.test, fold.scores, placed, fold.kernel, spread, unit)

    def squares(self, rows: np.ndarray, columns: np.ndarray, weight: float) -> np.ndarray:
        """Squared distances [R, C] with learned scores of this weight, float32."""
        own, other = (self.kernel[part, part] / np.float32(2.0) for part in (rows, columns))
        near = (own[:, None] + other - self.kernel[np.ix_(rows, columns)]) / np.float32(self.spread)
        np.maximum(near, 0.0, out=near)
        if weight > 0:
            near += np.float32(weight / self.unit) * squared_distances(self.placed[rows], self.placed[columns]).astype(
                np.float32
            )
        return near

    def view(self, weight: float, rows: np.ndarray, most: int) -> FoldView:
        """Distances with learned scores of this weight, of at most `most` graphs; `rows` [N] are their indices."""
        share = most / max(most, len(rows))
        rng = np.random.default_rng(0)
        train, test = (
            np.sort(rng.permutation(part)[: max(1, int(share * len(part)))]) for part in (self.train, self.test)
        )
        within, across = (np.sqrt(self.squares(part, train, weight)) for part in (train, test))
        np.fill_diagonal(within, 0.0)
        return FoldView(rows[train], rows[test], within, across, self.scores[test])


def decide(
    draws: Sequence[Callable[[], Iterable[Fold]]], training: Training, *, most: int | None = None
) -> tuple[ScoreWeight, list[Held]]:
    """The weight of the learned scores, and k, by folds; and the folds of the first draw.

    Parameters
    ----------
    draws : list of functions
        Each makes folds, without which everything was chosen.
    training : Training
    most : int, optional
        Coordinates that the scores may have.
    """
    ks = [k for k in _KS if k < len(training) * (N_FOLDS - 1) // N_FOLDS] or [1]
    table, total, own = np.zeros((len(_WEIGHTS), len(ks))), 0.0, 0.0
    evidence = _Evidence(training)
    first: list[Held] = []
    for draw, folds in enumerate(draws):
        for fold in folds():
            held = Held.of(fold, most)
            if draw == 0:
                first.append(held)
            evidence.add(held, draw)
            test = held.test[:: max(1, -(-len(held.test) * N_FOLDS // _JUDGED))]
            values, weight = _scores_by_setting(held, test, training, ks)
            table, total = table + weight * values, total + weight
            score, weight = training.scorer.of_outputs(held.scores[held.test], training.target[held.test])
            own += score * weight
            evidence.weight += weight
    table /= max(total, 1e-300)
    gain, error = evidence.gain_and_error(len(draws))
    if gain <= CERTAIN * error:
        table[1:] = -np.inf
    best, k = best_setting(table)
    unlearned = float(table[0, best_setting(table[:1])[1]])
    learned, of_regression = float(table[best, k]), own / max(evidence.weight, 1e-300)
    guess = float(training.objective.guess(training.target, training.target).mean())
    scores = unlearned, learned, of_regression
    name: Any = training.scorer.name
    return ScoreWeight(_WEIGHTS[best], ks[k], *scores, name, guess, gain, error), first


def _scores_by_setting(held: Held, test: np.ndarray, training: Training, ks: list[int]) -> tuple[np.ndarray, float]:
    """Scores of k-NN on graphs held out, by weight of the learned scores and k [weights, ks], and their weight."""

    def scores_with(weight: float) -> tuple[np.ndarray, float]:
        distances = np.sqrt(held.squares(test, held.train, weight))
        return training.scorer.of_neighbors(distances, training.target[held.train], training.target[test], ks)

    found = list(by_threads(scores_with, _WEIGHTS))
    return np.array([values for values, _ in found]), found[0][1]


class _Evidence:
    """Predictions of graphs held out, by which it is told whether the regression has learned anything."""

    def __init__(self, training: Training) -> None:
        self.training, self.weight = training, 0.0
        self.groups = np.unique(training.groups, return_inverse=True)[1].reshape(-1)
        self.truths: list[np.ndarray] = []  # what graphs held out have beyond the mean of the known
        self.predictions: list[np.ndarray] = []  # and what is predicted of it
        self.members: list[np.ndarray] = []  # their groups, numbered anew in each draw
        self.ranked: list[tuple[float, float]] = []  # AUC, and its weight
        self.tests: list[np.ndarray] = []

    def add(self, held: Held, draw: int) -> None:
        outputs = self.training.outputs
        mean, there = known_means(outputs[held.train]), np.isfinite(outputs[held.test])
        self.truths.append(np.where(there, outputs[held.test] - mean, 0.0))
        self.predictions.append(np.where(there, held.scores[held.test] - mean, 0.0))
        self.members.append(draw * len(self.training) + self.groups[held.test])
        self.tests.append(held.test)
        if self.training.scorer.ranks:
            scorer = self.training.scorer
            self.ranked.append(scorer.of_outputs(held.scores[held.test], self.training.target[held.test]))

    def gain_and_error(self, draws: int) -> tuple[float, float]:
        """See :class:`ScoreWeight`."""
        n_groups = len(np.unique(self.groups))
        if self.training.scorer.ranks:
            return self._of_ranking(draws)
        gain, influence = _gain(np.concatenate(self.truths), np.concatenate(self.predictions))
        error = error_of_mean(influence, np.concatenate(self.members), draws)
        return gain, error * few_factor(n_groups)

    def _of_ranking(self, draws: int) -> tuple[float, float]:
        """Twice the AUC less 1, and its error by chance: that of the rarer side, group by group, in each label."""
        total = max(sum(weight for _, weight in self.ranked), 1e-300)
        mean = sum(score * weight for score, weight in self.ranked) / total
        tests = np.concatenate(self.tests[: max(1, len(self.tests) // draws)])
        truth, _ = self.training.objective.relevance(self.training.target[tests])
        variance = counted = 0.0
        for label in truth.T:
            known = np.isfinite(label)
            sides = [len(np.unique(self.groups[tests][known & (label == side)])) for side in (0, 1)]
            if min(sides):
                weight = min(sides)
                variance += weight**2 * (sum(sides) + 1) / (12 * sides[0] * sides[1])
                counted += weight
        if not counted:
            return 0.0, 1.0
        return 2 * mean - 1, 2 * float(np.sqrt(variance)) / counted * few_factor(int(counted))


def best_setting(table: np.ndarray) -> tuple[int, int]:
    """Row and column of the best score [weights, ks], each averaged with those of the next smaller and larger k.

    A mean of three is less a matter of luck than a single score. The smaller weight, then k, of equally good ones.
    """
    padded = np.pad(table, ((0, 0), (1, 1)), mode="edge")
    best, k = np.unravel_index((padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]).argmax(), table.shape)
    return int(best), int(k)


def fewer_columns(scores: np.ndarray, known: np.ndarray, most: int | None) -> np.ndarray:
    """Scores [N, T] along the directions in which the known ones differ most; as they are where `most` is no limit."""
    if most is None or (directions := spanning_directions(known)).shape[1] <= most:
        return scores
    return scores @ directions[:, :most]


def held_views(folds: Sequence[Held], weight: float, rows: np.ndarray) -> Callable[[int], list[FoldView]]:
    """Folds of the graphs in `fit`, for what is chosen after the metric: a function of the number of graphs in each.

    rows [N] are the indices of the graphs among those that were given.
    """
    return partial(_views, folds, weight, rows)


def _views(folds: Sequence[Held], weight: float, rows: np.ndarray, most: int) -> list[FoldView]:
    return [fold.view(weight, rows, most) for fold in folds]


def _gain(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, np.ndarray]:
    """What predictions [H, T] take off the squares of what is to be predicted, relative to these; and the influences.

    They are multiplied by the factor between 0 and 1 that suits them best. The gain is a ratio of sums over graphs; its
    influences [H] are what it changes by, H times, where a graph counts more: their mean has the error of the gain.
    """
    factor = np.clip((truth * predicted).sum() / max(float((predicted**2).sum()), 1e-300), 0.0, 1.0)
    squares, left = (truth**2).sum(1), ((truth - factor * predicted) ** 2).sum(1)
    mean = max(float(squares.mean()), 1e-300)
    gain = float((squares - left).mean()) / mean
    return gain, (squares - left - gain * squares) / mean


def error_of_mean(gains: np.ndarray, groups: np.ndarray, draws: int) -> float:
    """The standard error of the mean of gains [H], of which those of one group [H] go up and down together.

    All graphs were held out in each draw; the variance of a draw is what counts, since more draws tell no more graphs.
    """
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], gains - gains.mean())
    few = len(sums) / max(len(sums) - draws, 1)  # a mean of few groups is nearer to these than to others
    return float(np.sqrt(draws * few * (sums**2).sum()) / len(gains))


def few_factor(groups: int) -> float:
    """How much larger an error must be taken, that was found from few groups, to be as certain as one from many.

    The quantile of Student's distribution over that of the normal one.

    >>> [round(few_factor(groups), 2) for groups in (3, 10, 100, 1000)]
    [6.4, 1.36, 1.03, 1.0]
    """
    from scipy.special import ndtr, stdtrit

    return float(stdtrit(max(groups - 1, 1), ndtr(CERTAIN)) / CERTAIN)
