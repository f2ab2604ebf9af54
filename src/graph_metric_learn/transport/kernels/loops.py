"""Compiled loops for CPU arrays without gradients.

Each kernel has a twin in plain torch next to its caller, which serves GPUs and gradients and which the tests compare it
with. Shapes, unless said otherwise: values [S, M, c], ends [S, M], starts and sizes [G].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..._core.compiled import FAST_MATH, parallel, prange


@njit(cache=True)
def _stable_sort(keys, index, keys2, index2):
    """Sorts `keys` and carries `index` along; equal keys stay in place. Runs of 24 by insertion, then merges."""
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


@njit(cache=True)
def _sort_cloud(points, projections, lo, hi, canonical, order):
    """Order of the points lo … hi-1 along every direction, into `order`."""
    n = hi - lo
    keys, keys2 = np.empty(n, projections.dtype), np.empty(n, projections.dtype)
    index, index2 = np.empty(n, np.int64), np.empty(n, np.int64)
    first = np.empty(n, np.int64)  # the order in which equal projections are met
    for i in range(n):
        first[i] = lo + i
    plain = True
    k = 0
    while k < projections.shape[1]:
        for i in range(n):
            index[i] = first[i]
            keys[i] = projections[first[i], k]
        _stable_sort(keys, index, keys2, index2)
        if canonical and plain:
            tied = False
            for i in range(n - 1):
                tied = tied or keys[i] == keys[i + 1]
            if tied:  # from here on, meet the points in lexicographic order; then sort this direction again
                plain = False
                for d in range(points.shape[1] - 1, -1, -1):
                    for i in range(n):
                        keys[i] = points[first[i], d]
                    _stable_sort(keys, first, keys2, index2)
                continue
        for i in range(n):
            order[lo + i, k] = index[i]
        k += 1


@parallel
def sort_clouds(points, projections, starts, canonical, order):
    """Sort order of each cloud along each direction [S, M]; `starts` [G + 1]."""
    for g in prange(len(starts) - 1):
        _sort_cloud(points, projections, starts[g], starts[g + 1], canonical, order)


@njit(cache=True, fastmath=FAST_MATH, error_model="numpy", inline="always")
def _gap(us, i, vs, j, half):
    """|u - v|^order of one step of each curve; half = order / 2."""
    difference = us[i, 0] - vs[j, 0]
    total = difference * difference
    for d in range(1, us.shape[1]):
        difference = us[i, d] - vs[j, d]
        total += difference * difference
    return total if half == 1.0 else total**half


@njit(cache=True, fastmath=FAST_MATH, error_model="numpy")
def _walk(us, vs, half):
    """∫ |u - v|^order of two curves of equal steps along one direction [n, c], [m, c]: walked at equal times."""
    n, m = len(us), len(vs)
    total = 0.0
    if n == m:
        for i in range(n):
            total += _gap(us, i, vs, i, half)
        return total / n
    i = j = now = 0  # times in units of 1 / (n m), exact
    while i < n and j < m:
        end, fin = (i + 1) * m, (j + 1) * n
        then = min(end, fin)
        total += (then - now) * _gap(us, i, vs, j, half)
        now = then
        i += end <= fin
        j += fin <= end
    return total / (float(n) * m)


@njit(cache=True, fastmath=FAST_MATH, error_model="numpy")
def _walk_weighted(us, ends, vs, fins, half):
    """The same for steps that end at ends [n] and fins [m]."""
    n, m = len(us), len(vs)
    total = now = 0.0
    i = j = 0
    while i < n and j < m:
        end, fin = ends[i], fins[j]
        then = min(end, fin)
        total += (then - now) * _gap(us, i, vs, j, half)
        now = then
        i += end <= fin
        j += fin <= end
    return total


@njit(cache=True)
def _values(points, projections, canonical, whole):
    """Curve [M, n, c] of one cloud: the points in each order, or only what they were sorted by."""
    n, directions = projections.shape
    order = np.empty((n, directions), np.int64)
    _sort_cloud(points, projections, 0, n, canonical, order)
    width = points.shape[1] if whole else 1
    values = np.empty((directions, n, width), points.dtype)
    for k in range(directions):
        for i in range(n):
            for d in range(width):
                values[k, i, d] = points[order[i, k], d] if whole else projections[order[i, k], k]
    return values


@njit(cache=True)
def small_pair(x, along_x, y, along_y, canonical, whole, half):
    """Costs of one pair of small clouds with uniform masses, per direction [M]: sorting and walking in one call."""
    us, vs = _values(x, along_x, canonical, whole), _values(y, along_y, canonical, whole)
    costs = np.empty(len(us))
    for k in range(len(us)):
        costs[k] = _walk(us[k], vs[k], half)
    return costs


# The kernels that walk listed curves take them direction by direction: values [M, S, c], ends [M, S].


@parallel
def walk_one(us, ends, vs, fins, uniform, half, out):
    """∫ |u - v|^order for two single curves, direction by direction [M]."""
    for k in prange(len(us)):
        if uniform:
            out[k] = _walk(us[k], vs[k], half)
        else:
            out[k] = _walk_weighted(us[k], ends[k], vs[k], fins[k], half)


@njit(cache=True, fastmath=FAST_MATH, error_model="numpy", inline="always")
def _square(us, ends, s, e, vs, fins, s2, e2, uniform):
    """Squared distance of two curves, the rows s … e-1 and s2 … e2-1."""
    total = 0.0
    for k in range(len(us)):
        if uniform:
            total += _walk(us[k, s:e], vs[k, s2:e2], 1.0)
        else:
            total += _walk_weighted(us[k, s:e], ends[k, s:e], vs[k, s2:e2], fins[k, s2:e2], 1.0)
    return total / len(us)


@parallel
def walk_pairs(us, ends, starts, first, vs, fins, starts2, second, uniform, out):
    """Squared distances of the listed pairs [P]; starts [G + 1]."""
    for q in prange(len(first)):
        i, j = first[q], second[q]
        out[q] = _square(us, ends, starts[i], starts[i + 1], vs, fins, starts2[j], starts2[j + 1], uniform)


@parallel
def walk_block(us, ends, starts, vs, fins, starts2, rows, same, uniform, out):
    """Squared distances of the listed rows to all curves of the other side; starts [G + 1].

    same: both sides are one; only i < j is walked, and written to both places.
    """
    last = len(rows) - 1
    count = len(starts2) - 1
    if len(rows) == 1 and not same:
        i = rows[0]
        for j in prange(count):
            out[i, j] = _square(us, ends, starts[i], starts[i + 1], vs, fins, starts2[j], starts2[j + 1], uniform)
        return
    for q in prange(len(rows)):
        i = rows[q // 2] if q % 2 == 0 else rows[last - q // 2]  # long and short rows in turn: threads end together
        for j in range(i + 1 if same else 0, count):
            out[i, j] = _square(us, ends, starts[i], starts[i + 1], vs, fins, starts2[j], starts2[j + 1], uniform)
            if same:
                out[j, i] = out[i, j]


@njit(cache=True)
def plan_entries(ends, fins):
    """Which steps of two walks meet, and for how long: three arrays of at most n + m - 1 entries."""
    n, m = len(ends), len(fins)
    first, second = np.empty(n + m, np.int64), np.empty(n + m, np.int64)
    mass = np.empty(n + m)
    i = j = count = 0
    now = 0.0
    while i < n and j < m:
        then = min(ends[i], fins[j])
        first[count], second[count], mass[count] = i, j, then - now
        count += 1
        now = then
        meet = ends[i] == fins[j]
        if ends[i] < fins[j] or meet:
            i += 1
            if meet:
                j += 1
        else:
            j += 1
    return first[:count], second[:count], mass[:count]


@parallel
def squared_norms(values, starts, sizes, out):
    """∫ |u|² summed over directions, for each curve of equal steps [G]."""
    for g in prange(len(sizes)):
        total = 0.0
        for i in range(starts[g], starts[g] + sizes[g]):
            for k in range(values.shape[1]):
                for d in range(values.shape[2]):
                    x = float(values[i, k, d])
                    total += x * x
        out[g] = total / sizes[g]


@njit(cache=True, fastmath=FAST_MATH, error_model="numpy")
def _average(values, start, m, n, sums, out):
    """Means of a curve of m equal steps on n equal cells, into out [n * D]; sums [D] is scratch."""
    width = values.shape[1]
    j = 0  # the step under the pen; times in units of 1 / (n m)
    for i in range(n):
        hi = (i + 1) * m
        now = i * m
        for d in range(width):
            sums[d] = 0
        while now < hi:
            end = (j + 1) * n
            then = min(end, hi)
            share = values.dtype.type((then - now) / m)
            for d in range(width):
                sums[d] += share * values[start + j, d]
            j += end <= hi
            now = then
        for d in range(width):
            out[i * width + d] = sums[d]


@parallel
def cell_averages(values, starts, sizes, n, out):
    """Means of curves of equal steps on n equal cells [B, n * D]; values [S, D]."""
    width = values.shape[1]
    for b in prange(len(sizes)):
        if sizes[b] == n:
            for i in range(n):
                for d in range(width):
                    out[b, i * width + d] = values[starts[b] + i, d]
        elif sizes[b] < 64 * n:
            _average(values, starts[b], sizes[b], n, np.empty(width, values.dtype), out[b])
        else:  # a cell takes many steps: add them up in double precision
            _average(values, starts[b], sizes[b], n, np.empty(width), out[b])


@parallel
def cell_averages_weighted(values, ends, starts, sizes, n, out):
    """Means of curves with steps of any length on n equal cells, added to out [B, n, M, c]."""
    for b in prange(len(sizes)):
        for k in range(values.shape[1]):
            j, clock = starts[b], 0.0
            for i in range(n):
                hi = (i + 1) / n
                while True:
                    stop = min(ends[j, k], hi)
                    for d in range(values.shape[2]):
                        out[b, i, k, d] += (stop - clock) * n * values[j, k, d]
                    clock = stop
                    if ends[j, k] <= hi and j < starts[b] + sizes[b] - 1:
                        j += 1
                    if stop >= hi:
                        break


@parallel
def finish(block, near, n, triangle, values, starts, sizes, norms, values2, starts2, sizes2, norms2):
    """Inner products of curves, one side of n steps, to squared distances, in place [A, B].

    Where the difference of norms and product has lost too many digits (d² below `near` times the norms), the two curves
    are walked instead. triangle: 1 + the place of the diagonal in row 0, left of which nothing is needed.
    """
    directions = values.shape[1]
    scale = 2.0 / n
    for a in prange(block.shape[0]):
        norm = norms[a]
        lost = 0
        first = max(0, a + triangle)
        for b in range(first, block.shape[1]):
            both = norm + norms2[b]
            square = both - scale * block[a, b]
            lost += square <= near * both
            block[a, b] = square / directions
        if lost > 0:
            for b in range(first, block.shape[1]):
                if block[a, b] * directions <= near * (norm + norms2[b]) * 1.001:
                    square = 0.0
                    for k in range(directions):
                        us = values[starts[a] : starts[a] + sizes[a], k]
                        vs = values2[starts2[b] : starts2[b] + sizes2[b], k]
                        square += _walk(us, vs, 1.0)
                    block[a, b] = square / directions


@parallel
def mirror(matrix):
    """Copies the part right of the diagonal to the left of it, tile by tile, and puts 0 on the diagonal."""
    n = len(matrix)
    tile = 64
    for t in prange((n + tile - 1) // tile):
        lo, hi = t * tile, min(n, (t + 1) * tile)
        for i in range(lo, hi):
            matrix[i, i] = 0
            for j in range(lo, i):
                matrix[i, j] = matrix[j, i]
        for left in range(0, lo, tile):
            for i in range(lo, hi):
                for j in range(left, left + tile):
                    matrix[i, j] = matrix[j, i]


@parallel
def permute(matrix, rows, cols):
    """matrix[i, j] = matrix[rows[i], cols[j]] in place."""
    n, m = matrix.shape
    for i in prange(n):
        matrix[i] = matrix[i][cols]
    stripes = 16
    for s in prange(stripes):
        lo, hi = s * m // stripes, (s + 1) * m // stripes
        moved = np.zeros(n, np.bool_)
        for start in range(n):
            if moved[start]:
                continue
            held = matrix[start, lo:hi].copy()
            i = start
            while rows[i] != start:
                matrix[i, lo:hi] = matrix[rows[i], lo:hi]
                moved[i] = True
                i = rows[i]
            matrix[i, lo:hi] = held
            moved[i] = True


@parallel
def smallest(distances, skip, best, where):
    """The k smallest entries of each row and their columns, ascending, equal ones by column; skip[row] is left out."""
    k = best.shape[1]
    for a in prange(distances.shape[0]):
        filled = 0
        for b in range(distances.shape[1]):
            d = distances[a, b]
            if b == skip[a] or (filled == k and d >= best[a, k - 1]):
                continue
            place = min(filled, k - 1)
            while place > 0 and best[a, place - 1] > d:
                best[a, place] = best[a, place - 1]
                where[a, place] = where[a, place - 1]
                place -= 1
            best[a, place] = d
            where[a, place] = b
            filled = min(filled + 1, k)
