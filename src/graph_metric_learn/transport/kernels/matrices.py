"""Compiled passes over matrices of squared distances between curves: norms, near pairs, permuting, the smallest."""

from __future__ import annotations

import numpy as np

from ..._core.compiled import njit, parallel, prange
from .walks import walk


@parallel
def squared_norms(values, starts, sizes, out):
    """∫ |u|² summed over directions, per curve of equal steps, into out [G]; see also `autograd` and `tiles.Side`."""
    for g in prange(len(sizes)):
        total = 0.0
        for i in range(starts[g], starts[g] + sizes[g]):
            for k in range(values.shape[1]):
                for d in range(values.shape[2]):
                    x = float(values[i, k, d])  # float32 stays float32 in numba: squares are rounded to it, sums not
                    total += x * x
        out[g] = total / sizes[g]


@parallel
def walk_near(block, near, triangle, norms, norms2, lost, values, starts, sizes, values2, starts2, sizes2):
    """The squared distances in `block` [A, B] that have lost too many digits: these pairs of curves are walked.

    near, triangle, norms and lost as in `linalg.loops.squares_from_products`, which made the block.
    """
    directions = values.shape[1]
    for a in prange(block.shape[0]):
        if lost[a] > 0:
            for b in range(max(0, a + triangle), block.shape[1]):
                if block[a, b] * directions <= near * (norms[a] + norms2[b]) * 1.001:
                    square = 0.0
                    for k in range(directions):
                        one = values[starts[a] : starts[a] + sizes[a], k]
                        other = values2[starts2[b] : starts2[b] + sizes2[b], k]
                        square += walk(one, other, 1.0)
                    block[a, b] = square / directions


@parallel
def permute(matrix, rows, cols):
    """matrix[i, j] = matrix[rows[i], cols[j]] in place."""
    n, m = matrix.shape
    for i in prange(n):
        _permute_row(matrix[i], cols)
    stripes = 16
    for s in prange(stripes):
        _permute_stripe(matrix, rows, s * m // stripes, (s + 1) * m // stripes)


@njit
def _permute_row(row, cols):
    held = np.empty_like(row)
    for j in range(len(row)):
        held[j] = row[cols[j]]
    for j in range(len(row)):
        row[j] = held[j]


@njit
def _permute_stripe(matrix, rows, lo, hi):
    """Rows of the columns from lo to hi, cycle by cycle."""
    moved, held = np.zeros(len(rows), np.bool_), np.empty(hi - lo, matrix.dtype)
    for start in range(len(rows)):
        if moved[start]:
            continue
        for j in range(lo, hi):
            held[j - lo] = matrix[start, j]
        i = start
        while rows[i] != start:
            for j in range(lo, hi):
                matrix[i, j] = matrix[rows[i], j]
            moved[i] = True
            i = rows[i]
        for j in range(lo, hi):
            matrix[i, j] = held[j - lo]
        moved[i] = True


@parallel
def smallest(distances, skip, best, where):
    """The k smallest entries of each row and their columns, into best and where [A, k]; distances [A, B].

    Ascending, equal entries by column. Column skip[row] is left out.
    """
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
