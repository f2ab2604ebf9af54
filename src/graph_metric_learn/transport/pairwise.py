"""Distances between many measures: the whole matrix, block by block, or only the nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from .._core.parallel import in_parallel, is_parallel
from .curves import Curves
from .embedded import Embedded
from .engines.allpairs import chosen, nearest, squared_distances
from .measures import Array
from .plans import least_cost_distances
from .sides import PairOptions, both_sides, check_out
from .walks import distances_from_squares

_SHIPPED = 2000  # rows of which joblib's workers look for the nearest at once
BLOCK_BYTES = 2**28  # of a block on a CPU: 256 MiB
_CUDA_BLOCK_BYTES = 2**31  # of a block on a GPU, which is busy only if a product has many rows


def pairwise_distances(
    measures: Sequence[Array] | Embedded, others: Sequence[Array] | Embedded | None = None, *,
    metric: str = "rpw", weights: Sequence[Array] | None = None, other_weights: Sequence[Array] | None = None,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None, ties: str = "canonical",
    squared: bool = False, out: np.ndarray | None = None,
    device: Any = "auto", precision: str = "float32", progress: bool | None = None,
) -> Any:  # fmt: skip
    """Distances between all measures of a list, or between the measures of two lists. Exact.

    Parameters
    ----------
    measures : list of arrays [n_i, p], or Curves, or Vectors
        Point clouds of any sizes; or what they are embedded as: curves (:func:`as_curves`), which are then not sorted
        again, or vectors, whose distance is the Euclidean one.
    others : list of arrays [m_j, p], or Curves, or Vectors, optional
        The other side, of the same kind. Without it, distances within `measures`: exactly symmetric, exactly 0 on the
        diagonal.
    metric : {"rpw", "pw", "sw"}
        See :func:`rpw_distance`, :func:`pw_distance`, :func:`sw_distance`.
    weights, other_weights : lists of arrays, optional
        Masses of the points; uniform when None.
    n_projections, projections, seed
        Directions for "pw" and "sw", the same for all measures.
    ties : {"canonical", "optimal", "first"}
        "optimal" solves a transport problem for every pair and direction: for reference, not for speed.
    squared : bool
        Return squared distances.
    out : ndarray [N, M], optional
        Where to put the result, for instance a `numpy.memmap`: then the matrix need not fit into memory, nor into a
        GPU's. Copying from a GPU is fastest into pinned memory, ``torch.empty(N, M, pin_memory=True).numpy()``.
    device : {"auto", "cpu", "cuda", "cuda:1", …}
        The device to compute NumPy input on; "auto" takes a GPU, if there is one, for float32 input and more work than
        a CPU does in about a second. Torch tensors are computed on their own device: another one here is an error.
    precision : {"float32", "tf32"}
        How a GPU multiplies float32 numbers. "tf32" is faster and less exact: see Notes. The settings in
        `torch.backends` are neither used nor changed. No effect on CPUs and on float64.
    progress : bool, optional
        Progress bar. By default one is shown on a terminal when the work takes more than a few seconds.

    Returns
    -------
    distances : array [N, N] or [N, M]
        NumPy or torch, float32 or float64, on the device of the input; differentiable if the input requires gradients.

    Notes
    -----
    "tf32": all pairs of 100,000 graphs of NCI1's sizes took 0.09 s on an H200 instead of 0.16 s; the largest error of a
    distance was 6e-4 of the root mean square norm of the points, instead of 5e-6 (`bench gpu`).

    Besides input and result, memory holds the curves (S · M · c numbers for S points in all: S · p² for "rpw") and a
    few MiB of averages; on a GPU all averages are kept if they fit into a third of its free memory. To work without the
    full matrix, see :func:`iter_distances`, :func:`iter_pairs` and :func:`kneighbors`.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> clouds = [np.zeros((3, 2)), np.ones((5, 2)), np.full((4, 2), 2.0)]
    >>> gml.pairwise_distances(clouds).round(3)
    array([[0.   , 1.414, 2.828],
           [1.414, 0.   , 1.414],
           [2.828, 1.414, 0.   ]])
    """
    options = PairOptions.among(locals())
    if ties == "optimal" and not isinstance(measures, Embedded) and not isinstance(others, Embedded):
        return least_cost_distances(measures, others, options, squared=squared, out=out)
    u, v = both_sides(measures, others, options)
    shape = (len(u), len(u if v is None else v))
    if out is not None:
        check_out(out, shape)
    elif u.numpy and u.device.type != "cpu":  # copied to the host while it is computed
        out = np.empty(shape, np.float64 if u.values.dtype == torch.float64 else np.float32)
    if out is not None:
        finish = partial(distances_from_squares, squared=squared)
        size = _block_bytes(None, u)
        with chosen(u, v, precision=precision, block_bytes=size, progress=progress) as (engine, u, v, run):
            engine.fill(u, v, out, finish, run)
        return out
    return u.wrap(distances_from_squares(squared_distances(u, v, precision=precision, progress=progress), squared))


def iter_distances(
    measures: Sequence[Array] | Embedded, others: Sequence[Array] | Embedded | None = None, *,
    metric: str = "rpw", weights: Sequence[Array] | None = None, other_weights: Sequence[Array] | None = None,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None, ties: str = "canonical",
    squared: bool = False, block_bytes: int | None = None,
    device: Any = "auto", precision: str = "float32", progress: bool | None = None,
) -> Iterator[tuple[np.ndarray, Any]]:  # fmt: skip
    """The rows of the distance matrix, block by block, without ever holding the whole of it.

    Parameters
    ----------
    measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, squared
        See :func:`pairwise_distances`.
    block_bytes : int, optional
        Upper bound for the size of a block (at least one row); 256 MiB on a CPU, 2 GiB on a GPU.
    device, precision, progress
        See :func:`pairwise_distances`. On a GPU later blocks are computed while the caller uses one: they take up to
        three times `block_bytes`.

    Yields
    ------
    rows : ndarray [R]
        Indices of these rows. Rows come in order of size, not of index, which saves most of the work.
    block : array [R, M]
        Their distances to all others, in the order of `others`.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> clouds = [np.zeros((3, 2)), np.ones((5, 2)), np.full((4, 2), 2.0)]
    >>> for rows, block in gml.iter_distances(clouds, block_bytes=50):
    ...     print(rows, block.shape)
    [0 2] (2, 3)
    [1] (1, 3)
    """
    options = PairOptions.among(locals())
    u, v = both_sides(measures, others, options)
    size = _block_bytes(block_bytes, u)
    running = chosen(u, v, entries=True, precision=precision, block_bytes=size, progress=progress)
    with running as (engine, u, v, run):
        for rows, block in engine.row_blocks(u, v, run):
            yield rows, u.wrap(distances_from_squares(block, squared))


def iter_pairs(
    measures: Sequence[Array] | Embedded, others: Sequence[Array] | Embedded | None = None, *,
    metric: str = "rpw", weights: Sequence[Array] | None = None, other_weights: Sequence[Array] | None = None,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None, ties: str = "canonical",
    squared: bool = False, block_bytes: int | None = None,
    device: Any = "auto", precision: str = "float32", progress: bool | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:  # fmt: skip
    """The distances of all pairs, each pair once, block by block: the fastest way to see them all.

    Parameters
    ----------
    measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, squared
        See :func:`pairwise_distances`.
    block_bytes, device, precision, progress
        See :func:`iter_distances`.

    Yields
    ------
    rows, cols : ndarrays [R], [C]
        Indices of measures and of others. Without others, cols begins with rows and goes on with measures that are not
        rows of an earlier block: a pair is in one block only (a pair of two rows of the block is there both ways).
    block : array [R, C]
        Their distances.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> clouds = [np.zeros((3, 2)), np.ones((5, 2)), np.full((4, 2), 2.0)]
    >>> for rows, cols, block in gml.iter_pairs(clouds, block_bytes=50):
    ...     print(rows, cols, block.shape)
    [0 2] [0 2 1] (2, 3)
    [1] [1] (1, 1)
    """
    options = PairOptions.among(locals())
    u, v = both_sides(measures, others, options)
    size = _block_bytes(block_bytes, u)
    with chosen(u, v, precision=precision, block_bytes=size, progress=progress) as (engine, u, v, run):
        for rows, cols, block in engine.pair_blocks(u, v, run):
            yield rows, cols, u.wrap(distances_from_squares(block, squared))


def kneighbors(
    measures: Sequence[Array] | Embedded, others: Sequence[Array] | Embedded | None = None, *,
    n_neighbors: int = 5, metric: str = "rpw",
    weights: Sequence[Array] | None = None, other_weights: Sequence[Array] | None = None,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None, ties: str = "canonical",
    block_bytes: int | None = None, device: Any = "auto", precision: str = "float32", progress: bool | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The nearest others of each measure, exactly, without ever holding the full matrix.

    Parameters
    ----------
    measures, metric, weights, other_weights, n_projections, projections, seed, ties
        See :func:`pairwise_distances`.
    others : list of arrays, or Curves, or Vectors, optional
        Where to look for neighbours. Without it, among the measures themselves, leaving out each measure itself.
    n_neighbors : int
        How many.
    block_bytes, device, precision, progress
        See :func:`iter_distances`.

    Returns
    -------
    distances, indices : arrays [N, n_neighbors]
        In increasing order of distance; equal distances by index.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> clouds = [np.zeros((3, 2)), np.ones((5, 2)), np.full((4, 2), 2.5)]
    >>> distances, indices = gml.kneighbors(clouds, n_neighbors=1)
    >>> indices
    array([[1],
           [0],
           [1]])
    """
    options = PairOptions.among(locals())
    u, v = both_sides(measures, others, options)
    available = len(u) - 1 if v is None else len(v)
    whole = isinstance(n_neighbors, (int, np.integer)) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= available:
        raise ValueError(
            f"n_neighbors={n_neighbors}, but there are {available} measures to choose from: give a whole number from 1"
        )
    size = _block_bytes(block_bytes, u)
    if is_parallel() and u.numpy and u.device.type == "cpu" and len(u) > _SHIPPED:
        return _nearest_elsewhere(u, v, int(n_neighbors))
    squares, indices = nearest(u, v, n_neighbors, size, precision=precision, progress=progress)
    return u.wrap(distances_from_squares(squares, squared=False)), u.wrap(indices)


