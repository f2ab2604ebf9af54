"""Compiled sorting of many small clouds along directions: implementation 1 of those listed in `ordering`."""

from __future__ import annotations

import numpy as np

from ..._core.compiled import njit, parallel, prange


@njit
def stable_sort(keys, index, keys2, index2):
    """Sorts `keys` [n] and moves `index` [n] along; equal keys keep their order. keys2 and index2 [n] are scratch.

    Runs of 24 by insertion, then merges.
    """
    n = len(keys)
    run = 24
    for lo in range(0, n, run):
        for i in range(lo + 1, min(lo + run, n)):
            key, which = keys[i], index[i]
            j = i - 1
            while j >= lo and keys[j] > key:
                keys[j + 1] = keys[j]
                index[j + 1] = index[j]
                j -= 1
            keys[j + 1] = key
            index[j + 1] = which
    while run < n:
        for lo in range(0, n, 2 * run):
            mid, hi = min(lo + run, n), min(lo + 2 * run, n)
            i, j = lo, mid
            for out in range(lo, hi):
                if i < mid and (j >= hi or keys[i] <= keys[j]):
                    keys2[out], index2[out] = keys[i], index[i]
                    i += 1
                else:
                    keys2[out], index2[out] = keys[j], index[j]
                    j += 1
        for i in range(n):  # plain loops compile much faster than slices
            keys[i], index[i] = keys2[i], index2[i]
        run *= 2


@njit
def sort_cloud(points, projections, lo, hi, canonical, order):
    """Order of the points lo … hi-1 along every direction, into the rows lo … hi-1 of `order` [S, M].

    points [S, p], projections [S, M]. canonical: equal projections are ordered by the coordinates, the first coordinate
    first; otherwise they keep the order of the rows.
    """
    n = hi - lo
    keys, keys2 = np.empty(n, projections.dtype), np.empty(n, projections.dtype)
    index, index2 = np.empty(n, np.int64), np.empty(n, np.int64)
    first = np.empty(n, np.int64)  # the order before the stable sort, in which equal projections stay
    for i in range(n):
        first[i] = lo + i
    plain = True
    k = 0
    while k < projections.shape[1]:
        for i in range(n):
            index[i] = first[i]
            keys[i] = projections[first[i], k]
        stable_sort(keys, index, keys2, index2)
        if canonical and plain:
            tied = False
            for i in range(n - 1):
                tied = tied or keys[i] == keys[i + 1]
            if tied:  # the first tie: start from the lexicographic order from now on, also along this direction
                plain = False
                for d in range(points.shape[1] - 1, -1, -1):
                    for i in range(n):
                        keys[i] = points[first[i], d]
                    stable_sort(keys, first, keys2, index2)
                continue
        for i in range(n):
            order[lo + i, k] = index[i]
        k += 1


@parallel
def sort_clouds(points, projections, starts, canonical, order):
    """Order of each cloud along each direction [S, M], see `sort_cloud`; starts [G + 1]."""
    for g in prange(len(starts) - 1):
        sort_cloud(points, projections, starts[g], starts[g + 1], canonical, order)
