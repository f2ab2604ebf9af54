"""Similarity of multisets by sums of minima of counts: of many multisets to references, by an inverted index of these.

A multiset has levels; each level has names, 64-bit words, with counts. What two multisets have in common at one level
is the sum over names of the smaller of both counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._core.compiled import njit, share_of, shared
from .._core.ragged import offsets
from .loops import mirror

_SMALL = 10_000  # entries up to which threads are not worth waking


class MinSums:
    """M references, and the kernel between multisets and these: a mean of weighted Jaccard indices.

    With S_L(a, b) = Σ min(a_c, b_c) over all names c of the levels 0 … L, and n_L(a) the sum of all counts of a there,

        k(a, b) = mean over L of S_L(a, b) / (n_L(a) + n_L(b) − S_L(a, b)),

    1 at a level L where both are empty. It is positive semidefinite, lies between 0 and 1, and k(a, a) = 1 [1]_.

    The index has for every name the references that have it, so only names in common take time.

    Parameters
    ----------
    reference, name, count, level : ndarray [E]
        `reference` has `name` (uint64) `count` times at `level`; in any order, each name of a reference and level once.
        Counts are numbers >= 0, kept as float32.
    n_references, n_levels : int
        Some references, and levels, may have no entry.

    Attributes
    ----------
    vocabulary : ndarray [V], uint64
        Names, ascending within each level.
    levels : ndarray [n_levels + 1]
        Where the names of each level start, and the end of the last.
    postings : ndarray [V + 1]
        Where the references that have each name start, and the end of the last.
    reference, count : ndarray [E], uint32 and float32
        References that have a name, ascending, and how often.
    totals : ndarray [n_levels, M], float32
        Sums of the counts of each reference at the levels 0 … L.

    References
    ----------
    .. [1] L. Ralaivola, S. J. Swamidass, H. Saigo, P. Baldi. Graph kernels for chemical informatics. Neural Networks
       18, 2005.

    Examples
    --------
    One reference with 7 twice and 9 once; a multiset with 7 once: one in common, three in all.

    >>> name, count = np.array([7, 9], dtype=np.uint64), np.array([2, 1])
    >>> sums = MinSums(np.array([0, 0]), name, count, np.array([0, 0]), n_references=1, n_levels=1)
    >>> sums.kernel(np.array([0]), name[:1], count[1:], np.array([0]), n_graphs=1)
    array([[0.33333334]], dtype=float32)
    """

    def __init__(
        self,
        reference: np.ndarray,
        name: np.ndarray,
        count: np.ndarray,
        level: np.ndarray,
        *,
        n_references: int,
        n_levels: int,
    ) -> None:
        entries = _checked("reference", (reference, name, count, level), n_references, n_levels)
        order = np.lexsort([entries[0], entries[1], entries[3]])
        reference, name, count, level = (part[order] for part in entries)
        new = np.ones(len(name), dtype=bool)
        new[1:] = (name[1:] != name[:-1]) | (level[1:] != level[:-1])
        twice = np.flatnonzero(~new[1:] & (reference[1:] == reference[:-1]))
        if len(twice):
            i = twice[0]
            raise ValueError(f"reference {reference[i]} has a name twice at level {level[i]}: add up its counts")
        starts = np.flatnonzero(new)
        self.vocabulary, self.postings = name[starts], np.append(starts, len(name))
        self.levels = offsets(np.bincount(level[starts], minlength=n_levels))
        self.reference, self.count = reference.astype(np.uint32), count
        self._table = _table(self.vocabulary, self.levels)
        totals = np.bincount(level * n_references + reference, count, minlength=n_levels * n_references)
        totals = totals.reshape(n_levels, n_references)
        self.totals = np.cumsum(totals, axis=0).astype(np.float32)

    def kernel(
        self,
        graph: np.ndarray,
        name: np.ndarray,
        count: np.ndarray,
        level: np.ndarray,
        *,
        n_graphs: int,
        ranges: Sequence[int] | None = None,
    ) -> np.ndarray:
        """k between N graphs and the M references [N, M], float32.

        Parameters
        ----------
        graph, name, count, level : ndarray [E]
            `graph` has `name` `count` times at `level`; as those of the references. Sorted by graph and level it is
            fastest.
        n_graphs : int
            N; graphs may be empty.
        ranges : sequence of int, optional
            The L whose mean is taken; by default every level.
        """
        graph, name, count, level = _checked("graph", (graph, name, count, level), n_graphs, len(self.totals))
        places = graph * len(self.totals) + level
        if (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            name, count, level = name[order], count[order], level[order]
        begin, end = np.empty(len(name), np.int64), np.empty(len(name), np.int64)
        shift = np.uint64(65 - (self._table.shape[1] - 1).bit_length())  # 64 - B
        where = self.vocabulary, self._table, shift, self.postings
        _find(name, level, *where, begin, end, threads=len(name) > _SMALL)
        starts = offsets(np.bincount(places, minlength=n_graphs * len(self.totals)))
        return self._kernel(_Entries(starts, begin, end, count), ranges, triangle=False)

    def pairwise(self, ranges: Sequence[int] | None = None) -> np.ndarray:
        """k between the references [M, M], float32, symmetric; in half the time of :meth:`kernel`."""
        n_levels, m = self.totals.shape
        end = np.repeat(self.postings[1:], np.diff(self.postings))
        level = np.repeat(np.arange(n_levels), np.diff(self.postings[self.levels]))
        places = self.reference * np.int64(n_levels) + level
        begin = np.argsort(places, kind="stable")  # the postings that follow have the same reference, or later ones
        starts = offsets(np.bincount(places, minlength=m * n_levels))
        kernel = self._kernel(_Entries(starts, begin, end[begin], self.count[begin]), ranges, triangle=True)
        mirror(kernel)
        np.fill_diagonal(kernel, 1.0)
        return kernel

    def _kernel(self, entries: _Entries, ranges: Sequence[int] | None, *, triangle: bool) -> np.ndarray:
        """Rows of the kernel, of which a triangle has only what is right of the diagonal."""
        n_levels, m = self.totals.shape
        levels = np.arange(n_levels) if ranges is None else np.array(ranges)
        if len(levels) == 0 or levels.dtype.kind not in "iu" or not 0 <= levels.min() <= levels.max() < n_levels:
            raise ValueError(f"ranges must be whole numbers between 0 and {n_levels - 1}, at least one; got {ranges!r}")
        kernel = np.zeros(((len(entries.starts) - 1) // n_levels, m), np.float32)
        times = np.bincount(levels, minlength=n_levels)
        threads = len(entries.counts) > _SMALL
        _sum_minima(entries, self.reference, self.count, self.totals, times, triangle, kernel, threads=threads)
        return kernel


class _Entries(NamedTuple):
    """What multisets have, in the order of multisets and levels."""

    starts: np.ndarray  # where the entries of each multiset and level start, and the end of the last [N · levels + 1]
    begin: np.ndarray  # where the postings of each name begin [E], int64
    end: np.ndarray  # and where they end [E], int64
    counts: np.ndarray  # how often there is each name [E], float32


def _checked(what: str, entries: Sequence[np.ndarray], items: int, levels: int) -> tuple[np.ndarray, ...]:
    """Item, name, count and level [E], of so many items and levels: int64, uint64, float32, int64."""
    item, name, count, level = entries
    if any(part.shape != (len(name),) for part in entries):
        raise ValueError(f"{what}, name, count and level differ in shape: {[list(part.shape) for part in entries]}")
    if name.dtype != np.uint64:
        raise ValueError(f"name must be uint64, got {name.dtype}")
    if items < 0 or levels < 1:
        raise ValueError(f"there must be at least one level, got n_levels={levels}")
    for of, part, many in ((what, item, items), ("level", level, levels)):
        if len(part) and (part.dtype.kind not in "iu" or not 0 <= part.min() <= part.max() < many):
            raise ValueError(f"{of} must hold whole numbers from 0 to {many - 1}")
    count = count.astype(np.float32)
    wrong = np.flatnonzero(~((count >= 0) & (count < np.inf)))
    if len(wrong):
        raise ValueError(f"{what} {item[wrong[0]]} has a name {count[wrong[0]]} times: counts must be numbers >= 0")
    return item.astype(np.int64), name, count, level.astype(np.int64)


def _table(vocabulary: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Where names of each level with each of the 2^B possible first B bits start [n_levels, 2^B + 1].

    There are about as many beginnings as names of a level, so that few names have the same, where names are hashes.
    """
    bits = max(1, int(np.diff(levels).max()).bit_length())
    firsts = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
    pieces = [(start, vocabulary[start:end]) for start, end in pairwise(levels.tolist())]
    return np.stack([np.append(start + np.searchsorted(piece, firsts), start + len(piece)) for start, piece in pieces])


