"""What each name adds to the difference of two multisets, by a weighted sum of their kernels to references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._core.compiled import njit
from .multisets import MinSums

_STEPS = 8  # places along the line between two multisets


def changes_by_name(
    sums: MinSums,
    name: np.ndarray,
    level: np.ndarray,
    counts: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray,
    ranges: Sequence[int],
) -> np.ndarray:
    """What each of U names adds to Σ_m weights_m (k(x, m) − k(z, m)), for several columns of weights [U, C].

    The difference of the counts of a name, times the derivative by this count, which is averaged over a few places of
    the straight line from z to x. Names add up to the difference of the sums, but for a little that few places miss.
    With S the minima and D = X + Z − S the maxima of one range of levels, the derivative of S / D by the count of a
    name is 1 / D where the reference has more of it, and −S / D² where it has not.

    Parameters
    ----------
    sums : MinSums
        The M references.
    name, level : ndarray [U]
        Names (uint64) with their levels, each pair once.
    counts : two ndarrays [U]
        How often x and z have each name.
    weights : ndarray [M, C]
    ranges : sequence of int
        The kernel is the mean over these L, see :class:`MinSums`.

    Examples
    --------
    The reference has 7 and 9; a multiset with both is as near as can be, an empty one as far.

    >>> name, level, once = np.array([7, 9], dtype=np.uint64), np.zeros(2, int), np.ones(2)
    >>> sums = MinSums(np.zeros(2, int), name, once, level, n_references=1, n_levels=1)
    >>> changes_by_name(sums, name, level, (once, 0 * once), np.ones((1, 1)), [0])
    array([[0.5],
           [0.5]])
    """
    begin, end = np.zeros(len(name), np.int64), np.zeros(len(name), np.int64)
    for which in range(len(sums.levels) - 1):
        low, high = sums.levels[which : which + 2]
        asked = np.flatnonzero(level == which)
        place = low + np.searchsorted(sums.vocabulary[low:high], name[asked])
        there = place < high
        there[there] = sums.vocabulary[place[there]] == name[asked][there]
        begin[asked[there]], end[asked[there]] = sums.postings[place[there]], sums.postings[place[there] + 1]
    first, second = (np.ascontiguousarray(one, dtype=np.float64) for one in counts)
    times = np.bincount(np.array(ranges), minlength=len(sums.totals)) / len(ranges)
    places = (np.arange(_STEPS) + 0.5) / _STEPS
    slopes = np.zeros((len(name), weights.shape[1]))
    line = _Line(level.astype(np.int64), begin, end, first, second)
    _add_slopes(line, sums.reference, sums.count, sums.totals, times, np.ascontiguousarray(weights), places, slopes)
    return slopes * (first - second)[:, None]


class _Line(NamedTuple):
    """Names of two multisets."""

    level: np.ndarray  # [U]
    begin: np.ndarray  # where the postings of each name begin [U]
    end: np.ndarray  # and where they end [U]
    first: np.ndarray  # how often the one has each name [U]
    second: np.ndarray  # and the other [U]


@njit(error_model="numpy")
def _add_slopes(line, reference, count, totals, times, weights, places, slopes):
    """Adds to slopes [U, C] the derivatives by the counts of names, averaged over places along the line."""
    n_levels, m = totals.shape
    n_columns = weights.shape[1]
    common, own = np.empty((n_levels, m)), np.empty(n_levels)
    above, base = np.empty((n_levels + 1, m, n_columns)), np.empty((n_levels + 1, n_columns))
    for place in places:
        has = line.second + place * (line.first - line.second)
        _fill_common(line, has, reference, count, common, own)
        _fill_derivatives(common, own, totals, times, weights, above, base)
        for c in range(len(line.level)):
            here = line.level[c]
            for k in range(n_columns):
                slopes[c, k] += base[here, k] / len(places)
            for p in range(line.begin[c], line.end[c]):
                if has[c] < count[p]:
                    for k in range(n_columns):
                        slopes[c, k] += above[here, reference[p], k] / len(places)


@njit(error_model="numpy")
def _fill_common(line, has, reference, count, common, own):
    """Sums of minima with each reference [levels, M], and of all counts [levels], at the levels 0 … L."""
    common[:] = 0
    own[:] = 0
    for c in range(len(line.level)):
        own[line.level[c]] += has[c]
        for p in range(line.begin[c], line.end[c]):
            common[line.level[c], reference[p]] += min(has[c], count[p])
    for here in range(1, len(own)):
        own[here] += own[here - 1]
        for j in range(common.shape[1]):
            common[here, j] += common[here - 1, j]


@njit(error_model="numpy")
def _fill_derivatives(common, own, totals, times, weights, above, base):
    """Derivatives by the count of a name at each level: `base` [levels + 1, C] where no reference has more of it.

    Each reference that has more adds `above` [levels + 1, M, C]. A name is part of its level and of all later ones.
    """
    above[-1] = 0
    base[-1] = 0
    for here in range(len(own) - 1, -1, -1):
        base[here] = base[here + 1]
        above[here] = above[here + 1]
        for j in range(totals.shape[1] if times[here] > 0 else 0):
            united = own[here] + totals[here, j] - common[here, j]
            if united > 0:
                for k in range(weights.shape[1]):
                    share = times[here] * weights[j, k] / united
                    less = share * common[here, j] / united
                    above[here, j, k] += share + less
                    base[here, k] -= less
