"""Compiled loops of exact search: rows are compared by 16 coordinates, then by 32 more, and few of them by all.

A row has its vector [d] and the vector's coordinates along the first principal axes, in float32: 16 in its `head`, up
to 32 more in its `middle`. The squared distance by these is a lower bound of that of the vectors, but for rounding,
which `_cutoff` allows for. A row whose bound is below the k-th smallest square so far is compared by its middle, and if
it is still below, by its vector, in float64, until the sum is too large. Of equal squares the row that comes first
wins. The oracle, a plain sum over all rows, is in `tests/vector_oracle.py`.
"""

from __future__ import annotations

import numpy as np

from .._core.compiled import FAST_MATH, njit, parallel, prange

HEAD = 16  # coordinates that are compared first: one cache line of float32
MIDDLE = 32  # that are compared next
TILE = 256  # rows whose bounds are computed together: their heads stay in the fastest cache
_SUM_ERROR = 1e-5  # share by which a sum of 48 squares in float32 may be too large: 50 roundings of 6e-8, and more
_HEAD_ERROR = 2.0**-22  # share of its norm by which a head is off: rounding to float32, of both sides, doubled
_PIECE = 32  # coordinates that are added up between two looks at the limit

_inline = njit(fastmath=FAST_MATH, error_model="numpy", inline="always")


@njit(error_model="numpy")  # no fast math: equal vectors have equal squares, whoever calls
def _square(vectors, row, query, limit):
    """The squared distance of a row in float64, or a partial sum that has reached the limit.

    float(x) would leave float32 as it is in numba.
    """
    a = b = c = d = e = f = g = h = 0.0
    width = vectors.shape[1]
    whole = width - width % 8
    for lo in range(0, whole, _PIECE):
        for j in range(lo, min(lo + _PIECE, whole), 8):
            a += (np.float64(vectors[row, j]) - np.float64(query[j])) ** 2
            b += (np.float64(vectors[row, j + 1]) - np.float64(query[j + 1])) ** 2
            c += (np.float64(vectors[row, j + 2]) - np.float64(query[j + 2])) ** 2
            d += (np.float64(vectors[row, j + 3]) - np.float64(query[j + 3])) ** 2
            e += (np.float64(vectors[row, j + 4]) - np.float64(query[j + 4])) ** 2
            f += (np.float64(vectors[row, j + 5]) - np.float64(query[j + 5])) ** 2
            g += (np.float64(vectors[row, j + 6]) - np.float64(query[j + 6])) ** 2
            h += (np.float64(vectors[row, j + 7]) - np.float64(query[j + 7])) ** 2
        if ((a + b) + (c + d)) + ((e + f) + (g + h)) >= limit:
            break
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for j in range(whole, width):
        total += (np.float64(vectors[row, j]) - np.float64(query[j])) ** 2
    return total


@_inline
def _norm(head):
    total = 0.0
    for j in range(len(head)):
        total += np.float64(head[j]) * np.float64(head[j])
    return np.sqrt(total)


@_inline
def _cutoff(limit, norm):
    """What the bound of a row is below, for certain, if its square is below the limit; norm: of the query.

    A row within r of the query has coordinates whose norm is at most r more than the query's, and their rounding
    error is a share of that.
    """
    reach = np.sqrt(limit)
    return (reach + _HEAD_ERROR * (norm + reach)) ** 2 * (1.0 + _SUM_ERROR)


@_inline
def _with_middle(bound, middles, row, head):
    """The bound of a row by head and middle, in float32; head: all coordinates of the query."""
    total = np.float32(bound)
    for j in range(middles.shape[1]):
        step = middles[row, j] - head[HEAD + j]
        total += step * step
    return total


@_inline
def _insert(best, where, square, row):
    """Puts a row that is nearer than the last into its place: after those that are as near."""
    place = len(best) - 1
    while place > 0 and best[place - 1] > square:
        best[place] = best[place - 1]
        where[place] = where[place - 1]
        place -= 1
    best[place] = square
    where[place] = row


