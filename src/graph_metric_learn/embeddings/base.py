"""Measures as vectors: clouds of points become vectors, and the distance of two clouds is the length between them.

Embeddings of points in space have one form. A cloud fills S slots: slot s takes point i with share w[s, i], the shares
of a slot add up to 1, and each point's shares to S / n. The vector lists the means of the slots, Σ_i w[s, i] x_i,
divided by √S. So two clouds are compared slot by slot: d² = 1/S Σ_s |mean_s − mean'_s|². Embeddings differ in who goes
where.

A histogram is for points that are equal or not, without anything in between.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._core.compiled import parallel, prange
from .._core.ragged import concatenated_ranges, offsets
from ..transport.solvers.simplex import plan_of, solve, start_tree

_SAMPLE = 3000  # points that reference and axes are fitted to
_CLOUDS = 500  # clouds that the reference is centred among


class Embedding:
    """What all of them share. Each is fitted to the points of many clouds, without labels, and then takes any cloud."""

    name: ClassVar[str]
    takes_columns: ClassVar[bool] = False  # of 0 and 1, sparse, instead of points in space

    def fit(self, points: Any, sizes: np.ndarray, rng: np.random.Generator) -> Embedding:
        """Learns what it needs from the points [S, q] of clouds."""
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        """How much of each slot each point of a cloud [n, q] has [slots, n]; rows add up to 1."""
        raise NotImplementedError

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors of clouds with equal masses, one after the other in points [S, q].

        Parameters
        ----------
        points : ndarray [S, q]
            Of all clouds.
        sizes : ndarray [G]
            How many each cloud has.

        Returns
        -------
        vectors : ndarray [G, slots, q], float32
        """
        result = []
        for start, end in pairwise(offsets(sizes)):
            shares = self.shares(points[start:end])
            result.append(shares @ points[start:end] / np.sqrt(len(shares)))
        return np.array(result, dtype=np.float32)

    def compare(self, x: Any, z: Any, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How two clouds [n, q], [m, q] are compared: the plan [n, m], and what each point adds to d² [n], [m].

        Points are compared that go into the same slots; what a slot adds to d² is shared among the points in it. With
        weights [q] of the columns in d².
        """
        left, right = self.shares(x), self.shares(z)
        adds = (left @ x - right @ z) ** 2 @ weights / len(left)
        return left.T @ right / len(left), adds @ left, adds @ right

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
        return (sums / sizes[:, None]).astype(np.float32)[:, None, :]


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

    def fit(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Reference:
        """The reference: centres of k-means of a sample of the points, each moved to where clouds go from it."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        some = _sample(points, rng)
        distinct = np.unique(some.round(6), axis=0)
        seed = int(rng.integers(2**31))
        if len(distinct) <= self.n_points:
            self.reference = distinct.astype(np.float64)
            return self._centred(points, sizes, rng)
        with warnings.catch_warnings():  # fewer centres than asked for are fine
            warnings.simplefilter("ignore", ConvergenceWarning)
            means = KMeans(self.n_points, n_init=1, max_iter=20, random_state=seed).fit(some)
        self.reference = np.asarray(means.cluster_centers_, dtype=np.float64)
        return self._centred(points, sizes, rng)

    def _centred(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Reference:
        """A step towards the barycentre of the clouds: each point goes to the mean of what is transported to it."""
        some = np.sort(rng.permutation(len(sizes))[:_CLOUDS])
        starts = offsets(sizes)
        rows = concatenated_ranges(starts[some], sizes[some])
        part = np.ascontiguousarray(points[rows], np.float32)
        self.reference = self._means(part, part, sizes[some]).mean(0)
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        """From the plan; equal points have equal shares."""
        shares = self._means(x, np.eye(len(x), dtype=np.float32), np.array([len(x)]))[0]
        _, place, counts = np.unique(x.round(5), axis=0, return_inverse=True, return_counts=True)
        place = place.reshape(-1)
        together = np.zeros((len(shares), len(counts)))
        np.add.at(together.T, place, shares.T)
        return (together / counts)[:, place]

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        means = self._means(points, np.ascontiguousarray(points, np.float32), sizes)
        return (means / np.sqrt(means.shape[1])).astype(np.float32)

    def _means(self, points: np.ndarray, carried: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Means of what is carried [S, c] in each slot of each cloud [G, K, c].

        Of several optimal plans always the same one, whatever the order of the points: they are put into the order
        along one direction, and points that differ by rounding only are made equal.
        """
        exact = points.astype(np.float64).round(5)
        direction = np.random.default_rng(0).normal(size=points.shape[1])
        order = np.lexsort([exact @ direction, np.repeat(np.arange(len(sizes)), sizes)])
        means = np.zeros((len(sizes), len(self.reference), carried.shape[1]))
        if not _transport(self.reference, exact[order], carried[order], offsets(sizes), means):
            raise RuntimeError("a transport problem was not solved within a million pivots")
        return means

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

    def __init__(self, n_axes: int = 8, n_cells: int = 8) -> None:
        self.n_axes = n_axes
        self.n_cells = n_cells

    def fit(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Axes:
        """The axes of largest variance of a sample of the points; none along which there is nothing but rounding."""
        some = _sample(points, rng).astype(np.float64)
        spread, vectors = np.linalg.eigh((some - some.mean(0)).T @ (some - some.mean(0)))
        real = np.flatnonzero(spread > 1e-10 * spread.max())[::-1][: self.n_axes]
        self.axes = vectors[:, real if len(real) else [-1]].copy()
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        return self._means(x, np.eye(len(x), dtype=np.float32), np.array([len(x)]))[0]

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        means = self._means(points, points, sizes)
        return (means / np.sqrt(means.shape[1])).astype(np.float32)

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


class Histogram(Embedding):
    """Roots of the masses of the columns: the distance is that of Hellinger, d² = Σ_c (√p_c − √p'_c)².

    For points that are one of many things, such as trees: sparse rows with a 1 in one column (or in one column of each
    of several blocks). Rare things weigh more than in a distance of the masses themselves.
    """

    name = "histogram"
    takes_columns = True

    def vectors(self, points: Any, sizes: np.ndarray) -> np.ndarray:
        starts = offsets(sizes)
        members = sparse.csr_array(
            (np.repeat(1.0 / sizes, sizes), np.arange(starts[-1]), starts), shape=(len(sizes), starts[-1])
        )
        return np.sqrt((members @ points).toarray()).astype(np.float32)[:, None, :]

    def compare(self, x: Any, z: Any, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points are compared with those in the same column, as far as masses reach; the rest with all of the rest."""
        n, m = x.shape[0], z.shape[0]
        mass, mass_z = np.asarray(x.sum(0)) / n, np.asarray(z.sum(0)) / m
        adds = weights * (np.sqrt(mass) - np.sqrt(mass_z)) ** 2
        both = (mass > 0) & (mass_z > 0)
        common = np.where(both, np.minimum(mass, mass_z), 0.0)
        inside, inside_z = np.zeros(len(mass)), np.zeros(len(mass))
        np.divide(1.0, n * mass, out=inside, where=mass > 0)
        np.divide(1.0, m * mass_z, out=inside_z, where=mass_z > 0)
        blocks = x.sum() / n
        plan = ((x * (inside * common)) @ (z * inside_z).T).toarray() / blocks
        rest, rest_z = 1.0 / n - plan.sum(1), 1.0 / m - plan.sum(0)
        if rest.sum() > 1e-12:
            plan = plan + np.outer(rest, rest_z) / rest.sum()
        source = x @ (inside * adds) + adds[mass == 0].sum() / n  # what only the other has counts for all
        return plan, source, z @ (inside_z * adds) + adds[mass_z == 0].sum() / m


@parallel
def _transport(reference, points, carried, starts, means):
    """Means of what is carried to each point of the reference by an optimal plan; whether all were found."""
    count, width = reference.shape
    failures = 0
    for g in prange(len(starts) - 1):
        first, n = starts[g], starts[g + 1] - starts[g]
        cost = np.empty((count, n))
        for k in range(count):
            for i in range(n):
                total = 0.0
                for c in range(width):
                    gap = reference[k, c] - points[first + i, c]
                    total += gap * gap
                cost[k, i] = total
        unit = max(1e-300, 1e-7 * cost.max())
        for k in range(count):
            for i in range(n):
                cost[k, i] = np.rint(cost[k, i] / unit)
        parent, flow, plan = np.empty(count + n, np.int64), np.empty(count + n, np.int64), np.empty((count, n))
        start_tree(cost, parent, flow)
        if solve(cost, parent, flow, 1_000_000) < 0:
            failures += 1
        plan_of(parent, flow, plan)
        for k in range(count):
            for i in range(n):
                if plan[k, i] > 0:
                    for c in range(carried.shape[1]):
                        means[g, k, c] += count * plan[k, i] * carried[first + i, c]
    return failures == 0


@parallel
def _fill_cells(along, order, carried, starts, n_cells, means):
    """Averages of what is carried [S, c] in each cell of each axis [G, axes n_cells, c].

    Points at one place along an axis, up to rounding, are one step of the walk, and each cell takes their mean.
    """
    for g in prange(len(starts) - 1):
        first, n = starts[g], starts[g + 1] - starts[g]
        mean = np.empty(carried.shape[1])
        near = 0.0
        for k in range(along.shape[1]):
            for i in range(first, first + n):
                near = max(near, 1e-6 * abs(along[i, k]))
        for k in range(along.shape[1]):
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


EMBEDDINGS: dict[str, type[Embedding]] = {"mean": Mean, "reference": Reference, "axes": Axes, "histogram": Histogram}


def restore(kind: str, arrays: dict[str, np.ndarray]) -> Embedding:
    """The fitted embedding that `arrays` came from."""
    embedding: Any = EMBEDDINGS[kind]()
    for name, value in arrays.items():
        setattr(embedding, name, value)
    return embedding


def _sample(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return points if len(points) <= _SAMPLE else points[np.sort(rng.permutation(len(points))[:_SAMPLE])]
