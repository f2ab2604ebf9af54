"""The weight of the learned scores in the distance, 0 included, and k with it: decided on graphs held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..._core.parallel import by_threads
from ..._core.schema import Count, NonNegative, Number, Saved
from ...linalg.principal_axes import spanning_directions
from ...linalg.ridge import fit_ridge, known_means
from ...linalg.squared_distances import squared_distances
from ...objectives import Objective
from ..base import FoldView

Squares = Callable[[np.ndarray], np.ndarray]  # numbers of known graphs -> squared distances of all [N, N]
Kernels = Callable[[np.ndarray], tuple[np.ndarray, float]]  # the same -> kernel among all [N, N], penalty

N_FOLDS = 5
_WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of the squared distance of the scores; 1 for the unlearned part
_KS = (1, 2, 3, 5, 7, 10, 15, 25, 40)
_GRAPHS = 3000  # folds are drawn anew until about so many graphs were held out
_DRAWS = 5  # but at most so often
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
    machine : float
        Score of the regression's own predictions.
    gain, error : float
        What the regression takes off the squared error of the mean, relative to it, and its standard error, for which
        graphs that are held out together count as one, and which is larger for few of these, see :func:`few_factor`.
        Predictions that are too bold are first drawn towards the mean, as distances between them do not depend on their
        scale.
    """

    weight: NonNegative
    n_neighbors: Count
    unlearned: Number
    learned: Number
    machine: Number
    gain: Number
    error: NonNegative


@dataclass
class Fold:
    """Graphs that a regression was fitted to, those held out, and what was found without these.

    Attributes
    ----------
    known, held : ndarray
        Numbers of the graphs.
    scores : ndarray [N, T]
        Of the regression, for all graphs.
    placed : ndarray [N, r]
        The same as coordinates of the distance: fewer where there is no place for all.
    squares : ndarray [N, N]
        Squared distances without learned scores.
    unit : float
        Mean squared distance of the known by these.
    """

    known: np.ndarray
    held: np.ndarray
    scores: np.ndarray
    placed: np.ndarray
    squares: np.ndarray
    unit: float

    def view(self, weight: float, rows: np.ndarray, most: int) -> FoldView:
        """Distances with learned scores of this weight, of at most `most` graphs; `rows` [N] are their numbers."""
        share = most / max(most, len(rows))
        rng = np.random.default_rng(0)
        known, held = (
            np.sort(rng.permutation(part)[: max(1, int(share * len(part)))]) for part in (self.known, self.held)
        )
        factor = np.float32(weight / self.unit)
        within, across = (
            np.sqrt(self.squares[np.ix_(part, known)] + factor * score_squares(self.placed[part], self.placed[known]))
            for part in (known, held)
        )
        np.fill_diagonal(within, 0.0)
        return FoldView(rows[known], rows[held], within, across, self.scores[held])


@dataclass
class HeldOut:
    """Folds of the graphs in `fit`, for what is chosen after the metric.

    Attributes
    ----------
    folds : list of Fold
    weight : float
        Of the learned scores.
    rows : ndarray [N]
        Indices of the graphs among those that were given.
    """

    folds: list[Fold]
    weight: float
    rows: np.ndarray

    def views(self, most: int) -> list[FoldView]:
        """Distances by fold, of at most `most` graphs in each."""
        return [fold.view(self.weight, self.rows, most) for fold in self.folds]


def held_out(
    kernels: Kernels, outputs: np.ndarray, folds: np.ndarray, squares: Squares, most: int | None = None
) -> Iterator[Fold]:
    """Machines fitted without one fold each; `folds` [N] says which.

    Their scores have at most `most` coordinates.
    """
    for fold in np.unique(folds):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(known) == 0 or len(held) == 0:
            continue
        kernel, penalty = kernels(known)
        mean = known_means(outputs[known])
        weights = fit_ridge(kernel[np.ix_(known, known)], outputs[known] - mean, penalty)
        scores = kernel[:, known] @ weights + mean
        placed = fewer_columns(scores, scores[known], most)
        unit = max(float(score_squares(placed[known], placed[known]).mean()), 1e-30)
        yield Fold(known, held, scores, placed, squares(known), unit)


