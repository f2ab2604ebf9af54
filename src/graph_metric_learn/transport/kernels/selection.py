"""Compiled choice of the smallest entries of each row; the torch twin, for GPUs, is in `engines.selection`."""

from __future__ import annotations

from ..._core.compiled import parallel, prange


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
