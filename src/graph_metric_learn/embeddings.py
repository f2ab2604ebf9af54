"""Measures as vectors: clouds of points become vectors, and the distance of two clouds is the length between them.

All embeddings have one form. A cloud fills S slots: slot s takes point i with share w[s, i], the shares of a slot add
up to 1, and each point's shares to S / n. The vector lists the means of the slots, Σ_i w[s, i] x_i, divided by √S. So
two clouds are compared slot by slot: d² = 1/S Σ_s |mean_s − mean'_s|². Embeddings differ in who goes where.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from .transport.kernels import parallel, prange
from .transport.measures import offsets

_SAMPLE = 5000  # points that reference and axes are fitted to


class Embedding:
    """What all of them share. Each is fitted to the points of many clouds, without labels, and then takes any cloud."""

    name: ClassVar[str]

    def fit(self, points: np.ndarray, rng: np.random.Generator) -> Embedding:
        """Learns what it needs from points [S, q]."""
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        """How much of each slot each point of a cloud [n, q] has [slots, n]; rows add up to 1."""
        raise NotImplementedError

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, slots q], float32, of clouds with equal masses, one after the other in points [S, q]."""
        result = []
        for start, end in pairwise(offsets(sizes)):
            shares = self.shares(points[start:end])
            result.append((shares @ points[start:end] / np.sqrt(len(shares))).ravel())
        return np.array(result, dtype=np.float32)

    def arrays(self) -> dict[str, np.ndarray]:
        """What was fitted."""
        return {}


class Mean(Embedding):
    """The mean of the points: one slot for all."""

    name = "mean"

    def shares(self, x: np.ndarray) -> np.ndarray:
        return np.full((1, len(x)), 1.0 / len(x))

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        sums = np.add.reduceat(points, offsets(sizes)[:-1], axis=0, dtype=np.float64)
        return (sums / sizes[:, None]).astype(np.float32)


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

    def shares(self, x: np.ndarray) -> np.ndarray:
        """From the optimal plan; of several, always the same one, whatever the order of the points."""
        import ot

        count, n = len(self.reference), len(x)
        if n == 1:
            return np.ones((count, 1))
        order = np.lexsort(x.round(5).T)
        x = x[order].astype(np.float64)
        cost = (self.reference**2).sum(1)[:, None] + (x**2).sum(1) - 2.0 * self.reference @ x.T
        cost = np.maximum(cost, 0.0)
        shares = np.empty((count, n))
        shares[:, order] = count * ot.emd(
            np.full(count, 1.0 / count), np.full(n, 1.0 / n), cost / max(float(cost.max()), 1e-300),
            numItermax=1_000_000, center_dual=False, check_marginals=False,
        )  # fmt: skip
        return shares

    def arrays(self) -> dict[str, np.ndarray]:
        return {"reference": self.reference}


class Axes(Embedding):
    """Projected transport along principal axes: for each axis, cells of equal mass in the order along it are the slots.

    The curve of a cloud along an axis (see `transport.curves`) on a fixed grid. Points at the same place along an axis
    share their cells, so the vector is a function of the cloud alone.

    Parameters
    ----------
    n_axes, n_cells : int
        How many axes, and how many cells along each.
    """

    name = "projected transport"

    def __init__(self, n_axes: int = 8, n_cells: int = 16) -> None:
        self.n_axes = n_axes
        self.n_cells = n_cells

    def fit(self, points: np.ndarray, rng: np.random.Generator) -> Axes:
        """The axes of largest variance of a sample of the points."""
        some = _sample(points, rng).astype(np.float64)
        _, vectors = np.linalg.eigh((some - some.mean(0)).T @ (some - some.mean(0)))
        self.axes = vectors[:, ::-1][:, : self.n_axes].copy()
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        return self._means(x, np.eye(len(x), dtype=np.float32), np.array([len(x)]))[0]

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        means = self._means(points, points, sizes)
        return (means / np.sqrt(means.shape[1])).reshape(len(sizes), -1).astype(np.float32)

    def _means(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Means of what is carried [S, c] in each slot of each cloud [G, slots, c]."""
        along = points.astype(np.float64) @ self.axes
        owner = np.repeat(np.arange(len(sizes)), sizes)
        order = np.stack([np.lexsort([column, owner]) for column in along.T], axis=1)
        means = np.zeros((len(sizes), along.shape[1] * self.n_cells, carried.shape[1]))
        _fill_cells(along, order, np.ascontiguousarray(carried, np.float32), offsets(sizes), self.n_cells, means)
        return means

    def arrays(self) -> dict[str, np.ndarray]:
        return {"axes": self.axes}


@parallel
def _fill_cells(along, order, carried, starts, n_cells, means):
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
                        means[g, k * n_cells + cell, j] += share * mean[j]
                    cell += 1
                begin = end


EMBEDDINGS: dict[str, type[Embedding]] = {"mean": Mean, "reference": Reference, "axes": Axes}


def restore(kind: str, arrays: dict[str, np.ndarray]) -> Embedding:
    """The fitted embedding that `arrays` came from."""
    embedding: Any = EMBEDDINGS[kind]()
    for name, value in arrays.items():
        setattr(embedding, name, value)
    return embedding


def _sample(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return points if len(points) <= _SAMPLE else points[np.sort(rng.permutation(len(points))[:_SAMPLE])]
