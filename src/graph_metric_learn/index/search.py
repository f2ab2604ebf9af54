"""Exact search: nearest rows of one query or many, and rows within a radius, by vectors or by curves.

Metrics that compare curves are searched by vectors that bound the distance from below: the averages of a curve on a
grid of cells are an orthogonal projection of it (see `transport.curve_vectors`), so the distance of these vectors is
never more than that of the curves. A row that is among the k nearest is at most as far as the k-th of any k rows: all
rows whose bound is that small are compared as curves, and no others need be.

Rows are numbered as in the state, those that do not count included.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import get_num_threads

from .._core.ragged import offsets
from ..transport import Curves, pairwise_distances
from .kernels import all_squares, nearest_by_products, nearest_many, nearest_one, within
from .rows import State, curve_arrays_at

_SEED_ROWS = 4096  # looked at before all others, so that every thread starts with a limit
_THREADED = 20_000  # rows from which threads are worth waking
_FEW = 4  # queries up to which each is a scan of its own, shared by all threads
_SORTED_FROM = 512  # neighbours from which all distances are computed and sorted
_PIECE = 2**16  # rows between two looks at how well bounds work
_MOST_REFINED = 0.3  # share of the rows that coarse bounds do not rule out from which inner products are faster
_PRODUCT_BYTES = 2**26  # of a block of inner products
_QUERIES = 1024  # looked at together, at most
_ROUNDING = 1e-4  # share by which a bound may be too large, or a distance of curves too small: both are float32


# --- by vectors ------------------------------------------------------------------------------------------------------


def nearest(state: State, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances, float64, and rows of the k nearest [Q, k] of queries [Q, d], float32; at least k rows must count.

    Distances are sums over float32 coordinates in float64, without a difference of large numbers: of a vector to itself
    0. Of equal distances the lower row is first.
    """
    squares, rows = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
    if k >= _SORTED_FROM or k > state.count // 4:
        for q, query in enumerate(queries):
            to_all = squares_to_all(state, query)
            rows[q] = np.argsort(to_all, kind="stable")[:k]
            squares[q] = to_all[rows[q]]
    elif len(queries) <= _FEW:
        for q, query in enumerate(queries):
            squares[q], rows[q] = _one(state, query, k)
    else:
        for lo in range(0, len(queries), _QUERIES):
            some = slice(lo, lo + _QUERIES)
            squares[some], rows[some] = _many(state, queries[some], k)
    return np.sqrt(squares), rows