def _nearest_elsewhere(u: Curves, v: Curves | None, k: int) -> tuple[Any, Any]:
    """Neighbours of all, some rows at a time by joblib's workers."""
    distances, indices = zip(*in_parallel(_nearest_of_some, range(0, len(u), _SHIPPED), (u, v, k)), strict=True)
    return np.concatenate(distances), np.concatenate(indices)


def _nearest_of_some(shared: tuple[Curves, Curves | None, int], start: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances and indices [R, k] of some rows; without `v`, among the others of `u`."""
    u, v, k = shared
    rows = u[start : start + _SHIPPED]
    others = u if v is None else v
    squares, indices = nearest(rows, others, k + (v is None), BLOCK_BYTES, precision="float32", progress=False)
    distances, columns = distances_from_squares(squares, squared=False).numpy(), indices.numpy()
    if v is not None:
        return distances, columns
    is_own = columns == np.arange(start, start + len(rows))[:, None]
    is_own[~is_own.any(1), -1] = True  # more copies than neighbours: the last goes
    return distances[~is_own].reshape(len(rows), k), columns[~is_own].reshape(len(rows), k)


def _block_bytes(block_bytes: int | None, u: Curves) -> int:
    """The caller's block size, checked, or the default of the device."""
    if block_bytes is None:
        return BLOCK_BYTES if u.device.type == "cpu" else _CUDA_BLOCK_BYTES
    if not block_bytes > 0:
        raise ValueError(f"block_bytes must be positive, got {block_bytes!r}")
    return int(block_bytes)
