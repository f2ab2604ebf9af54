"""Compiled passes over matrices of squared distances: norms, from products to squares, mirroring, permuting."""

from __future__ import annotations

import numpy as np

from ..._core.compiled import njit, parallel, prange
from .walks import walk


@parallel
def squared_norms(values, starts, sizes, out):
    """∫ |u|² summed over directions, per curve of equal steps, into out [G]; twins: `autograd` and `tiles.Side`."""
    for g in prange(len(sizes)):
        total = 0.0
        for i in range(starts[g], starts[g] + sizes[g]):
            for k in range(values.shape[1]):
                for d in range(values.shape[2]):
                    x = float(values[i, k, d])  # float32 stays float32 in numba: squares are rounded to it, sums not
                    total += x * x
        out[g] = total / sizes[g]


@parallel
def squares_from_products(block, near, n, triangle, values, starts, sizes, norms, values2, starts2, sizes2, norms2):
    """Sums of products of values become squared distances, in place: block [A, B], one side being of n steps.

    Where the difference of norms and product has lost too many digits (d² below `near` times the norms), the two curves
    are walked instead. triangle: 1 + the column of the diagonal in row 0; entries left of it are not needed.
    norms [A], norms2 [B] as from `squared_norms`.
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
                        one = values[starts[a] : starts[a] + sizes[a], k]
                        other = values2[starts2[b] : starts2[b] + sizes2[b], k]
                        square += walk(one, other, 1.0)
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