def decide(
    squares: Squares,
    kernels: Kernels,
    objective: Objective,
    target: np.ndarray,
    groups: np.ndarray,
    rng: np.random.Generator,
    *,
    most: int | None = None,
    alone: Squares | None = None,
) -> tuple[ScoreWeight, list[Fold]]:
    """The weight of the learned scores, and k, by folds.

    Parameters
    ----------
    squares : function
        Squared distances without learning [N, N], of mean 1, chosen by those graphs alone whose numbers it is given.
    kernels : function
        Kernel of the regression among all [N, N] and its penalty, chosen by these graphs alone.
    objective, target
        What is to be predicted.
    groups : ndarray [N]
        Graphs of one group are held out together: copies, or what the user said.
    most : int, optional
        Coordinates that the scores may have.
    alone : function, optional
        In place of `squares` where the scores do not count: they need no coordinates then.

    Returns
    -------
    gate : ScoreWeight
    folds : list of Fold
        Of the first draw of folds.
    """
    outputs = objective.outputs(target)
    count = len(target)
    ks = [k for k in _KS if k < count * (N_FOLDS - 1) // N_FOLDS] or [1]
    table, own, draws = np.zeros((len(_WEIGHTS), len(ks))), 0.0, 0
    truths: list[np.ndarray] = []  # what graphs held out have beyond the mean of the known
    predictions: list[np.ndarray] = []  # and what is predicted of it
    member_of: list[np.ndarray] = []  # their groups, numbered anew in each draw
    first: list[Fold] = []
    places = np.unique(groups, return_inverse=True)[1].reshape(-1)
    while draws == 0 or (draws * count < _GRAPHS and draws < _DRAWS):
        drawn = objective.folds(target, N_FOLDS, rng, groups)
        folds = list(held_out(kernels, outputs, drawn, squares, most))
        first = first or folds
        draws += 1
        for fold in folds:
            known, held, scores = fold.known, fold.held, fold.scores
            without = fold.squares if alone is None else alone(known)
            table += _scores_by_setting(fold, without, objective, target, ks)
            own += float(objective.output_scores(scores[held], target[held]).sum())
            mean, there = known_means(outputs[known]), np.isfinite(outputs[held])
            truths.append(np.where(there, outputs[held] - mean, 0.0))
            predictions.append(np.where(there, scores[held] - mean, 0.0))
            member_of.append(draws * count + places[held])
    if not truths:
        raise ValueError("all graphs are of one group: none can be held out; give more groups, or learn=False")
    gain, influence = _gain(np.concatenate(truths), np.concatenate(predictions))
    error = error_of_mean(influence, np.concatenate(member_of), draws) * few_factor(int(places.max()) + 1)
    table /= len(influence)
    if gain <= CERTAIN * error:
        table[1:] = -np.inf
    place, k = best_setting(table)
    unlearned = float(table[0, best_setting(table[:1])[1]])
    if place == 0 and alone is not None:
        first = [replace(fold, squares=alone(fold.known)) for fold in first]
    learned, of_regression = float(table[place, k]), own / len(influence)
    return ScoreWeight(_WEIGHTS[place], ks[k], unlearned, learned, of_regression, gain, error), first


def _scores_by_setting(
    fold: Fold, without: np.ndarray, objective: Objective, target: np.ndarray, ks: list[int]
) -> np.ndarray:
    """Scores of k-NN on graphs held out, added up over these, by weight of the learned scores and k [weights, ks].

    `without` are the squared distances [N, N] where the weight is 0.
    """
    known, held = fold.known, fold.held
    gaps = score_squares(fold.placed[held], fold.placed[known])
    near, alone = (squares[np.ix_(held, known)] for squares in (fold.squares, without))

    def scores_with(weight: float) -> np.ndarray:
        distances = np.sqrt(near + np.float32(weight / fold.unit) * gaps if weight > 0 else alone)
        return objective.neighbor_scores(distances, target[known], target[held], ks, weighted=True).sum(0)

    return np.array(list(by_threads(scores_with, _WEIGHTS)))


def best_setting(table: np.ndarray) -> tuple[int, int]:
    """Row and column of the best score [weights, ks], each averaged with those of the next smaller and larger k.

    A mean of three is less a matter of luck than a single score. The smaller weight, then k, of equally good ones.
    """
    padded = np.pad(table, ((0, 0), (1, 1)), mode="edge")
    place, k = np.unravel_index((padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]).argmax(), table.shape)
    return int(place), int(k)


def fewer_columns(scores: np.ndarray, known: np.ndarray, most: int | None) -> np.ndarray:
    """Scores [N, T] along the directions in which the known ones differ most; as they are where `most` is no limit."""
    if most is None or (directions := spanning_directions(known)).shape[1] <= most:
        return scores
    return scores @ directions[:, :most]


def score_squares(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances of scores [N, T], [M, T], float32."""
    return squared_distances(scores, others).astype(np.float32)


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
