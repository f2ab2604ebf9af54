"""Projected transport of a cloud along its principal axes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from .._core.compiled import njit, share_of, shared
from .._core.ragged import offsets
from .._core.schema import FieldError, Saved, array
from ..linalg.principal_axes import principal_axes
from ..transport.kernels.sorting import stable_sort
from .embedding import Embedding, subsample

_NOISE = 1e-10  # relative scatter along an axis that is nothing but rounding
_Few = Annotated[int, Meta(ge=1, le=1024)]


class _Fitted(Saved):
    axes: Annotated[np.ndarray, array("columns n_axes")]


class Axes(Embedding):
    """Projected transport along principal axes: along each axis, the sorted points are cut into cells of equal mass.

    Each cell of each axis is a slot: the curve of a cloud along that axis (see `transport.curves`), averaged on a fixed
    grid. Points at the same place along an axis share their cells, so the vector is a function of the cloud alone.

    Parameters
    ----------
    n_axes, n_cells : int
        How many axes, and how many cells along each.
    """

    name = "projected transport"
    supervised = False
    option_types: ClassVar = {"n_axes": _Few, "n_cells": _Few}
    fitted_type = _Fitted
    axes: np.ndarray

    def __init__(self, n_axes: int = 8, n_cells: int = 8) -> None:
        self.n_axes = n_axes
        self.n_cells = n_cells

    def fit(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Axes:
        """The axes of largest variance of points [S, q], of a subsample; none along which only rounding varies."""
        some = subsample(points, rng).astype(np.float64)
        scatter, axes = principal_axes((some - some.mean(0)).T @ (some - some.mean(0)))
        count = np.count_nonzero(scatter > _NOISE * scatter.max())
        self.axes = axes[:, : min(max(count, 1), self.n_axes)].copy()
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        return self._means(x, np.eye(len(x), dtype=np.float32), np.array([len(x)]), 1.0, np.float64)[0]

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return self._means(points, points, sizes, np.sqrt(self.axes.shape[1] * self.n_cells), np.float32)

    def _means(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray, unit: float, kind: Any) -> np.ndarray:
        """Means of the values `carried` by the points [S, c] in each slot of each cloud [G, slots, c], over `unit`."""
        along = points.astype(np.float64) @ self.axes
        means = np.empty((len(sizes), along.shape[1] * self.n_cells, carried.shape[1]), kind)
        values, positions = np.ascontiguousarray(carried, np.float32), np.ascontiguousarray(along.T)
        _fill_cells(positions, values, offsets(sizes), self.n_cells, unit, means, threads=len(sizes) > 1)
        return means

    def set_arrays(self, arrays: dict[str, np.ndarray], columns: int) -> None:
        super().set_arrays(arrays, columns)
        if not 1 <= self.axes.shape[1] <= self.n_axes:
            raise FieldError("axes", f"has {self.axes.shape[1]} columns, expected 1 to {self.n_axes}")

    def width(self, columns: int) -> int:
        return self.axes.shape[1] * self.n_cells * columns


@shared
def _fill_cells(part, parts, along, carried, starts, n_cells, unit, means):
    """Averages of `carried` [S, c] in each cell of each axis [G, axes · n_cells, c], by places `along` [axes, S]."""
    for g in share_of(len(starts) - 1, part, parts):
        _fill_cells_of(along, carried, starts[g], starts[g + 1] - starts[g], n_cells, unit, means[g])


@njit(error_model="numpy")
def _fill_cells_of(along, carried, first, n, n_cells, unit, means):
    """As `_fill_cells`, for one cloud of n points.

    Points at one place along an axis, up to rounding, are one step of the curve, of the mean of their values. The cell
    averages of `transport` cannot serve here: they have no such steps of several points.
    """
    width = carried.shape[1]
    mean, totals = np.empty(width), np.empty((n_cells, width))
    position, position2 = np.empty(n), np.empty(n)
    order, order2 = np.empty(n, np.int64), np.empty(n, np.int64)
    near = 0.0
    for k in range(len(along)):
        for i in range(first, first + n):
            near = max(near, 1e-6 * abs(along[k, i]))
    for k in range(len(along)):
        for i in range(n):
            position[i], order[i] = along[k, first + i], first + i
        stable_sort(position, order, position2, order2)
        for cell in range(n_cells):
            for j in range(width):
                totals[cell, j] = 0.0
        begin = 0
        while begin < n:
            end = begin + 1
            while end < n and position[end] - position[end - 1] <= near:
                end += 1
            for j in range(width):
                mean[j] = 0.0
            for i in range(begin, end):
                for j in range(width):
                    mean[j] += carried[order[i], j]
            cell = begin * n_cells // n
            while cell < n_cells and cell * n < end * n_cells:  # in units of 1 / (n n_cells)
                share = (min((cell + 1) * n, end * n_cells) - max(cell * n, begin * n_cells)) / n
                for j in range(width):
                    totals[cell, j] += share * (mean[j] / (end - begin))
                cell += 1
            begin = end
        for cell in range(n_cells):
            for j in range(width):
                means[k * n_cells + cell, j] = totals[cell, j] / unit
