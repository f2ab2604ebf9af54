"""Compiled means of curves on the cells of a regular grid: implementations 1 and 2 of those listed in `grids`."""

from __future__ import annotations

import numpy as np

from ..._core.compiled import FAST_MATH, njit, parallel, prange


@njit(fastmath=FAST_MATH, error_model="numpy")
def _average(values, start, m, n, sums, out):
    """Means of a curve of m equal steps on n equal cells, into out [n * D]; values [S, D], sums [D] is scratch."""
    width = values.shape[1]
    j = 0  # the present step; times in units of 1 / (n m)
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
    """Means of curves of equal steps on n equal cells, into out [B, n * D]; values [S, D], D = M · c."""
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
