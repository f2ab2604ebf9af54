"""The paper's protocol: which graphs are trained on, how k is chosen, what is reported. Test labels enter no choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

NEIGHBORS = (1, 2, 3, 5, 7)
FIRST_SEED = 42
SCALES = tuple(float(x) for x in np.logspace(-4, 1, 6))
COSTS = (1.0, *(float(x) for x in np.logspace(-4, 5, 12)))


class Choice(NamedTuple):
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


def choose_knn(distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Choice:
    """k-NN with k of {1, 2, 3, 5, 7} chosen by the inner folds; the first of equally good ones.

    Parameters
    ----------
    distances : ndarray [N, N]
        Between all graphs.
    y : ndarray [N]
        Classes.
    train, test : ndarray
        Indices.
    """
    codes = _codes(y)
    within = distances[np.ix_(train, train)]
    scores = np.zeros(len(NEIGHBORS))
    count = 0
    for fit, check in inner_folds(codes[train]):
        scores += _knn_scores(within[np.ix_(check, fit)], codes[train][fit], codes[train][check])
        count += 1
    best = int(scores.argmax())
    final = _knn_scores(distances[np.ix_(test, train)], codes[train], codes[test])
    return Choice({"k": NEIGHBORS[best]}, float(scores[best] / count), float(final[best]))


def choose_svm(distances: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Choice:
    """SVM with kernel exp(−λ d), λ and C chosen by the inner folds; the first of equally good ones.

    A pair (λ, C) is given up as soon as it could not win any more, were all its remaining folds perfect.
    """
    from sklearn.svm import SVC

    codes = _codes(y)
    folds = list(inner_folds(codes[train]))
    best, best_score, kernels = None, -1.0, {}
    for scale in SCALES:
        kernels[scale] = np.exp(-scale * distances[:, train].astype(float))
    for cost in sorted(COSTS, key=lambda c: abs(np.log10(c))):  # likely winners first: the others are given up sooner
        for scale in SCALES:
            within = kernels[scale][train]
            score, left = 0.0, len(folds)
            for fit, check in folds:
                model = SVC(C=cost, kernel="precomputed", cache_size=1000)
                model.fit(within[np.ix_(fit, fit)], codes[train][fit])
                score += model.score(within[np.ix_(check, fit)], codes[train][check])
                left -= 1
                if (score + left) / len(folds) <= best_score:
                    break
            else:
                if score / len(folds) > best_score:
                    best, best_score = (scale, cost), score / len(folds)
    assert best is not None
    final = SVC(C=best[1], kernel="precomputed", cache_size=1000).fit(kernels[best[0]][train], codes[train])
    return Choice(
        {"lambda": best[0], "C": best[1]}, best_score, float(final.score(kernels[best[0]][test], codes[test]))
    )


def _knn_scores(distances: np.ndarray, y: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Accuracy for each k [5] from one list of neighbours; a tied vote goes to the smallest class."""
    from ..transport import kernels

    k = min(max(NEIGHBORS), distances.shape[1])
    rows = len(distances)
    best, where = np.empty((rows, k), distances.dtype), np.empty((rows, k), np.int64)
    kernels.smallest(np.ascontiguousarray(distances), np.full(rows, -1), best, where)
    votes = np.zeros((rows, int(y.max()) + 1))
    scores = []
    for j in range(k):
        votes[np.arange(rows), y[where[:, j]]] += 1
        if j + 1 in NEIGHBORS:
            scores.append(np.mean(votes.argmax(1) == truth))
    scores += [scores[-1]] * (len(NEIGHBORS) - len(scores))  # fewer graphs than neighbours
    return np.array(scores)


def _codes(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]
