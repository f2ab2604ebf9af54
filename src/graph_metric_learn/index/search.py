"""Exact search among the rows of several segments: nearest rows of one query or many, and rows within a radius."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from .kernels import all_squares, nearest_by_products, nearest_many, nearest_one, within
from .segment import Segment

_SEED_ROWS = 4096  # looked at before all others, so that every thread starts with a limit
_THREADED = 20_000  # rows from which threads are worth waking
_FEW = 4  # queries up to which each is a scan of its own, shared by all threads
_SORTED_FROM = 512  # neighbours from which all distances are computed and sorted
_PIECE = 2**16  # rows between two looks at how well bounds work
_MOST_REFINED = 0.3  # share of the rows that heads do not rule out from which inner products are faster
_PRODUCT_BYTES = 2**26  # of a block of inner products
_QUERIES = 1024  # looked at together, at most


def nearest(
    segments: Sequence[Segment], heads: np.ndarray, queries: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Distances, float64, and row numbers of the k nearest rows of each query [Q, k]; at least k rows must count.

    heads [Q, 16 + m], queries [Q, d] : coordinates along the axes, and vectors, float32.

    Rows are numbered through all segments, those that do not count included. Distances are sums over float32
    coordinates in float64, without a difference of large numbers: of a vector to itself 0. Of equal distances the lower
    row is first.
    """
    squares, rows = np.empty((len(heads), k)), np.empty((len(heads), k), np.int64)
    if k >= _SORTED_FROM or k > _rows(segments) // 4:
        for q in range(len(heads)):
            squares[q], rows[q] = _sorted(segments, queries[q], k)
    elif len(heads) <= _FEW:
        for q in range(len(heads)):
            squares[q], rows[q] = _one(segments, heads[q], queries[q], k)
    else:
        for lo in range(0, len(heads), _QUERIES):
            some = slice(lo, lo + _QUERIES)
            squares[some], rows[some] = _many(segments, heads[some], queries[some], k)
    return np.sqrt(squares), rows


def within_radius(
    segments: Sequence[Segment], head: np.ndarray, query: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Distances and row numbers of all rows at most `radius` away from one query, nearest first."""
    squares, rows, first = [], [], 0
    for segment in segments:
        found = np.empty(len(segment))
        arrays = segment.arrays
        limit = float(radius) ** 2
        within(
            arrays["heads"],
            arrays["middles"],
            arrays["vectors"],
            segment.dead,
            head,
            query,
            limit,
            found,
            threads=_threads(segment),
        )
        which = np.flatnonzero(found >= 0)
        squares.append(found[which])
        rows.append(which + first)
        first += len(segment)
    if not segments:
        return np.zeros(0), np.zeros(0, np.int64)
    square, row = np.concatenate(squares), np.concatenate(rows)
    order = np.lexsort((row, square))
    return np.sqrt(square[order]), row[order]


def _rows(segments: Sequence[Segment]) -> int:
    return sum(map(len, segments))


def _threads(segment: Segment) -> bool:
    return len(segment) >= _THREADED


def _sorted(segments: Sequence[Segment], query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest by all distances: for many neighbours, and the plain form of what the other functions do."""
    squares = squares_to_all(segments, query)
    order = np.argsort(squares, kind="stable")[:k]
    return squares[order], order


def squares_to_all(segments: Sequence[Segment], query: np.ndarray) -> np.ndarray:
    """Squared distances of one query to all rows [n], float64; infinite for rows that do not count."""
    squares = np.empty(_rows(segments))
    first = 0
    for segment in segments:
        part = squares[first : first + len(segment)]
        all_squares(segment.arrays["vectors"], query, part, threads=_threads(segment))
        if len(segment.dead):
            part[segment.dead] = np.inf
        first += len(segment)
    return squares


def _one(segments: Sequence[Segment], head: np.ndarray, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of one query: threads share the rows."""
    squares, rows = np.full(k, np.inf), np.full(k, -1)
    first = 0
    for segment in segments:
        start = 0
        for stop in (min(_SEED_ROWS, len(segment)), len(segment)) if _threads(segment) else (len(segment),):
            chunks = _thread_count() if stop - start >= _THREADED else 1
            best, where = np.full((chunks, k), np.inf), np.full((chunks, k), -1)
            arrays = segment.arrays
            nearest_one(
                arrays["heads"][start:stop], arrays["middles"][start:stop], arrays["vectors"][start:stop],
                segment.dead[start:stop], head, query,
                first + start, squares[-1], best, where, np.zeros(chunks, np.int64), threads=chunks > 1,
            )  # fmt: skip
            squares, rows = _joined(squares, rows, best.ravel(), where.ravel(), k)
            start = stop
        first += len(segment)
    return squares, rows


def _joined(
    squares: np.ndarray, rows: np.ndarray, more: np.ndarray, more_rows: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest of both, equal ones by row."""
    squares, rows = np.concatenate([squares, more]), np.concatenate([rows, more_rows])
    order = np.lexsort((rows, squares))[:k]
    return squares[order], rows[order]


def _many(segments: Sequence[Segment], heads: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of many queries: threads share the queries. Inner products where bounds keep too many rows."""
    squares, rows = np.full((len(heads), k), np.inf), np.full((len(heads), k), -1)
    groups = min(len(heads), 4 * _thread_count())
    first, by_products = 0, False
    for segment in segments:
        for lo in range(0, len(segment), _PIECE):
            piece = slice(lo, min(lo + _PIECE, len(segment)))
            vectors, dead = segment.arrays["vectors"][piece], segment.dead[piece]
            if by_products:
                _by_products(vectors, dead, queries, first + lo, squares, rows)
                continue
            refined = np.zeros(groups, np.int64)
            pairs = len(vectors) * len(heads)
            nearest_many(
                segment.arrays["heads"][piece], segment.arrays["middles"][piece], vectors, dead, heads, queries,
                first + lo, squares, rows, refined,
                threads=pairs >= _THREADED,
            )  # fmt: skip
            by_products = len(vectors) == _PIECE and refined.sum() > _MOST_REFINED * pairs
        first += len(segment)
    return squares, rows


def _by_products(
    vectors: np.ndarray, dead: np.ndarray, queries: np.ndarray, first: int, squares: np.ndarray, rows: np.ndarray
) -> None:
    """The k nearest of many queries by blocks of a matrix product; adds to squares and rows [Q, k]."""
    centre = vectors.mean(0)  # products of vectors about it lose fewer digits
    left = queries - centre
    slack = 4.0 * (vectors.shape[1] + 2) * 2.0**-24  # of sums of so many products in float32, and of the centring
    step = max(256, _PRODUCT_BYTES // (4 * len(queries)))
    for lo in range(0, len(vectors), step):
        some = vectors[lo : lo + step]
        right = some - centre
        products = (torch.from_numpy(left) @ torch.from_numpy(right).T).numpy()
        nearest_by_products(
            products, _norms(right), _norms(left), slack, some, dead[lo : lo + step], queries, first + lo, squares, rows
        )


def _norms(vectors: np.ndarray) -> np.ndarray:
    """Squared norms [n], float64."""
    return np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)


def _thread_count() -> int:
    from numba import get_num_threads

    return int(get_num_threads())
