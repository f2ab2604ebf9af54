"""The smoothed density of a cloud, through random waves."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from .._core.compiled import share_of, shared
from .._core.ragged import offsets
from .._core.schema import FieldError, Saved, array
from ..linalg.squared_distances import squared_distances
from .embedding import Embedding

_WIDTHS = (0.05, 0.5)  # of the kernels: their variance over the mean squared distance of two points
_AT_ONCE = 4_000_000  # numbers that are computed together
_SMALL = 100_000  # numbers up to which threads are not worth waking
_CONSTANT = 1e-30  # mean squared distance of points that are all equal
_FAR = 1e-6  # least entry of the kernel that plans are made from
_ROUNDS = 30  # in which plans are made
_ROUNDING = 1e-12  # mass that is missing from a plan by rounding only
_PAIRS = 200_000  # of points, those that a plan joins most, whose slopes are computed


class _Fitted(Saved):
    frequencies: Annotated[np.ndarray, array("columns n_waves")]


class Density(Embedding):
    """How densely the points lie, everywhere: the mean of a feature map of the points, whose products are a kernel.

    Two clouds are as far apart as their densities, smoothed with gaussians of several widths (maximum mean discrepancy,
    [1]_). Up to the chance of the map, that is 0 for equal distributions only, whatever their means, and sees which
    values come together in one point. The feature map is cos(ω · x), sin(ω · x) for random ω [2]_.

    Parameters
    ----------
    n_waves : int
        How many ω; vectors are twice as long.

    References
    ----------
    .. [1] A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf, A. Smola, "A kernel two-sample test", JMLR 2012
    .. [2] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NeurIPS 2007
    """

    name = "density"
    supervised = True
    option_types: ClassVar = {"n_waves": Annotated[int, Meta(ge=1, le=4096)]}
    fitted_type = _Fitted
    frequencies: np.ndarray

    def __init__(self, n_waves: int = 256) -> None:
        self.n_waves = n_waves

    def fit(self, points: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Density:
        """Draws ω [q, n_waves]: normal, of a mixture of variances that suits the scatter of the points."""
        spread = 2.0 * float(points.var(0, dtype=np.float64).sum())
        unit = np.sqrt(np.geomspace(*_WIDTHS, self.n_waves) * spread) if spread > _CONSTANT else np.inf
        self.frequencies = rng.normal(size=(points.shape[1], self.n_waves)) / unit
        return self

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        starts = offsets(sizes)
        result = np.zeros((len(sizes), 1, 2 * self.n_waves), dtype=np.float32)
        step = max(1, _AT_ONCE // self.n_waves)
        for row in range(0, len(points), step):  # some at a time, also of one cloud
            first = int(np.searchsorted(starts, row, side="right")) - 1
            last = int(np.searchsorted(starts, min(row + step, len(points)), side="left"))
            cuts = np.maximum(starts[first:last] - row, 0)
            waves = self._waves(points[row : row + step])
            sums = np.zeros((last - first, waves.shape[1]))
            _add_up(waves, np.append(cuts, len(waves)), sums, threads=waves.size > _SMALL)
            result[first:last, 0] += sums / sizes[first:last, None]
        return result

    def _waves(self, points: np.ndarray) -> np.ndarray:
        """The feature map [S, 2 n_waves], vectors of length 1."""
        phases = points.astype(np.float64) @ self.frequencies
        phases = np.remainder(phases, 2 * np.pi, out=phases).astype(np.float32)
        waves = np.empty((len(points), 2 * self.n_waves), dtype=np.float32)
        np.cos(phases, out=waves[:, : self.n_waves])
        np.sin(phases, out=waves[:, self.n_waves :])
        waves /= np.float32(np.sqrt(self.n_waves))
        return waves

    def plan(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Points near each other are compared: the entropic plan [n, m] (Sinkhorn) of a gaussian of middling width."""
        precision = float(np.sum(self.frequencies**2)) / max(self.frequencies.size, 1)
        squares = squared_distances(x.astype(np.float64), z.astype(np.float64))
        kernel = np.exp(-0.5 * precision * squares) + _FAR
        return (_balanced(kernel) + _balanced(kernel.T).T) / 2  # neither cloud comes first

    def attribute(self, x: np.ndarray, z: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A point is compared with those that the plan pairs it with; see :meth:`Embedding.attribute` [n], [m]."""
        gradient, plan = gradient.reshape(-1), self.plan(x, z)
        left, right = self._waves(x) @ gradient, self._waves(z) @ gradient
        return left / len(x) - plan @ right, plan.T @ left - right / len(z)

    def attribute_columns(self, x: np.ndarray, z: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes [n, q], [m, q]. A line joins each two points of the plan; along it that of each wave is averaged:

        (cos a − cos b) / (a − b) = −sin((a + b) / 2) sinc((a − b) / 2), and the same for the sine. Of large clouds
        only the 200,000 pairs that the plan joins most: then a little is missing from the product.
        """
        plan, scale = self.plan(x, z), np.sqrt(self.n_waves)
        least = np.partition(plan, -_PAIRS, axis=None)[-_PAIRS] if plan.size > _PAIRS else 0.0
        cosine, sine = (part / scale for part in np.split(gradient.reshape(-1), 2))
        left, right = (0.5 * cloud.astype(np.float64) @ self.frequencies for cloud in (x, z))
        source, target = np.zeros((len(x), self.n_waves)), np.zeros((len(z), self.n_waves))
        for i in range(len(x)):
            joined = np.flatnonzero(plan[i] >= least)
            middle, half = left[i] + right[joined], left[i] - right[joined]
            slopes = np.sinc(half / np.pi) * (sine * np.cos(middle) - cosine * np.sin(middle))
            slopes *= plan[i, joined, None]
            source[i] = slopes.sum(0)
            target[joined] += slopes
        return source @ self.frequencies.T, target @ self.frequencies.T

    def set_arrays(self, arrays: dict[str, np.ndarray], columns: int) -> None:
        super().set_arrays(arrays, columns)
        self.frequencies = self.frequencies.astype(np.float64)
        if self.frequencies.shape[1] != self.n_waves:
            raise FieldError("frequencies", f"has {self.frequencies.shape[1]} columns, expected {self.n_waves}")

    def width(self, columns: int) -> int:
        return 2 * self.n_waves


@shared
def _add_up(part, parts, rows, starts, sums):
    for cloud in share_of(len(starts) - 1, part, parts):
        for row in range(starts[cloud], starts[cloud + 1]):
            for column in range(rows.shape[1]):
                sums[cloud, column] += rows[row, column]


def _balanced(kernel: np.ndarray) -> np.ndarray:
    """A plan [n, m] between equal masses, by scaling rows and columns; what then is missing is spread evenly."""
    rows, columns = (np.full(count, 1.0 / count) for count in kernel.shape)
    scale = np.ones(len(columns))
    for _ in range(_ROUNDS):
        other = rows / (kernel @ scale)
        scale = columns / (kernel.T @ other)
    plan = other[:, None] * kernel * scale
    plan *= np.minimum(1.0, rows / plan.sum(1))[:, None]
    plan *= np.minimum(1.0, columns / plan.sum(0))
    missing, lacking = np.maximum(rows - plan.sum(1), 0.0), np.maximum(columns - plan.sum(0), 0.0)
    total = float(missing.sum())
    return plan if total < _ROUNDING else plan + np.outer(missing, lacking) / total