@parallel
def nearest_one(heads, middles, vectors, dead, head, query, first, limit, best, where, refined):
    """The k nearest rows of one query in each of C equal chunks of the rows, into best and where [C, k].

    heads [n, 16], middles [n, m], vectors [n, d], of the query [16 + m] and [d]; dead [n] or [0]: rows that do not
    count. first: number of row 0, for `where`. limit: only rows whose square is below it. best, float64, comes filled
    with infinity; where is int64. refined [C]: how many rows were compared by their vectors.
    """
    n, chunks = len(heads), len(best)
    k = best.shape[1]
    norm = _norm(head)
    for c in prange(chunks):
        bounds = np.empty(TILE, np.float32)
        lo, hi = c * n // chunks, (c + 1) * n // chunks
        most = min(limit, best[c, k - 1])
        cutoff = _cutoff(most, norm)
        seen = 0
        for start in range(lo, hi, TILE):
            size = min(TILE, hi - start)
            for i in range(size):
                total = np.float32(0.0)
                for j in range(HEAD):
                    step = heads[start + i, j] - head[j]
                    total += step * step
                bounds[i] = total
            for i in range(size):
                if bounds[i] <= cutoff:
                    row = start + i
                    if len(dead) > 0 and dead[row]:
                        continue
                    if _with_middle(bounds[i], middles, row, head) > cutoff:
                        continue
                    seen += 1
                    square = _square(vectors, row, query, most)
                    if square < most:
                        _insert(best[c], where[c], square, first + row)
                        most = min(limit, best[c, k - 1])
                        cutoff = _cutoff(most, norm)
        refined[c] = seen


@parallel
def nearest_many(heads, middles, vectors, dead, query_heads, queries, first, best, where, refined):
    """The k nearest rows of each of Q queries, added to those in best and where [Q, k]; other arguments as above.

    Queries are divided among G = len(refined) groups. Heads are transposed tile by tile, so that the bounds of all rows
    of a tile are computed side by side.
    """
    n, count, groups = len(heads), len(queries), len(refined)
    k = best.shape[1]
    for g in prange(groups):
        columns, bounds = np.zeros((HEAD, TILE), np.float32), np.empty(TILE, np.float32)
        lo, hi = g * count // groups, (g + 1) * count // groups
        seen = 0
        for start in range(0, n, TILE):
            size = min(TILE, n - start)
            for i in range(size):
                for j in range(HEAD):
                    columns[j, i] = heads[start + i, j]
            for q in range(lo, hi):
                most = best[q, k - 1]
                norm = _norm(query_heads[q])
                cutoff = _cutoff(most, norm)
                _tile_bounds(columns, query_heads[q], bounds)
                for i in range(size):
                    if bounds[i] <= cutoff:
                        row = start + i
                        if len(dead) > 0 and dead[row]:
                            continue
                        seen += 1
                        if _with_middle(bounds[i], middles, row, query_heads[q]) > cutoff:
                            continue
                        square = _square(vectors, row, queries[q], most)
                        if square < most:
                            _insert(best[q], where[q], square, first + row)
                            most = best[q, k - 1]
                            cutoff = _cutoff(most, norm)
        refined[g] = seen  # rows that were compared by more than their head


@_inline
def _tile_bounds(columns, head, bounds):
    """Squared distances of a head to those of a tile, in float32; written out so that rows go side by side."""
    for i in range(TILE):
        a = columns[0, i] - head[0]
        b = columns[1, i] - head[1]
        c = columns[2, i] - head[2]
        d = columns[3, i] - head[3]
        total = a * a + b * b + c * c + d * d
        for j in range(4, HEAD, 4):
            a = columns[j, i] - head[j]
            b = columns[j + 1, i] - head[j + 1]
            c = columns[j + 2, i] - head[j + 2]
            d = columns[j + 3, i] - head[j + 3]
            total += a * a + b * b + c * c + d * d
        bounds[i] = total


@parallel
def nearest_by_products(products, norms, query_norms, slack, vectors, dead, queries, first, best, where):
    """As `nearest_many`, with bounds from products [Q, n]: |q|² + |r|² − 2 <q, r>, up to slack · (|q|² + |r|²)."""
    k = best.shape[1]
    for q in prange(len(queries)):
        most = best[q, k - 1]
        for row in range(len(vectors)):
            both = query_norms[q] + norms[row]
            if both - 2.0 * products[q, row] - slack * both < most:
                if len(dead) > 0 and dead[row]:
                    continue
                square = _square(vectors, row, queries[q], most)
                if square < most:
                    _insert(best[q], where[q], square, first + row)
                    most = best[q, k - 1]


@parallel
def within(heads, middles, vectors, dead, head, query, limit, squares):
    """Squared distances of the rows whose square is at most limit, into squares [n], float64; -1 for all others."""
    cutoff = _cutoff(limit, _norm(head))
    above = np.nextafter(limit, np.inf)  # partial sums stop once they are larger, not when they are equal
    for row in prange(len(heads)):
        squares[row] = -1.0
        total = np.float32(0.0)
        for j in range(HEAD):
            step = heads[row, j] - head[j]
            total += step * step
        if total > cutoff or (len(dead) > 0 and dead[row]):
            continue
        if _with_middle(total, middles, row, head) <= cutoff:
            square = _square(vectors, row, query, above)
            if square <= limit:
                squares[row] = square


@parallel
def all_squares(vectors, query, squares):
    """Squared distances of all rows, into squares [n], float64."""
    for row in prange(len(vectors)):
        squares[row] = _square(vectors, row, query, np.inf)
