"""The paper's protocol: which graphs are trained on, how k is chosen, what is reported. Test labels enter no choice."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC

from graph_metric_learn.objectives import Classes
from graph_metric_learn.objectives.leave_one_out import NEIGHBORS, leave_one_out
from graph_metric_learn.objectives.votes import class_votes, elected

FIRST_SEED = 42
FOLDS = 10
SCALES = tuple(float(x) for x in np.logspace(-4, 1, 6))  # λ of the kernel exp(−λ d)
COSTS = (1.0, *(float(x) for x in np.logspace(-4, 5, 12)))  # C of the SVM
# With more training graphs than LARGE, libsvm stops after MAX_STEPS steps, and a C that needs more is skipped.
LARGE, MAX_STEPS = 2000, 2_000_000


class Outcome(NamedTuple):
    """What a classifier reached with its own parameters chosen on the training part."""

    chosen: dict[str, float]  # the parameters
    validation: float  # mean accuracy of the 5 folds within the training part, or the leave-one-out accuracy
    test: float  # accuracy on the test part


def split(y: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test indices of a run: the first fold of a shuffled stratified 10-fold, seed 42 + run.

    Plain 10-fold where every class has fewer than 10 members.

    >>> train, test = split(np.arange(100) % 2, run=0)
    >>> len(train), len(test), len(set(train) & set(test))
    (90, 10, 0)
    """
    kind = StratifiedKFold if np.bincount(_codes(y)).max() >= FOLDS else KFold
    folds = kind(FOLDS, shuffle=True, random_state=FIRST_SEED + run)
    return next(iter(folds.split(np.zeros(len(y)), y)))


def inner_folds(y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The 5 folds within the training part: stratified where a class has 5 members, not shuffled."""
    kind = StratifiedKFold if np.bincount(_codes(y)).max() >= 5 else KFold
    return kind(5).split(np.zeros(len(y)), y)


def choose_knn(
    distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, ks: tuple[int, ...] = NEIGHBORS
) -> Outcome:
    """k-NN on distances [N, N] and classes y [N], k chosen among `ks` by the inner folds; the first of equal ones.

    `train` and `test` are indices, here and below.
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


def choose_knn_loo(
    distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, *, weighted: bool = False
) -> Outcome:
    """k-NN with k chosen by leave-one-out on the training part, votes `weighted` by distance or not.

    The inner folds are not shuffled, so they hold out consecutive graphs together. In datasets that are sorted by more
    than class (ENZYMES, BZR), these are each other's best neighbours.
    """
    codes = _codes(y)
    scores = leave_one_out(Classes(), distances[np.ix_(train, train)], codes[train], weighted=weighted)
    best = int(scores.argmax())
    final = _knn_scores(distances[np.ix_(test, train)], codes[train], codes[test], weighted=weighted)
    return Outcome({"k": NEIGHBORS[best]}, float(scores[best]), float(final[best]))


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
    """The best pair of a kernel [N, len(train)] and C; of equally good ones the first of the grid.

    Two shortcuts do not change the result. A pair is given up as soon as it would not be the best even with perfect
    scores on its remaining folds. A fold whose multipliers all stay below C is not solved again for a larger C: the
    solution is the same.

    A third shortcut can change it, with more than `LARGE` training graphs: a C that libsvm does not solve within
    `MAX_STEPS` steps is skipped, and so are all larger ones, which can take hours.
    """
    codes = _codes(y)
    folds = list(inner_folds(codes[train]))
    max_steps = MAX_STEPS if len(train) > LARGE else -1
    best_score, best_cost, best_kernel, best_chosen = -1.0, 0.0, np.empty(0), {}
    for chosen, kernel in kernels:
        within = [(kernel[np.ix_(train[fit], fit)], kernel[np.ix_(train[check], fit)]) for fit, check in folds]
        unbounded: dict[int, tuple[float, float]] = {}  # by fold: the least C that no multiplier reaches, its accuracy
        too_hard = np.inf
        for cost in COSTS:
            if cost >= too_hard:
                continue
            score = 0.0
            for i, ((fit, check), (gram, rows)) in enumerate(zip(folds, within, strict=True)):
                if i in unbounded and cost >= unbounded[i][0]:
                    score += unbounded[i][1]
                else:
                    model = _fit_quietly(_svc(cost, max_steps), gram, codes[train][fit])
                    if model.fit_status_ != 0:
                        too_hard = cost
                        break
                    accuracy = model.score(rows, codes[train][check])
                    score += accuracy
                    if np.abs(model.dual_coef_).max() < cost:
                        unbounded[i] = min((cost, accuracy), unbounded.get(i, (np.inf, 0.0)))
                if (score + (len(folds) - 1 - i)) / len(folds) <= best_score + 1e-9:  # no better, or by rounding only
                    break
            else:
                best_score, best_cost, best_kernel, best_chosen = score / len(folds), cost, kernel, chosen
    final = _svc(best_cost).fit(best_kernel[train], codes[train])
    test_score = float(final.score(best_kernel[test], codes[test]))
    return Outcome({**best_chosen, "C": best_cost}, best_score, test_score)


def _svc(cost: float, max_steps: int = -1) -> SVC:
    return SVC(C=cost, kernel="precomputed", cache_size=1000, max_iter=max_steps)


def _fit_quietly(model: SVC, gram: np.ndarray, codes: np.ndarray) -> SVC:
    """Fits without the warning that it did not converge, which `fit_status_` says too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(gram, codes)


def _knn_scores(
    distances: np.ndarray, y: np.ndarray, truth: np.ndarray, ks: tuple[int, ...] = NEIGHBORS, *, weighted: bool = False
) -> np.ndarray:
    """Accuracy for each k, from one search."""
    votes = class_votes(distances, y, int(y.max()) + 1, ks, weighted=weighted)
    return (elected(votes) == truth[:, None]).mean(0)


def _codes(y: np.ndarray) -> np.ndarray:
    """The classes as 0, 1, …"""
    return np.unique(y, return_inverse=True)[1]
