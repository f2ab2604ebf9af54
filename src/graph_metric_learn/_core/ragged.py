"""Index arithmetic on ragged arrays: rows of many items stored one after the other, with the number of rows of each."""

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
