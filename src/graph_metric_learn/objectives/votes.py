"""The k-NN vote: neighbours tied for the last places share the votes that are left.

Equal distances are common among graphs: small ones have many copies. Taking the first of equals would let the order of
the reference graphs decide (on IMDB-MULTI, sorted by class, that costs ten points of accuracy).
"""

from __future__ import annotations

import numpy as np

from .._core.compiled import share_of, shared

_SMALL = 30_000  # distances up to which threads are not worth waking
SAME = 1e-5  # relative difference up to which two float32 distances count as equal
VOTE_LIMIT = 10.0  # how often as much as the farthest of those who vote anybody counts, at most


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


def by_distance(shares: np.ndarray, distances: np.ndarray, limit: float = VOTE_LIMIT) -> np.ndarray:
    """Shares of votes [N, M] over the distance, but nobody counts more than `limit` times as much as the farthest.

    Without a limit (infinity) a copy, at distance 0, takes all, whatever k. Small graphs have many copies, of other
    classes too: asking more than those is better (on IMDB-BINARY by two points of accuracy).

    Examples
    --------
    >>> by_distance(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [0.0, 2.0], [0.0, 0.0]]))
    array([[1. , 0.5],
           [5. , 0.5],
           [1. , 1. ]])
    """
    farthest = np.where(shares > 0, distances, 0.0).max(1, keepdims=True).astype(np.float64)
    limited = np.maximum(distances, farthest / limit)
    touching = shares * (limited == 0)
    return np.where(touching.any(1, keepdims=True), touching, shares / np.where(limited > 0, limited, 1.0))


def neighbor_sums(
    distances: np.ndarray, values: np.ndarray, ks: tuple[int, ...], *, weighted: bool = False
) -> np.ndarray:
    """Sums of values over the k nearest neighbours, for several k at once.

    Parameters
    ----------
    distances : ndarray [N, M]
        Infinite for those that do not count.
    values : ndarray [M, T]
    ks : tuple of int
        Ascending; one larger than M counts as M.
    weighted : bool
        Whether neighbours count as one over the distance, see :func:`by_distance`.

    Returns
    -------
    sums : ndarray [N, len(ks), T]
        Fewer than k count where fewer are at a finite distance.
    """
    if list(ks) != sorted(ks) or min(ks) < 1:
        raise ValueError(f"ks must ascend from 1 or more, got {ks}")
    if distances.shape[1] == 0:
        raise ValueError("there are no neighbours to choose from")
    counts = np.minimum(np.array(ks, dtype=np.int64), distances.shape[1])
    sums = np.zeros((len(distances), len(ks), values.shape[1]))
    _add_up(
        np.ascontiguousarray(distances),
        np.ascontiguousarray(values, dtype=np.float64),
        counts,
        weighted,
        sums,
        threads=distances.size > _SMALL,
    )
    return sums


def class_votes(distances: np.ndarray, codes: np.ndarray, n_classes: int, ks: tuple[int, ...]) -> np.ndarray:
    """Votes for each class by k nearest neighbours [N, len(ks), n_classes], for several k at once; they add up to k.

    `codes` [M] are the classes of the voters, 0 … n_classes − 1; see :func:`neighbor_sums`.
    """
    return neighbor_sums(distances, np.eye(n_classes)[codes], ks)


def weighted_votes(distances: np.ndarray, codes: np.ndarray, n_classes: int, ks: tuple[int, ...]) -> np.ndarray:
    """The same with votes that count as one over the distance; they do not add up to k."""
    return neighbor_sums(distances, np.eye(n_classes)[codes], ks, weighted=True)


def elected(votes: np.ndarray) -> np.ndarray:
    """The class with most votes, along the last axis; the first of those that differ by rounding only.

    >>> elected(np.array([[0.3, 0.1 + 0.2], [0.0, 1.0]]))
    array([0, 1])
    """
    most = votes.max(-1, keepdims=True)
    return (votes / np.where(most > 0, most, 1.0)).round(9).argmax(-1)


@shared
def _add_up(part, parts, distances, values, ks, weighted, sums):
    width = values.shape[1]
    for a in share_of(distances.shape[0], part, parts):
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
        most = np.ones(len(ks))  # that a vote counts: by the farthest of those who vote
        for q in range(len(ks)):
            place = ks[q] - 1
            while place > 0 and best[place] == np.inf:
                place -= 1
            if weighted and best[place] > 0:
                most[q] = VOTE_LIMIT / best[place]
        shared = np.zeros((len(ks), width))
        nearer = np.zeros(len(ks))
        tied = np.zeros(len(ks))
        for b in range(len(row)):
            d = row[b]
            if d <= best[-1] * (1 + SAME) and d < np.inf:
                own = 1.0 / d if weighted and d > 0 else np.inf
                for q in range(len(ks)):
                    worth = min(own, most[q])
                    last = best[ks[q] - 1]
                    if d < last * (1 - SAME):
                        nearer[q] += 1.0
                        for c in range(width):
                            sums[a, q, c] += worth * values[b, c]
                    elif d <= last * (1 + SAME):
                        tied[q] += 1.0
                        for c in range(width):
                            shared[q, c] += worth * values[b, c]
        for q in range(len(ks)):
            if tied[q] > 0:
                left = (ks[q] - nearer[q]) / tied[q]
                for c in range(width):
                    sums[a, q, c] += left * shared[q, c]
