"""Distances between many measures: the whole matrix, its rows block by block, or the nearest only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import offsets
from .curves import METRICS, Curves, build_curves, resolve
from .devices import check_precision, chosen_device
from .directions import project
from .distances import agree, optimal_costs, power
from .engines.allpairs import fill, nearest, pair_bar, pair_blocks, row_blocks, squared_distances
from .measures import Array, Measures, as_measures
from .ordering import check_ties

BLOCK_BYTES = 2**28  # 256 MiB
_CUDA_BLOCK_BYTES = 2**31  # products fill a GPU only if there are many rows


def pairwise_distances(
    measures: Sequence[Array] | Curves,
    others: Sequence[Array] | Curves | None = None,
    *,
    metric: str = "rpw",
    weights: Sequence[Array] | None = None,
    other_weights: Sequence[Array] | None = None,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    ties: str = "canonical",
    squared: bool = False,
    out: np.ndarray | None = None,
    device: Any = "auto",
    precision: str = "float32",
    progress: bool | None = None,
) -> Any:
    """Distances between all measures of a list, or between the measures of two lists. Exact.

    Parameters
    ----------
    measures : list of arrays [n_i, p], or Curves
        Point clouds of any sizes; or the curves of them (:func:`as_curves`), which are then not sorted again.
    others : list of arrays [m_j, p] or Curves, optional
        The other side. Without it, distances within `measures`: exactly symmetric, exactly 0 on the diagonal.
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
        Where to put the result, for instance a `numpy.memmap`: then nothing of that size need fit into memory, nor into
        a GPU's. Copying from a GPU is fastest into pinned memory, ``torch.empty(N, M, pin_memory=True).numpy()``.
    device : {"auto", "cpu", "cuda", "cuda:1", …}
        Where NumPy input is computed on; "auto" takes a GPU, if there is one, for float32 input and more work than a
        CPU does in about a second. Torch tensors are computed on where they are: another device here is an error.
    precision : {"float32", "tf32"}
        How a GPU multiplies float32 numbers. "tf32" is faster and less exact: see Notes. What is set in
        `torch.backends` makes no difference and is left as it is. No effect on CPUs and on float64.
    progress : bool, optional
        Progress bar. By default one is shown on a terminal when the work takes more than a few seconds.

    Returns
    -------
    distances : array [N, N] or [N, M]
        NumPy or torch, float32 or float64, on the device of the input; differentiable if the input asks for it.

    Notes
    -----
    "tf32": all pairs of 100,000 graphs of NCI1's sizes took 0.09 s on an H200 instead of 0.16 s; the largest error of a
    distance was 6e-4 of the root mean square norm of the points, instead of 5e-6 (`bench gpu`).

    Beside input and result, memory holds the curves (S · M · c numbers for S points in all: S · p² for "rpw") and a few
    MiB of averages; on a GPU all averages are kept if they fit into a third of its memory. To work without the full
    matrix, see :func:`iter_distances`, :func:`iter_pairs` and :func:`kneighbors`.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> clouds = [np.zeros((3, 2)), np.ones((5, 2)), np.full((4, 2), 2.0)]
    >>> gml.pairwise_distances(clouds).round(3)
    array([[0.   , 1.414, 2.828],
           [1.414, 0.   , 1.414],
           [2.828, 1.414, 0.   ]])
    """
    if check_ties(ties) == "optimal" and not isinstance(measures, Curves):
        return _optimal_pairs(
            measures, others, metric, weights, other_weights, n_projections, projections, seed, squared, out, progress
        )
    check_precision(precision)
    u, v = _both_sides(measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, device)
    shape = (len(u), len(u if v is None else v))
    if out is not None:
        _check_out(out, shape)
    elif u.numpy and u.device.type != "cpu":  # copied to the host while it is computed
        out = np.empty(shape, np.float64 if u.values.dtype == torch.float64 else np.float32)
    if out is not None:
        finish = partial(_finished, squared=squared)
        fill(u, v, out, finish, _block_bytes(None, u), precision=precision, progress=progress)
        return out
    return u.wrap(_finished(squared_distances(u, v, precision=precision, progress=progress), squared))


def iter_distances(
    measures: Sequence[Array] | Curves,
    others: Sequence[Array] | Curves | None = None,
    *,
    metric: str = "rpw",
    weights: Sequence[Array] | None = None,
    other_weights: Sequence[Array] | None = None,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    ties: str = "canonical",
    squared: bool = False,
    block_bytes: int | None = None,
    device: Any = "auto",
    precision: str = "float32",
    progress: bool | None = None,
) -> Iterator[tuple[np.ndarray, Any]]:
    """The rows of the distance matrix, block by block, without ever holding the whole of it.

    Parameters
    ----------
    measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, squared
        See :func:`pairwise_distances`.
    block_bytes : int, optional
        Upper bound for the size of a block (at least one row); 256 MiB on a CPU, 2 GiB on a GPU.
    device, precision, progress
        See :func:`pairwise_distances`. On a GPU blocks are computed ahead: up to three times
        `block_bytes` are under way while the caller holds one.

    Yields
    ------
    rows : ndarray [R]
        Which rows of the matrix these are. Rows come in order of size, not of index: it saves most of the work.
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
    check_precision(precision)
    u, v = _both_sides(measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, device)
    size = _block_bytes(block_bytes, u)
    for rows, block in row_blocks(u, v, size, precision=precision, progress=progress):
        yield rows, u.wrap(_finished(block, squared))