def within_radius(state: State, query: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Distances and rows of all rows at most `radius` away from one query [d], nearest first [r]."""
    if not state.arrays:
        return np.zeros(0), np.zeros(0, np.int64)
    squares, coordinates = np.empty(state.count), _coordinates(state, query[None])[0]
    threads = state.count >= _THREADED
    within(*_parts(state, 0, state.count), coordinates, query, float(radius) ** 2, squares, threads=threads)
    rows = np.flatnonzero(squares >= 0)
    rows = rows[np.argsort(squares[rows], kind="stable")]
    return np.sqrt(squares[rows]), rows


def squares_to_all(state: State, query: np.ndarray) -> np.ndarray:
    """Squared distances of one query [d] to all rows [n], float64; infinite for rows that do not count."""
    squares = np.empty(state.count)
    all_squares(state.arrays["vectors"], query, squares, threads=state.count >= _THREADED)
    if len(state.dead):
        squares[state.dead] = np.inf
    return squares


def _parts(state: State, start: int, stop: int) -> tuple[np.ndarray, ...]:
    """Coarse and fine coordinates, vectors and `dead` of some rows."""
    arrays = state.arrays
    return *(arrays[name][start:stop] for name in ("coarse", "fine", "vectors")), state.dead[start:stop]


def _coordinates(state: State, queries: np.ndarray) -> np.ndarray:
    """Coordinates of queries [Q, d] along the axes [Q, 16 + m]."""
    assert state.axes is not None
    return state.axes.coordinates(queries)


def _one(state: State, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of one query: threads share the rows."""
    coordinates = _coordinates(state, query[None])[0]
    squares, rows, start = np.full(k, np.inf), np.full(k, -1), 0
    for stop in (min(_SEED_ROWS, state.count), state.count) if state.count >= _THREADED else (state.count,):
        chunks = get_num_threads() if stop - start >= _THREADED else 1
        best, where = np.full((chunks, k), np.inf), np.full((chunks, k), -1)
        parts, refined = _parts(state, start, stop), np.zeros(chunks, np.int64)
        nearest_one(*parts, coordinates, query, start, squares[-1], best, where, refined, threads=chunks > 1)
        squares, rows = np.concatenate([squares, best.ravel()]), np.concatenate([rows, where.ravel()])
        order = np.lexsort((rows, squares))[:k]
        squares, rows, start = squares[order], rows[order], stop
    return squares, rows


def _many(state: State, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of many queries: threads share the queries. Inner products where bounds keep too many rows."""
    coordinates = _coordinates(state, queries)
    squares, rows = np.full((len(queries), k), np.inf), np.full((len(queries), k), -1)
    groups = min(len(queries), 4 * get_num_threads())
    by_products = False
    for start in range(0, state.count, _PIECE):
        coarse, fine, vectors, dead = _parts(state, start, start + _PIECE)
        if by_products:
            _by_products(vectors, dead, queries, start, squares, rows)
            continue
        refined, pairs = np.zeros(groups, np.int64), len(vectors) * len(queries)
        parts, threads = (coarse, fine, vectors, dead), pairs >= _THREADED
        nearest_many(*parts, coordinates, queries, start, squares, rows, refined, threads=threads)
        by_products = len(vectors) == _PIECE and refined.sum() > _MOST_REFINED * pairs
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
        norms, query_norms = (np.einsum("ij,ij->i", x, x, dtype=np.float64) for x in (right, left))
        nearest_by_products(
            products, norms, query_norms, slack, some, dead[lo : lo + step], queries, first + lo, squares, rows
        )


# --- by curves -------------------------------------------------------------------------------------------------------


def curve_arrays(curves: Curves | None) -> dict[str, np.ndarray]:
    """Curves, if there are any, as the arrays that an index holds, see `rows.Batch`."""
    if curves is None:
        return {}
    arrays = {"curves": curves.values.detach().cpu().numpy(), "curve_ends": offsets(curves.sizes)[1:].astype(np.int64)}
    if curves.steps is not None:
        arrays["steps"] = curves.steps.detach().cpu().numpy()
    return arrays


def curves_at(state: State, rows: np.ndarray) -> Curves:
    """The curves of these rows [n], in their order."""
    arrays = curve_arrays_at(state, rows)
    if not arrays:
        raise ValueError("the index holds no curves, which its metric compares: it is damaged")
    steps = torch.from_numpy(arrays["steps"]) if "steps" in arrays else None
    return Curves(torch.from_numpy(arrays["curves"]), np.diff(arrays["curve_ends"], prepend=0), steps, True)


def embedded_at(state: State, rows: np.ndarray) -> tuple[np.ndarray, Curves | None]:
    """Vectors of these rows [n, d], in their order, and their curves where the index holds such."""
    return state.arrays["vectors"][rows], curves_at(state, rows) if "curves" in state.arrays else None


def nearest_curves(state: State, vectors: np.ndarray, curves: Curves, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact distances and rows of the k nearest [Q, k] of curves and their vectors [Q, d], as `nearest`."""
    _, candidates = nearest(state, vectors, k)
    distances, rows = np.empty(candidates.shape), np.empty(candidates.shape, np.int64)
    for q in range(len(vectors)):
        reach = float(_exact(state, curves[q : q + 1], np.sort(candidates[q])).max())
        near, near_rows = curves_within(state, vectors[q], curves[q : q + 1], reach * (1 + _ROUNDING))
        distances[q], rows[q] = near[:k], near_rows[:k]
    return distances, rows


def curves_within(state: State, vector: np.ndarray, curve: Curves, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """As `within_radius`, of a curve and its vector [d]; the distances are exact."""
    scale = float(np.linalg.norm(vector))
    _, rows = within_radius(state, vector, radius * (1 + _ROUNDING) + _ROUNDING * scale)
    if len(rows) == 0:
        return np.zeros(0), rows
    rows = np.sort(rows)
    distances = _exact(state, curve, rows)
    near = distances <= radius
    order = np.argsort(distances[near], kind="stable")
    return distances[near][order], rows[near][order]


def _exact(state: State, curve: Curves, rows: np.ndarray) -> np.ndarray:
    """Distances of a curve to these rows, ascending [n], float64."""
    distances = pairwise_distances(curve.to("cpu"), curves_at(state, rows), progress=False)
    return np.asarray(distances, dtype=np.float64)[0]
