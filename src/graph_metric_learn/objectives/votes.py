"""The k-NN vote: neighbours tied for the last places share the votes that are left.

Equal distances are common among graphs: small ones have many copies. Taking the first of equals would let the order of
the reference graphs decide (on IMDB-MULTI, sorted by class, that costs ten points of accuracy).
"""

from __future__ import annotations

import numpy as np

from .._core.compiled import njit, share_of, shared

_SMALL = 30_000  # distances up to which threads are not worth waking
SAME = 1e-5  # relative difference up to which two float32 distances count as equal
VOTE_LIMIT = 10.0  # how often as much as the farthest of those who vote anybody counts, at most


def vote_shares(distances: np.ndarray, k: int, *, weighted: bool = False, limit: float = VOTE_LIMIT) -> np.ndarray:
    """How much each column counts among the k nearest of each row [N, M]; without weights rows add up to k.

    Parameters
    ----------
    distances : ndarray [N, M]
        Infinite for those that do not count.
    k : int
        At most M.
    weighted : bool
        Whether neighbours count as one over the distance.
    limit : float
        How often as much as the farthest of those who vote anybody counts, at most. Without one (infinity) a copy, at
        distance 0, takes all, whatever k. Small graphs have many copies, of other classes too: asking more than those
        is better (on IMDB-BINARY by two points of accuracy).

    Examples
    --------
    >>> vote_shares(np.array([[0.0, 1.0, 1.0, 2.0]]), 2)
    array([[1. , 0.5, 0.5, 0. ]])
    >>> vote_shares(np.array([[1.0, 2.0], [0.0, 2.0], [0.0, 0.0]]), 2, weighted=True)
    array([[1. , 0.5],
           [5. , 0.5],
           [1. , 1. ]])
    """
    shares = np.zeros(distances.shape)
    _shares(np.ascontiguousarray(distances), k, weighted, limit, shares, threads=distances.size > _SMALL)
    return shares


def neighbor_sums(
    distances: np.ndarray, values: np.ndarray, ks: tuple[int, ...], *, weighted: bool = False
) -> np.ndarray:
    """Sums of values over the k nearest neighbours, for several k at once.

    Of distances [N, M] and values [M, T]: [N, len(ks), T], see :func:`vote_shares`. ks ascend; one larger than M counts
    as M. Fewer than k count where fewer are at a finite distance.
    """
    if list(ks) != sorted(ks) or min(ks) < 1:
        raise ValueError(f"ks must ascend from 1 or more, got {ks}")
    if distances.shape[1] == 0:
        raise ValueError("there are no neighbours to choose from")
    rows, values = np.ascontiguousarray(distances), np.ascontiguousarray(values, dtype=np.float64)
    counts = np.minimum(np.array(ks, dtype=np.int64), distances.shape[1])
    sums = np.zeros((len(distances), len(ks), values.shape[1]))
    _add_up(rows, values, counts, weighted, VOTE_LIMIT, sums, threads=distances.size > _SMALL)
    return sums


def class_votes(
    distances: np.ndarray, codes: np.ndarray, n_classes: int, ks: tuple[int, ...], *, weighted: bool = False
) -> np.ndarray:
    """Votes for each class by k nearest neighbours [N, len(ks), n_classes]; without weights they add up to k.

    `codes` [M] are the classes of the voters, 0 … n_classes − 1; see :func:`neighbor_sums`.
    """
    return neighbor_sums(distances, np.eye(n_classes)[codes], ks, weighted=weighted)


def elected(votes: np.ndarray) -> np.ndarray:
    """The class with most votes, along the last axis; the first of those that differ by rounding only.

    >>> elected(np.array([[0.3, 0.1 + 0.2], [0.0, 1.0]]))
    array([0, 1])
    """
    most = votes.max(-1, keepdims=True)
    return (votes / np.where(most > 0, most, 1.0)).round(9).argmax(-1)


@shared
def _add_up(part, parts, distances, values, ks, weighted, limit, sums):
    """Sums over the nearest [N, len(ks), T], of values [M, T]; the vote is that of `_votes_of`."""
    near, votes = np.empty(distances.shape[1], np.int64), np.empty(distances.shape[1])
    best = np.empty(ks[-1])
    for a in share_of(distances.shape[0], part, parts):
        count = _nearest(distances[a], best, near)
        for q in range(len(ks)):
            _votes_of(distances[a], near[:count], best[: ks[q]], weighted, limit, votes)
            for i in range(count):
                for c in range(values.shape[1] if votes[i] > 0 else 0):
                    sums[a, q, c] += votes[i] * values[near[i], c]


@shared
def _shares(part, parts, distances, k, weighted, limit, shares):
    """The votes themselves, into shares [N, M] of zeros."""
    near, votes = np.empty(distances.shape[1], np.int64), np.empty(distances.shape[1])
    best = np.empty(k)
    for a in share_of(distances.shape[0], part, parts):
        count = _nearest(distances[a], best, near)
        _votes_of(distances[a], near[:count], best, weighted, limit, votes)
        for i in range(count):
            shares[a, near[i]] = votes[i]


@njit(error_model="numpy")
def _nearest(row, best, near):
    """The smallest distances of a row [M], ascending, into best [k]; and into near [M] who may vote: how many."""
    best[:] = np.inf
    for b in range(len(row)):
        d = row[b]
        if d < best[-1]:
            place = len(best) - 1
            while place > 0 and best[place - 1] > d:
                best[place] = best[place - 1]
                place -= 1
            best[place] = d
    count = 0
    for b in range(len(row)):
        if row[b] <= best[-1] * (1 + SAME) and row[b] < np.inf:
            near[count] = b
            count += 1
    return count


@njit(error_model="numpy")
def _votes_of(row, near, best, weighted, limit, votes):
    """How much each of `near` counts among the nearest, whose distances are best [k], into votes."""
    last = best[-1]
    nearer = tied = 0
    for b in near:
        nearer += row[b] < last * (1 - SAME)
        tied += row[b] <= last * (1 + SAME)
    left = (len(best) - nearer) / max(tied - nearer, 1)  # of a vote, for each of those tied for the last places
    place = len(best) - 1
    while place > 0 and best[place] == np.inf:
        place -= 1
    most = limit / best[place] if best[place] > 0 else 1.0
    for i in range(len(near)):
        d = row[near[i]]
        votes[i] = 1.0 if d < last * (1 - SAME) else left if d <= last * (1 + SAME) else 0.0
        if weighted and most == np.inf and best[0] == 0:
            votes[i] *= d == 0
        elif weighted:
            votes[i] *= min(1.0 / d, most) if d > 0 else most
