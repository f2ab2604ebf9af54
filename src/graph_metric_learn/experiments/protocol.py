"""The paper's protocol: which graphs are trained on, how k is chosen, what is reported. Test labels enter no choice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC

from ..metrics.automatic.selection import NEIGHBORS, leave_one_out, usable
from ..objectives.votes import class_votes, elected, weighted_votes

FIRST_SEED = 42
SCALES = tuple(float(x) for x in np.logspace(-4, 1, 6))
COSTS = (1.0, *(float(x) for x in np.logspace(-4, 5, 12)))
MANY, STEPS = 2000, 2_000_000  # with more training graphs than that, libsvm gets no more steps than these


class Outcome(NamedTuple):
    """What a classifier reached with its own parameters chosen on the training part.

    Attributes
    ----------
    chosen : dict
        The parameters.
    validation : float
        Mean accuracy of the 5 folds within the training part.
    test : float
        Accuracy on the test part.
    """

    chosen: dict[str, float]
    validation: float
    test: float


def split(y: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test indices of a run: the first fold of a shuffled stratified 10-fold, seed 42 + run.

    Plain 10-fold where every class has fewer than 10 members.

    >>> train, test = split(np.arange(100) % 2, run=0)
    >>> len(train), len(test), len(set(train) & set(test))
    (90, 10, 0)
    """
    kind = StratifiedKFold if np.bincount(_codes(y)).max() >= 10 else KFold
    folds = kind(10, shuffle=True, random_state=FIRST_SEED + run)
    return next(iter(folds.split(np.zeros(len(y)), y)))


def inner_folds(y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The 5 folds within the training part: stratified where possible, not shuffled."""
    kind = StratifiedKFold if np.bincount(_codes(y)).max() >= 5 else KFold
    return kind(5).split(np.zeros(len(y)), y)


def choose_knn(
    distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, ks: tuple[int, ...] = NEIGHBORS
) -> Outcome:
    """k-NN with k of {1, 2, 3, 5, 7} chosen by the inner folds; the first of equally good ones.

    Parameters
    ----------
    distances : ndarray [N, N]
        Between all graphs.
    y : ndarray [N]
        Classes.
    train, test : ndarray
        Indices.
    ks : tuple of int
        Among which to choose.
    """
    codes = _codes(y)
    within = distances[np.ix_(train, train)]
    scores = np.zeros(len(ks))
    count = 0
    for fit, check in inner_folds(codes[train]):
        scores += _knn_scores(within[np.ix_(check, fit)], codes[train][fit], codes[train][check], ks=ks)
        count += 1
    best = int(scores.argmax())
    final = _knn_scores(distances[np.ix_(test, train)], codes[train], codes[test], ks=ks)
    return Outcome({"k": ks[best]}, float(scores[best] / count), float(final[best]))


def choose_nearest(distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    """The same with k = 1."""
    return choose_knn(distances, y, train, test, ks=(1,))


def choose_knn_left_out(
    distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, votes_of: Callable = class_votes
) -> Outcome:
    """The same with k chosen by leaving one training graph out at a time.

    Folds that are not shuffled leave out neighbouring graphs together; in datasets that are sorted by more than class
    (ENZYMES, BZR), these are each other's best neighbours.
    """
    codes = _codes(y)
    scores = leave_one_out(distances[np.ix_(train, train)], codes[train], usable(len(train)), votes_of)
    best = int(scores.argmax())
    final = _knn_scores(distances[np.ix_(test, train)], codes[train], codes[test], votes_of)
    return Outcome({"k": NEIGHBORS[best]}, float(scores[best]), float(final[best]))


def choose_knn_weighted(distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    """The same with votes that count as one over the distance, as scikit-learn's weights="distance"."""
    return choose_knn_left_out(distances, y, train, test, weighted_votes)


def choose_svm(distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    """SVM with kernel exp(−λ d), λ and C chosen by the inner folds; the first of equally good ones."""
    kernels = (({"lambda": scale}, np.exp(-scale * distances[:, train].astype(float))) for scale in SCALES)
    return _choose_cost(kernels, y, train, test)


def choose_kernel_svm(kernel: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Outcome:
    """SVM with a given kernel [N, N], C chosen by the inner folds; the first of equally good ones."""
    return _choose_cost([({}, kernel[:, train])], y, train, test)


def _choose_cost(
    kernels: Iterable[tuple[dict[str, float], np.ndarray]], y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Outcome:
    """The best of all kernels [N, train] and costs, in the order of the grid.

    Two things are not computed, and change nothing: a pair (kernel, C) is given up as soon as it could not win even
    if all its remaining folds were perfect; and a fold in which no multiplier reached C is not solved again for a
    larger C, which has the same solution. A third does change something, with many training graphs: a C that was tried
    and that libsvm did not solve within `STEPS` steps is left out, and so are all larger ones. They can take hours.
    """
    codes = _codes(y)
    folds = list(inner_folds(codes[train]))
    steps = STEPS if len(train) > MANY else -1
    best_score, best_cost, best_kernel, best_chosen = -1.0, 0.0, np.empty(0), {}
    for chosen, kernel in kernels:
        within = [(kernel[np.ix_(train[fit], fit)], kernel[np.ix_(train[check], fit)]) for fit, check in folds]
        settled: dict[int, tuple[float, float]] = {}
        too_hard = np.inf
        for cost in COSTS:
            if cost >= too_hard:
                continue
            score = 0.0
            for i, ((fit, check), (gram, rows)) in enumerate(zip(folds, within, strict=True)):
                if i in settled and cost >= settled[i][0]:
                    score += settled[i][1]
                else:
                    model = _tried(_svc(cost, steps), gram, codes[train][fit])
                    if model.fit_status_ != 0:
                        too_hard = cost
                        break
                    found = model.score(rows, codes[train][check])
                    score += found
                    if np.abs(model.dual_coef_).max() < cost:
                        settled[i] = min((cost, found), settled.get(i, (np.inf, 0.0)))
                if (score + (len(folds) - 1 - i)) / len(folds) <= best_score + 1e-9:  # not better but by rounding
                    break
            else:
                best_score, best_cost, best_kernel, best_chosen = score / len(folds), cost, kernel, chosen
    final = _svc(best_cost).fit(best_kernel[train], codes[train])
    test_score = float(final.score(best_kernel[test], codes[test]))
    return Outcome({**best_chosen, "C": best_cost}, best_score, test_score)


def _svc(cost: float, steps: int = -1) -> SVC:
    return SVC(C=cost, kernel="precomputed", cache_size=1000, max_iter=steps)


def _tried(model: SVC, gram: np.ndarray, codes: np.ndarray) -> SVC:
    with warnings.catch_warnings():  # whether it converged is asked of the model
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(gram, codes)


def _knn_scores(
    distances: np.ndarray,
    y: np.ndarray,
    truth: np.ndarray,
    votes_of: Callable = class_votes,
    ks: tuple[int, ...] = NEIGHBORS,
) -> np.ndarray:
    """Accuracy for each k, from one search."""
    votes = votes_of(distances, y, int(y.max()) + 1, ks)
    return (elected(votes) == truth[:, None]).mean(0)


def _codes(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]