@shared
def _find(part, parts, name, level, vocabulary, table, shift, postings, begin, end):
    """Where the postings of each name begin and end [E]; names that are not in the vocabulary have none."""
    for i in share_of(len(name), part, parts):
        first = np.int64(name[i] >> shift)
        low, last = table[level[i], first], table[level[i], first + 1]
        high = last
        while low < high:
            middle = (low + high) // 2
            if vocabulary[middle] < name[i]:
                low = middle + 1
            else:
                high = middle
        if low < last and vocabulary[low] == name[i]:
            begin[i], end[i] = postings[low], postings[low + 1]
        else:
            begin[i] = end[i] = 0


@njit(error_model="numpy", inline="always")
def _add_indices(common, own, totals, times, kernel):
    """Adds the index at one range of levels, so many times, to a row of the kernel; common, totals, kernel: [m]."""
    for j in range(len(kernel)):
        index = common[j] / (own + totals[j] - common[j])
        kernel[j] += times * (index if index < 1 else np.float32(1.0))  # also of two that are empty, 0 / 0


@shared
def _sum_minima(part, parts, entries, reference, count, totals, times, triangle, kernel):
    """Rows of the kernel [N, M], which come filled with 0; times [n_levels]: how often the levels 0 … L count."""
    n_levels, m = totals.shape
    common = np.empty(m, np.float32)
    for i in share_of(len(kernel), part, parts):
        first = i if triangle else 0
        row = kernel[i, first:]
        common[first:] = 0
        own = 0.0
        for level in range(n_levels):
            for e in range(entries.starts[i * n_levels + level], entries.starts[i * n_levels + level + 1]):
                has = entries.counts[e]
                own += has
                for p in range(entries.begin[e], entries.end[e]):
                    common[reference[p]] += min(has, count[p])
            if times[level] > 0:
                _add_indices(common[first:], np.float32(own), totals[level, first:], np.float32(times[level]), row)
        row /= np.float32(times.sum())
