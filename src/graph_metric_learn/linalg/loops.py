"""Compiled passes over matrices of squared distances: from products to squares, near pairs, mirroring."""

from __future__ import annotations

from .._core.compiled import parallel, prange


@parallel
def squares_from_products(block, near, scale, parts, triangle, norms, norms2, lost):
    """Products become squared distances, in place: (norms[a] + norms2[b] − scale · block[a, b]) / parts; block [A, B].

    lost [A] counts the entries of each row where the difference has lost too many digits: those that are below `near`
    times the norms. triangle: 1 + the column of the diagonal in row 0; entries left of it are not needed.
    """
    for a in prange(block.shape[0]):
        norm = norms[a]
        count = 0
        for b in range(max(0, a + triangle), block.shape[1]):
            both = norm + norms2[b]
            square = both - scale * block[a, b]
            count += square <= near * both
            block[a, b] = square / parts
        lost[a] = count


@parallel
def subtract_near(block, near, triangle, norms, norms2, lost, x, y):
    """The entries of `block` [A, B] that `lost` [A] counts, by subtracting: rows of x [A, d] less those of y [B, d]."""
    for a in prange(block.shape[0]):
        if lost[a] > 0:
            for b in range(max(0, a + triangle), block.shape[1]):
                if block[a, b] <= near * (norms[a] + norms2[b]) * 1.001:
                    total = 0.0
                    for d in range(x.shape[1]):
                        gap = x[a, d] - y[b, d]
                        total += gap * gap
                    block[a, b] = total


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
