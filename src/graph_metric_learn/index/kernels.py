"""Compiled loops of exact search: rows are compared by 16 coordinates, then by 32 more, and few of them by all.

A row has its vector [d] and the vector's coordinates along the first principal axes, in float32: 16 coarse ones, and up
to 32 fine ones. The squared distance by these is a lower bound of that of the vectors, but for rounding, which
`_cutoff` allows for. A row whose coarse bound is below the k-th smallest square so far is compared by its fine
coordinates, and if it is still below, by its vector, in float64, until the sum is too large. Of equal squares the row
that comes first wins. The oracle, a plain sum over all rows, is in `tests/vector_oracle.py`.
"""

from __future__ import annotations

import numpy as np

from .._core.compiled import FAST_MATH, njit, parallel, prange

COARSE = 16  # coordinates that are compared first: one cache line of float32
FINE = 32  # that are compared next
TILE = 256  # rows whose bounds are computed together: their coarse coordinates stay in the fastest cache
_SUM_ERROR = 1e-5  # share by which a sum of 48 squares in float32 may be too large: 50 roundings of 6e-8, and more
_COARSE_ERROR = 2.0**-22  # share of its norm by which coordinates are off: rounding to float32, of both sides, doubled
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
def _norm(coordinates):
    total = 0.0
    for j in range(len(coordinates)):
        total += np.float64(coordinates[j]) * np.float64(coordinates[j])
    return np.sqrt(total)


@_inline
def _cutoff(limit, norm):
    """What the bound of a row is below, for certain, if its square is below the limit; norm: of the query.

    A row within r of the query has coordinates whose norm is at most r more than the query's, and their rounding
    error is a share of that.
    """
    reach = np.sqrt(limit)
    return (reach + _COARSE_ERROR * (norm + reach)) ** 2 * (1.0 + _SUM_ERROR)


@_inline
def _with_fine(bound, fine, row, coordinates):
    """The bound of a row by all coordinates, in float32, from that by the coarse ones."""
    total = np.float32(bound)
    for j in range(fine.shape[1]):
        step = fine[row, j] - coordinates[COARSE + j]
        total += step * step
    return total


@_inline
def _insert(best, where, square, row):
    """Puts a row that is nearer than the last where it belongs: after those that are as near."""
    i = len(best) - 1
    while i > 0 and best[i - 1] > square:
        best[i] = best[i - 1]
        where[i] = where[i - 1]
        i -= 1
    best[i] = square
    where[i] = row


@parallel
def nearest_one(coarse, fine, vectors, dead, coordinates, query, first, limit, best, where, refined):
    """The k nearest rows of one query in each of C equal chunks of the rows, into best and where [C, k].

    coarse [n, 16], fine [n, m], vectors [n, d], of the query [16 + m] and [d]; dead [n] or [0]: rows that do not
    count. first: number of row 0, for `where`. limit: only rows whose square is below it. best, float64, comes filled
    with infinity; where is int64. refined [C]: how many rows were compared by their vectors.
    """
    n, chunks = len(coarse), len(best)
    k = best.shape[1]
    norm = _norm(coordinates)
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
                for j in range(COARSE):
                    step = coarse[start + i, j] - coordinates[j]
                    total += step * step
                bounds[i] = total
            for i in range(size):
                if bounds[i] <= cutoff:
                    row = start + i
                    if len(dead) > 0 and dead[row]:
                        continue
                    if _with_fine(bounds[i], fine, row, coordinates) > cutoff:
                        continue
                    seen += 1
                    square = _square(vectors, row, query, most)
                    if square < most:
                        _insert(best[c], where[c], square, first + row)
                        most = min(limit, best[c, k - 1])
                        cutoff = _cutoff(most, norm)
        refined[c] = seen


@parallel
def nearest_many(coarse, fine, vectors, dead, query_coordinates, queries, first, best, where, refined):
    """The k nearest rows of each of Q queries, added to those in best and where [Q, k]; other arguments as above.

    Queries are divided among G = len(refined) groups. Coarse coordinates are transposed tile by tile, so that bounds of
    all rows of a tile are computed side by side.
    """
    n, count, groups = len(coarse), len(queries), len(refined)
    k = best.shape[1]
    for g in prange(groups):
        columns, bounds = np.zeros((COARSE, TILE), np.float32), np.empty(TILE, np.float32)
        lo, hi = g * count // groups, (g + 1) * count // groups
        seen = 0
        for start in range(0, n, TILE):
            size = min(TILE, n - start)
            for i in range(size):
                for j in range(COARSE):
                    columns[j, i] = coarse[start + i, j]
            for q in range(lo, hi):
                most = best[q, k - 1]
                norm = _norm(query_coordinates[q])
                cutoff = _cutoff(most, norm)
                _tile_bounds(columns, query_coordinates[q], bounds)
                for i in range(size):
                    if bounds[i] <= cutoff:
                        row = start + i
                        if len(dead) > 0 and dead[row]:
                            continue
                        seen += 1
                        if _with_fine(bounds[i], fine, row, query_coordinates[q]) > cutoff:
                            continue
                        square = _square(vectors, row, queries[q], most)
                        if square < most:
                            _insert(best[q], where[q], square, first + row)
                            most = best[q, k - 1]
                            cutoff = _cutoff(most, norm)
        refined[g] = seen  # rows that were compared by more than their coarse coordinates


@_inline
def _tile_bounds(columns, coordinates, bounds):
    """Coarse squared distances of a query to the rows of a tile, float32; written out so that rows go side by side."""
    for i in range(TILE):
        a = columns[0, i] - coordinates[0]
        b = columns[1, i] - coordinates[1]
        c = columns[2, i] - coordinates[2]
        d = columns[3, i] - coordinates[3]
        total = a * a + b * b + c * c + d * d
        for j in range(4, COARSE, 4):
            a = columns[j, i] - coordinates[j]
            b = columns[j + 1, i] - coordinates[j + 1]
            c = columns[j + 2, i] - coordinates[j + 2]
            d = columns[j + 3, i] - coordinates[j + 3]
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
def within(coarse, fine, vectors, dead, coordinates, query, limit, squares):
    """Squared distances of the rows whose square is at most limit, into squares [n], float64; -1 for all others."""
    cutoff = _cutoff(limit, _norm(coordinates))
    above = np.nextafter(limit, np.inf)  # partial sums stop once they are larger, not when they are equal
    for row in prange(len(coarse)):
        squares[row] = -1.0
        total = np.float32(0.0)
        for j in range(COARSE):
            step = coarse[row, j] - coordinates[j]
            total += step * step
        if total > cutoff or (len(dead) > 0 and dead[row]):
            continue
        if _with_fine(total, fine, row, coordinates) <= cutoff:
            square = _square(vectors, row, query, above)
            if square <= limit:
                squares[row] = square


@parallel
def all_squares(vectors, query, squares):
    """Squared distances of all rows, into squares [n], float64."""
    for row in prange(len(vectors)):
        squares[row] = _square(vectors, row, query, np.inf)