def iter_pairs(
    measures: Sequence[Array] | Curves,
    others: Sequence[Array] | Curves | None = None,
    *,
    metric: str = "rpw",
    weights: Sequence[Array] | None = None,
    other_weights: Sequence[Array] | None = None,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    ties: str = "canonical",
    squared: bool = False,
    block_bytes: int | None = None,
    device: Any = "auto",
    precision: str = "float32",
    progress: bool | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
    """The distances of all pairs, each pair once, block by block: the fastest way through them all.

    Parameters
    ----------
    measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, squared
        See :func:`pairwise_distances`.
    block_bytes, device, precision, progress
        See :func:`iter_distances`.

    Yields
    ------
    rows, cols : ndarrays [R], [C]
        Which measures, and which others. Without others, cols begins with rows and goes on with measures that are not
        among the rows of any block before: a pair is in one block only (two of its rows are there both ways).
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
    check_precision(precision)
    u, v = _both_sides(measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, device)
    size = _block_bytes(block_bytes, u)
    for rows, cols, block in pair_blocks(u, v, size, precision=precision, progress=progress):
        yield rows, cols, u.wrap(_finished(block, squared))


def kneighbors(
    measures: Sequence[Array] | Curves,
    others: Sequence[Array] | Curves | None = None,
    *,
    n_neighbors: int = 5,
    metric: str = "rpw",
    weights: Sequence[Array] | None = None,
    other_weights: Sequence[Array] | None = None,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    ties: str = "canonical",
    block_bytes: int | None = None,
    device: Any = "auto",
    precision: str = "float32",
    progress: bool | None = None,
) -> tuple[Any, Any]:
    """The nearest others of each measure, exactly, without ever holding the full matrix.

    Parameters
    ----------
    measures, metric, weights, other_weights, n_projections, projections, seed, ties
        See :func:`pairwise_distances`.
    others : list of arrays or Curves, optional
        Where to look for neighbours. Without it, among the measures themselves, each one's own self left out.
    n_neighbors : int
        How many.
    block_bytes, device, precision, progress
        See :func:`iter_distances`.

    Returns
    -------
    distances, indices : arrays [N, n_neighbors]
        In increasing order; equally near ones by index.

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
    check_precision(precision)
    u, v = _both_sides(measures, others, metric, weights, other_weights, n_projections, projections, seed, ties, device)
    available = len(u) - 1 if v is None else len(v)
    if not isinstance(n_neighbors, (int, np.integer)) or not 1 <= n_neighbors <= available:
        raise ValueError(f"n_neighbors={n_neighbors}, but there are {available} measures to choose from")
    size = _block_bytes(block_bytes, u)
    squares, indices = nearest(u, v, n_neighbors, size, precision=precision, progress=progress)
    return u.wrap(_finished(squares, squared=False)), u.wrap(indices)


def _finished(squares: Tensor, squared: bool) -> Tensor:
    if squared:
        return squares
    return power(squares, 0.5) if squares.requires_grad else squares.sqrt_()  # ours: no need for a second matrix


def _block_bytes(given: int | None, u: Curves) -> int:
    if given is None:
        return BLOCK_BYTES if u.device.type == "cpu" else _CUDA_BLOCK_BYTES
    if not given > 0:
        raise ValueError(f"block_bytes must be positive, got {given!r}")
    return int(given)


def _check_out(out: Any, shape: tuple[int, int]) -> None:
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype.kind != "f" or not out.flags.writeable:
        raise ValueError(f"out must be a writeable NumPy array of floating-point numbers of shape {shape}")


def _both_sides(
    measures: Any, others: Any, metric: str, weights: Any, other_weights: Any,
    n_projections: int, projections: Any, seed: Any, ties: str, device: Any,
) -> tuple[Curves, Curves | None]:  # fmt: skip
    """Curves of both sides (None: the same), along the same directions and on the device that was asked for."""
    given = [side for side in (measures, others) if side is not None]
    if others is None and other_weights is not None:
        raise ValueError("other_weights were given without others")
    if any(isinstance(side, Curves) for side in given):
        if not all(isinstance(side, Curves) for side in given):
            raise ValueError("give curves on both sides or clouds on both sides")
        if ties == "optimal":
            raise ValueError('ties="optimal" depends on both measures of a pair: give the clouds, not their curves')
        if metric not in METRICS:
            raise ValueError(f"unknown metric={metric!r}: use one of {', '.join(map(repr, METRICS))}")
        if weights is not None or other_weights is not None or projections is not None:
            raise ValueError("weights and projections are part of curves already: give them to as_curves()")
        if others is not None and measures.values.shape[1:] != others.values.shape[1:]:
            raise ValueError(
                f"curves of shape {tuple(measures.values.shape[1:])} and {tuple(others.values.shape[1:])} (directions, "
                "coordinates) cannot be compared: build both in the same way"
            )
        if others is not None and measures.device != others.device:
            raise ValueError(f"curves on {measures.device} and {others.device}: move one side with .to()")
        work = _work(measures.sizes, (measures if others is None else others).sizes, measures.values[0].numel())
        where = chosen_device(device, measures.values, measures.numpy, work)
        return measures.to(where), None if others is None else others.to(where)
    if check_ties(ties) == "optimal":
        raise ValueError('ties="optimal" is available for pairwise_distances and single pairs only')
    u = as_measures(measures, weights)
    v = None if others is None else as_measures(others, other_weights, names=_Names("others"))
    if v is not None:
        u, v = agree(u, v, "measures", "others")
    width = u.dim * u.dim if metric == "rpw" else n_projections * (u.dim if metric == "pw" else 1)
    where = chosen_device(device, u.points, u.numpy, _work(u.sizes, (v or u).sizes, width))
    directions, carry = resolve(metric, u.dim, n_projections, projections, seed, u.points)
    directions = None if directions is None else directions.to(where)
    sides = [side.to(where) for side in (u, v) if side is not None]
    walked = [build_curves(side, project(side.points, directions), carry=carry, ties=ties) for side in sides]
    return walked[0], walked[1] if len(walked) == 2 else None


def _work(sizes: np.ndarray, sizes2: np.ndarray, width: int) -> float:
    """Multiplications of the products, about."""
    return len(sizes) * len(sizes2) * min(sizes.mean(), sizes2.mean()) * width


class _Names(Sequence[str]):
    """Names for error messages, made when they are needed."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __len__(self) -> int:
        return 1

    def __getitem__(self, i: Any) -> Any:
        return f"{self.what}[{i}]"


def _optimal_pairs(
    measures: Any, others: Any, metric: str, weights: Any, other_weights: Any, n_projections: int, projections: Any,
    seed: Any, squared: bool, out: np.ndarray | None, progress: bool | None,
) -> Any:  # fmt: skip
    """ties="optimal": one pair after the other."""
    if metric == "sw":
        raise ValueError('metric="sw" carries projections only, so ties make no difference: leave out ties="optimal"')
    u = as_measures(measures, weights)
    v = u if others is None else as_measures(others, other_weights, names=_Names("others"))
    u, v = agree(u, v, "measures", "others")
    directions, _ = resolve(metric, u.dim, n_projections, projections, seed, u.points)
    sides = [list(_single_measures(side)) for side in (u, v)]
    if out is not None:
        _check_out(out, (len(u), len(v)))
    with pair_bar(len(u) * len(v), progress) as bar:
        rows: list[list[Tensor]] = []
        for i, x in enumerate(sides[0]):
            row = []
            for j, y in enumerate(sides[1]):
                bar.update()
                if others is None and j <= i:
                    row.append(rows[j][i] if j < i else u.points.new_zeros(()))
                else:
                    square = optimal_costs(x, y, directions, 2.0)[0].mean().to(u.points.dtype)
                    row.append(_finished(square, squared))
            rows.append(row)
    stacked = torch.stack([torch.stack(row) for row in rows])
    if out is None:
        return stacked.detach().numpy() if u.numpy else stacked
    out[:] = stacked.detach().cpu().numpy()
    return out


def _single_measures(measures: Measures) -> Iterator[Measures]:
    starts = offsets(measures.sizes)
    for g, (s, e) in enumerate(pairwise(starts)):
        weights = None if measures.weights is None else measures.weights[s:e]
        yield Measures(measures.points[s:e], measures.sizes[g : g + 1], weights, measures.numpy)
