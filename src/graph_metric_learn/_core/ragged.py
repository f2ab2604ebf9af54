"""Rows of many items stored one after the other: index arithmetic, and arrays that grow at the end without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Where each of the consecutive pieces starts, and the end of the last [G + 1].

    >>> offsets(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes)])


def concatenated_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The ranges starts[i] … starts[i] + lengths[i] - 1, one after the other.

    >>> concatenated_ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    shift = np.repeat(starts - offsets(lengths)[:-1], lengths)
    return np.arange(len(shift)) + shift


def by_size(sizes: np.ndarray) -> np.ndarray:
    """Indices that sort by size, stably; sizes below 2^16 are sorted as uint16, which is much faster.

    >>> by_size(np.array([5, 3, 5, 1]))
    array([3, 1, 0, 2])
    """
    return np.argsort(sizes.astype(np.uint16) if sizes.max() < 2**16 else sizes, kind="stable")


def groups(ascending: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(value, start, end) of each run of equal values.

    >>> list(groups(np.array([3, 3, 5])))
    [(3, 0, 2), (5, 2, 3)]
    """
    bounds = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), len(ascending)] if len(ascending) else []
    yield from ((int(ascending[lo]), lo, hi) for lo, hi in pairwise(bounds))


class GrowingArray:
    """The first rows of a buffer that has room for more. Rows that were read never change.

    Growing writes behind these rows, and returns another object with the same buffer; the buffer is copied only when it
    is full, when other rows were written there already, or when the type of its entries is too narrow.

    Parameters
    ----------
    rows : ndarray [n, …]
        Taken as they are, not copied.

    Examples
    --------
    >>> first = GrowingArray(np.array([1, 2]))
    >>> more = first.grown(np.array([3]))
    >>> first.rows, more.rows
    (array([1, 2]), array([1, 2, 3]))
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._buffer, self._count = rows, len(rows)
        self._used = [len(rows)]  # of the buffer, by whoever shares it

    @property
    def rows(self) -> np.ndarray:
        """The rows [n, …]: a view, of which later growth changes nothing."""
        return self._buffer[: self._count]

    def __len__(self) -> int:
        return self._count

    def grown(self, more: np.ndarray) -> GrowingArray:
        """These rows [n, …] and more [m, …]; one thread at a time may call this."""
        total, dtype = self._count + len(more), np.result_type(self._buffer, more)
        grown = object.__new__(GrowingArray)
        grown._count = total
        if self._used[0] == self._count and total <= len(self._buffer) and dtype == self._buffer.dtype:
            grown._buffer, grown._used = self._buffer, self._used
        else:
            grown._buffer = np.empty((total + total // 2 + 8, *self._buffer.shape[1:]), dtype)
            grown._buffer[: self._count] = self.rows
            grown._used = [0]
        grown._buffer[self._count : total] = more
        grown._used[0] = total
        return grown
