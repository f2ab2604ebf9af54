"""The k-NN vote: neighbours tied for the last places share the votes that are left.

Equal distances are common among graphs: small ones have many copies. Taking the first of equals would let the order of
the reference graphs decide (on IMDB-MULTI, sorted by class, that costs ten points of accuracy).
"""

from __future__ import annotations

import numpy as np

from .._core.compiled import parallel, prange

SAME = 1e-5  # relative difference up to which two float32 distances count as equal


def neighbor_shares(distances: np.ndarray, k: int) -> np.ndarray:
    """How much of each row's k votes each column has [N, M]; rows add up to k.

    Parameters
    ----------
    distances : ndarray [N, M]
    k : int
        At most M.

    Examples
    --------
    >>> neighbor_shares(np.array([[0.0, 1.0, 1.0, 2.0]]), 2)
    array([[1. , 0.5, 0.5, 0. ]])
    """
    last = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    nearer, tied = distances < last * (1 - SAME), distances <= last * (1 + SAME)
    tied &= ~nearer
    return nearer + tied * ((k - nearer.sum(1, keepdims=True)) / tied.sum(1, keepdims=True))


def by_distance(shares: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Shares of votes [N, M] divided by the distance; who is at distance 0 takes all.

    Examples
    --------
    >>> by_distance(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    touching = shares * (distances == 0)
    return np.where(touching.any(1, keepdims=True), touching, shares / np.where(distances > 0, distances, 1.0))


def class_votes(distances: np.ndarray, codes: np.ndarray, n_classes: int, ks: tuple[int, ...]) -> np.ndarray:
    """Votes for each class by k nearest neighbours, for several k at once.

    Parameters
    ----------
    distances : ndarray [N, M]
        To the M voters.
    codes : ndarray [M]
        Their classes, 0 … n_classes − 1.
    ks : tuple of int
        Ascending; one larger than M counts as M.

    Returns
    -------
    votes : ndarray [N, len(ks), n_classes]
        Adds up to k.
    """
    if list(ks) != sorted(ks):
        raise ValueError(f"ks must ascend, got {ks}")
    counts = np.minimum(np.array(ks, dtype=np.int64), distances.shape[1])
    votes = np.zeros((len(distances), len(ks), n_classes))
    _vote(np.ascontiguousarray(distances), codes.astype(np.int64), counts, votes)
    return votes


def weighted_votes(distances: np.ndarray, codes: np.ndarray, n_classes: int, ks: tuple[int, ...]) -> np.ndarray:
    """The same with votes that count as one over the distance; they do not add up to k."""
    labels = np.eye(n_classes)[codes]
    counts = [min(k, distances.shape[1]) for k in ks]
    return np.stack([by_distance(neighbor_shares(distances, k), distances) @ labels for k in counts], axis=1)


def elected(votes: np.ndarray) -> np.ndarray:
    """The class with most votes, along the last axis; the first of those that differ by rounding only.

    >>> elected(np.array([[0.3, 0.1 + 0.2], [0.0, 1.0]]))
    array([0, 1])
    """
    most = votes.max(-1, keepdims=True)
    return (votes / np.where(most > 0, most, 1.0)).round(9).argmax(-1)


@parallel
def _vote(distances, codes, ks, votes):
    n_classes = votes.shape[2]
    for a in prange(distances.shape[0]):
        row = distances[a]
        best = np.full(ks[-1], np.inf)
        for b in range(len(row)):  # the smallest, ascending
            d = row[b]
            if d < best[-1]:
                place = len(best) - 1
                while place > 0 and best[place - 1] > d:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = d
        shared = np.zeros((len(ks), n_classes))
        for b in range(len(row)):
            d = row[b]
            if d <= best[-1] * (1 + SAME):
                for q in range(len(ks)):
                    last = best[ks[q] - 1]
                    if d < last * (1 - SAME):
                        votes[a, q, codes[b]] += 1.0
                    elif d <= last * (1 + SAME):
                        shared[q, codes[b]] += 1.0
        for q in range(len(ks)):
            left = (ks[q] - votes[a, q].sum()) / shared[q].sum()
            for c in range(n_classes):
                votes[a, q, c] += left * shared[q, c]
