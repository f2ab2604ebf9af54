"""Measures as vectors: clouds of points become vectors, and the distance of two clouds is the length between them.

Each embedding is fitted to the points of many clouds, without labels, and then takes any cloud. It looks at `points` to
decide what is compared with what, and carries `carried` (the same points, or a linear image of them) into the vector.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from .transport.kernels import _parallel, prange
from .transport.measures import offsets

_SAMPLE = 5000  # points that reference and axes are fitted to


class Mean:
    """The mean of the points: what all clouds with the same mean share. d² ≤ W2²."""

    name: ClassVar[str] = "mean"

    def fit(self, points: np.ndarray, rng: np.random.Generator) -> Mean:
        return self

    def vectors(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, c] of clouds with equal masses, from points [S, q] and what is carried [S, c]."""
        sums = np.add.reduceat(carried, offsets(sizes)[:-1], axis=0, dtype=np.float64)
        return (sums / sizes[:, None]).astype(np.float32)

    def plan(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Who is compared with whom [n, m]: everyone with everyone."""
        return np.full((len(x), len(z)), 1.0 / (len(x) * len(z)))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}


class Reference:
    """Transport to a reference cloud: K points r_k; the vector lists, for each, the mean of the mass that it receives.

    With the optimal plan π between reference and cloud (masses 1/K and 1/n, squared Euclidean cost) the vector is
    √K · π X, so that d² = 1/K Σ_k |T(r_k) − T'(r_k)|²: the linearised Wasserstein distance. One small exact solve per
    cloud, not per pair.

    Parameters
    ----------
    n_points : int
        K; fewer where there are fewer different points.
    """

    name: ClassVar[str] = "reference transport"

    def __init__(self, n_points: int = 32) -> None:
        self.n_points = n_points

    def fit(self, points: np.ndarray, rng: np.random.Generator) -> Reference:
        """The reference: centres of k-means of a sample of the points."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        some = _sample(points, rng)
        distinct = np.unique(some.round(6), axis=0)
        seed = int(rng.integers(2**31))
        if len(distinct) <= self.n_points:
            self.reference = distinct.astype(np.float64)
            return self
        with warnings.catch_warnings():  # fewer centres than asked for are fine
            warnings.simplefilter("ignore", ConvergenceWarning)
            means = KMeans(self.n_points, n_init=1, max_iter=20, random_state=seed).fit(some)
        self.reference = np.asarray(means.cluster_centers_, dtype=np.float64)
        return self

    def vectors(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, K c]."""
        starts = offsets(sizes)
        count = len(self.reference)
        result = np.empty((len(sizes), count * carried.shape[1]), dtype=np.float32)
        for i, (start, end) in enumerate(pairwise(starts)):
            plan = self._coupling(points[start:end])
            result[i] = (np.sqrt(count) * (plan @ carried[start:end])).ravel()
        return result

    def plan(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Who is compared with whom [n, m]: those who go to the same reference point."""
        return len(self.reference) * self._coupling(x).T @ self._coupling(z)

    def _coupling(self, x: np.ndarray) -> np.ndarray:
        """The optimal plan [K, n]; of several, always the same one, whatever the order of the points."""
        import ot

        count, n = len(self.reference), len(x)
        if n == 1:
            return np.full((count, 1), 1.0 / count)
        order = np.lexsort(x.round(5).T)
        x = x[order].astype(np.float64)
        cost = (self.reference**2).sum(1)[:, None] + (x**2).sum(1) - 2.0 * self.reference @ x.T
        cost = np.maximum(cost, 0.0)
        plan = np.empty((count, n))
        plan[:, order] = ot.emd(
            np.full(count, 1.0 / count), np.full(n, 1.0 / n), cost / max(float(cost.max()), 1e-300),
            numItermax=1_000_000, center_dual=False, check_marginals=False,
        )  # fmt: skip
        return plan

    def arrays(self) -> dict[str, np.ndarray]:
        return {"reference": self.reference}


class Axes:
    """Projected transport along principal axes: points in the order along each axis, averaged in cells of equal mass.

    The curve of a cloud along an axis (see `transport.curves`) on a fixed grid. Points at the same place along an axis
    are averaged, so the vector is a function of the cloud alone.

    Parameters
    ----------
    n_axes, n_cells : int
        How many axes, and how many cells along each.
    """

    name: ClassVar[str] = "projected transport"

    def __init__(self, n_axes: int = 8, n_cells: int = 16) -> None:
        self.n_axes = n_axes
        self.n_cells = n_cells

    def fit(self, points: np.ndarray, rng: np.random.Generator) -> Axes:
        """The axes of largest variance of a sample of the points."""
        some = _sample(points, rng).astype(np.float64)
        _, vectors = np.linalg.eigh((some - some.mean(0)).T @ (some - some.mean(0)))
        self.axes = vectors[:, ::-1][:, : self.n_axes].copy()
        return self

    def vectors(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, n_axes n_cells c]."""
        along = points.astype(np.float64) @ self.axes
        order = np.empty(along.shape, dtype=np.int64)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        for k, column in enumerate(along.T):
            order[:, k] = np.lexsort([column, owner])
        result = np.zeros((len(sizes), along.shape[1] * self.n_cells, carried.shape[1]))
        _fill_cells(along, order, np.ascontiguousarray(carried, np.float32), offsets(sizes), self.n_cells, result)
        return (result / np.sqrt(result.shape[1])).reshape(len(sizes), -1).astype(np.float32)

    def plan(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Who is compared with whom [n, m]: those in the same cell, averaged over the axes."""
        pairs = zip((x @ self.axes).T, (z @ self.axes).T, strict=True)
        plans = [self._cells(a).T @ self._cells(b) for a, b in pairs]
        return np.mean(plans, axis=0) / self.n_cells

    def _cells(self, along: np.ndarray) -> np.ndarray:
        """How much of each cell each point fills [n_cells, n]; rows add up to 1."""
        order, filled = np.argsort(along, kind="stable")[:, None], np.zeros((1, self.n_cells, len(along)))
        _fill_cells(
            along[:, None], order, np.eye(len(along), dtype=np.float32), np.array([0, len(along)]), self.n_cells, filled
        )
        return filled[0]

    def arrays(self) -> dict[str, np.ndarray]:
        return {"axes": self.axes}


@_parallel
def _fill_cells(along, order, carried, starts, n_cells, result):
    """Averages of what is carried [S, c] in each cell of each axis [G, axes n_cells, c].

    Points at one place along an axis, up to rounding, are one step of the walk, and each cell takes their mean.
    """
    for g in prange(len(starts) - 1):
        first, n = starts[g], starts[g + 1] - starts[g]
        mean = np.empty(carried.shape[1])
        for k in range(along.shape[1]):
            near = 0.0
            for i in range(first, first + n):
                near = max(near, 1e-6 * abs(along[i, k]))
            begin = 0
            while begin < n:
                end = begin + 1
                while end < n and along[order[first + end, k], k] - along[order[first + end - 1, k], k] <= near:
                    end += 1
                mean[:] = 0.0
                for i in range(begin, end):
                    mean += carried[order[first + i, k]]
                mean /= end - begin
                cell = begin * n_cells // n
                while cell < n_cells and cell * n < end * n_cells:  # in units of 1 / (n n_cells)
                    share = (min((cell + 1) * n, end * n_cells) - max(cell * n, begin * n_cells)) / n
                    for j in range(len(mean)):
                        result[g, k * n_cells + cell, j] += share * mean[j]
                    cell += 1
                begin = end


Embedding = Mean | Reference | Axes
EMBEDDINGS: dict[str, Any] = {"mean": Mean, "reference": Reference, "axes": Axes}


def restore(kind: str, options: dict[str, Any], arrays: dict[str, np.ndarray]) -> Embedding:
    """The fitted embedding that `arrays` came from."""
    embedding = EMBEDDINGS[kind](**options)
    for name, value in arrays.items():
        setattr(embedding, name, value)
    return embedding


def _sample(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return points if len(points) <= _SAMPLE else points[np.sort(rng.permutation(len(points))[:_SAMPLE])]
