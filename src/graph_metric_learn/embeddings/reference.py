"""Optimal transport of a cloud to a reference cloud."""

from __future__ import annotations

import warnings
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from .._core.compiled import njit, share_of, shared
from .._core.ragged import concatenated_ranges, offsets
from .._core.schema import FieldError, Saved, array
from ..transport.kernels.simplex import plan_of, solve, start_tree
from .embedding import Embedding, subsample

_N_CLOUDS = 500  # clouds that the reference is centred among


class _Fitted(Saved):
    reference: Annotated[np.ndarray, array("K columns")]


class Reference(Embedding):
    """Transport to a reference cloud: one slot for each of its K points, filled by the optimal plan.

    With the plan π between reference and cloud (masses 1/K and 1/n, squared Euclidean cost), w = K π: the linearised
    Wasserstein distance. One small exact solve per cloud, not per pair.

    Parameters
    ----------
    n_points : int
        K; fewer where there are fewer different points.
    """

    name = "reference transport"
    option_types: ClassVar = {"n_points": Annotated[int, Meta(ge=1, le=4096)]}
    fitted_type = _Fitted
    reference: np.ndarray

    def __init__(self, n_points: int = 32) -> None:
        self.n_points = n_points

    def fit(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Reference:
        """The reference [K, q]: k-means centres of a subsample of the points [S, q], then a step to the barycentre."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        sample = subsample(points, rng)
        centres = np.unique(sample.round(6), axis=0)
        seed = int(rng.integers(2**31))
        if len(centres) > self.n_points:
            with warnings.catch_warnings():  # fewer centres than asked for are fine
                warnings.simplefilter("ignore", ConvergenceWarning)
                means = KMeans(self.n_points, n_init=1, max_iter=20, random_state=seed).fit(sample)
            centres = means.cluster_centers_
        self.reference = np.asarray(centres, dtype=np.float64)
        return self._centred(points, sizes, rng)

    def _centred(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Reference:
        """One step towards the barycentre: each reference point moves to the mean of the points transported to it."""
        clouds = np.sort(rng.permutation(len(sizes))[:_N_CLOUDS])
        rows = concatenated_ranges(offsets(sizes)[clouds], sizes[clouds])
        part = np.ascontiguousarray(points[rows], np.float32)
        self.reference = self._means(part, part, sizes[clouds]).mean(0)
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        """From the plan [K, n]; equal points have equal shares."""
        shares = self._means(x, np.eye(len(x), dtype=np.float32), np.array([len(x)]))[0]
        _, distinct_of, counts = np.unique(x.round(5), axis=0, return_inverse=True, return_counts=True)
        distinct_of = distinct_of.reshape(-1)
        together = np.zeros((len(shares), len(counts)))
        np.add.at(together.T, distinct_of, shares.T)
        return (together / counts)[:, distinct_of]

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        means = self._means(points, np.ascontiguousarray(points, np.float32), sizes)
        return (means / np.sqrt(means.shape[1])).astype(np.float32)

    def _means(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Means of the values `carried` by the points [S, c] in each slot of each cloud [G, K, c].

        Of several optimal plans it is always the same one, whatever the order of the points: points are sorted along a
        fixed direction, and those that differ by rounding only are made equal.
        """
        exact = points.astype(np.float64).round(5)
        direction = np.random.default_rng(0).normal(size=points.shape[1])
        order = np.lexsort([exact @ direction, np.repeat(np.arange(len(sizes)), sizes)])
        means = np.zeros((len(sizes), len(self.reference), carried.shape[1]))
        if not all(_transport(self.reference, exact[order], carried[order], offsets(sizes), means)):
            raise RuntimeError("a transport problem was not solved within a million pivots")
        return means

    def set_arrays(self, arrays: dict[str, np.ndarray], columns: int) -> None:
        super().set_arrays(arrays, columns)
        if not 1 <= len(self.reference) <= self.n_points:
            raise FieldError("reference", f"has {len(self.reference)} points, expected 1 to {self.n_points}")

    def width(self, columns: int) -> int:
        return len(self.reference) * columns


@shared
def _transport(part, parts, reference, points, carried, starts, means):
    """Means of the carried values at each reference point under an optimal plan; returns whether all were solved."""
    failures = 0
    for g in share_of(len(starts) - 1, part, parts):
        failures += _transport_one(reference, points, carried, starts[g], starts[g + 1] - starts[g], means[g])
    return failures == 0


@njit(error_model="numpy")
def _transport_one(reference, points, carried, first, n, means):
    """As `_transport`, for one cloud of n points; returns 1 if it was not solved."""
    count, width = reference.shape
    cost, largest = np.empty((count, n)), 0.0
    for k in range(count):
        for i in range(n):
            total = 0.0
            for c in range(width):
                gap = reference[k, c] - points[first + i, c]
                total += gap * gap
            cost[k, i] = total
            largest = max(largest, total)
    unit = max(1e-300, 1e-7 * largest)
    for k in range(count):
        for i in range(n):
            cost[k, i] = np.rint(cost[k, i] / unit)
    parent, flow, plan = np.empty(count + n, np.int64), np.empty(count + n, np.int64), np.empty((count, n))
    start_tree(cost, parent, flow)
    pivots = solve(cost, parent, flow, 1_000_000)
    plan_of(parent, flow, plan)
    for k in range(count):
        for i in range(n):
            if plan[k, i] > 0:
                for c in range(carried.shape[1]):
                    means[k, c] += count * plan[k, i] * carried[first + i, c]
    return 1 if pivots < 0 else 0
