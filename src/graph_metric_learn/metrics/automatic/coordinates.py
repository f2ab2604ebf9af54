"""Compact vectors: principal coordinates of the kernel, and hashes of what these leave out.

Two graphs unlike all landmarks differ in what no principal coordinate sees; random signs of their counts tell that part
apart, scaled to the length that it has in the space of the kernel.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.compiled import share_of, shared
from ..._core.hashing import ODD, mix, mix_word
from ..._core.schema import Positive, Saved, array, dims_of
from ...linalg.squared_distances import squared_distances
from .families import Counts, Family, LinearFamily, Points, VectorFamily, WholeFamily
from .mixture import Described, Mixture

MOST = 512  # coordinates with n_components="auto", at most
_EXACT = 1500  # landmarks up to which axes are computed exactly
_ROUNDS = 3  # of the search for the largest axes of more
_SPARE = 16  # axes that are sought beside those that are wanted
_NOISE = 1e-5  # variance along an axis, relative to that of all landmarks together, below which it is left out
_SMOOTH = 1e-3  # squared length of the rest below which it fades out: there is nothing but rounding
_PAIRS = 1000  # graphs whose mean squared distance is the unit
_SMALL = 10_000  # entries up to which threads are not worth waking
_SIGNS = 2**16  # of one name in one graph, at most: more hardly turn the vector, and its length is set anyway


class Coordinates(Saved):
    """A map from graphs to vectors whose squared distance is 1 on average.

    Attributes
    ----------
    centre : ndarray [m]
        Mean kernel between each landmark and all.
    axes : ndarray [m, r]
        Principal coordinates are (k(G, ·) − centre) · axes.
    rest : ndarray [r_1, B]
        What principal coordinates, and a 1 behind them, say of the B hashes.
    unit : float
        Mean squared distance before division.
    """

    centre: Annotated[np.ndarray, array("m")]
    axes: Annotated[np.ndarray, array("m r")]
    rest: Annotated[np.ndarray, array("r1 B")]
    unit: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        dims_of(self, r1=self.axes.shape[1] + 1)

    @property
    def width(self) -> int:
        """r + B."""
        return self.axes.shape[1] + self.rest.shape[1]

    @property
    def n_hashes(self) -> int:
        """B."""
        return self.rest.shape[1]

    def first(self, n_axes: int, n_hashes: int) -> Coordinates:
        """At most so many axes, those of largest variance, and fewer hashes, a number that B is a multiple of.

        Places of hashes are taken modulo their number, so that places B / b apart become one.
        """
        rest = np.concatenate([self.rest[:-1][:n_axes], self.rest[-1:]])
        rest = rest.reshape(len(rest), -1, n_hashes).sum(1) if n_hashes else rest[:, :0]
        return Coordinates(self.centre, np.ascontiguousarray(self.axes[:, :n_axes]), rest, self.unit)

    def place(self, kernel: np.ndarray, hashes: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """Vectors [N, r + B], float32, from kernels to the landmarks [N, m], hashes [N, B] and k(G, G) [N]."""
        gaps = kernel - self.centre
        principal = gaps @ self.axes
        mean = float(self.centre.mean())
        length = np.maximum(diagonal - 2.0 * kernel.mean(1) + mean - (principal**2).sum(1), 0.0)
        left = hashes - principal @ self.rest[:-1] - self.rest[-1]
        norms = np.sqrt((left**2).sum(1))
        factors = length / np.sqrt(length + _SMOOTH) / np.maximum(norms, 1e-9)
        placed = np.concatenate([principal, left * factors[:, None]], axis=1)
        return (placed / np.sqrt(self.unit)).astype(np.float32)


def fit_coordinates(
    mixture: Mixture, kernel: np.ndarray, landmarks: Described, n_axes: int, n_hashes: int
) -> Coordinates:
    """Coordinates by the kernel among the landmarks [m, m] and their descriptions."""
    centre = kernel.mean(0, dtype=np.float64)
    gaps = kernel - centre - centre[:, None] + centre.mean()
    variances, vectors = _largest(gaps, min(n_axes, len(kernel)))
    kept = variances > _NOISE * max(float(np.trace(gaps)), 1e-300)
    vectors = vectors[:, kept] - vectors[:, kept].mean(0)
    axes = vectors / np.sqrt(variances[kept])
    hashes = hashed(mixture, landmarks, n_hashes)
    principal = (kernel - centre) @ axes
    mean = hashes.mean(0)  # principal coordinates are centred and orthogonal: each says its part alone
    rest = np.concatenate([principal.T @ (hashes - mean) / (principal**2).sum(0)[:, None], mean[None]])
    found = Coordinates(centre, axes, rest, 1.0)
    placed = found.place(kernel, hashes, mixture.diagonal(landmarks))
    some = placed[:: max(1, len(placed) // _PAIRS)]
    unit = max(float(squared_distances(some).mean()), 1e-30)
    found.unit = unit
    return found


def _largest(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric matrix [m, m], descending [r], and their eigenvectors [m, r]."""
    from scipy.linalg import eigh, qr

    if len(matrix) <= _EXACT:
        last = len(matrix) - 1
        values, vectors = eigh(matrix.astype(np.float64), subset_by_index=[last + 1 - count, last], check_finite=False)
        return values[::-1], vectors[:, ::-1]
    exact = matrix.astype(np.float32)
    basis = np.random.default_rng(0).normal(size=(len(matrix), count + _SPARE)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = qr(exact @ basis, mode="economic", overwrite_a=True, check_finite=False)[0]
    values, turned = np.linalg.eigh((basis.T @ (matrix @ basis)).astype(np.float64))
    return values[::-1][:count], (basis @ turned)[:, ::-1][:, :count].astype(np.float64)


def hashed(mixture: Mixture, described: Described, width: int) -> np.ndarray:
    """Signed hashes of graphs [N, B], whose inner products are about the kernel; float32."""
    total = np.zeros((len(next(iter(described.values()))), width), np.float32)
    if width:
        for place, (name, weight) in enumerate(mixture.weights.items()):
            family = mixture.describer.families[name]
            total += np.float32(np.sqrt(weight)) * _hashes_of(family, described[name], width, place)
    return total


def _hashes_of(family: Family, described: Counts | Points, width: int, place: int) -> np.ndarray:
    """Hashes by one family [N, B]; those of the families, by place, are independent."""
    if isinstance(described, Counts):
        return _signed_counts(described, family.recipe.ranges, width, place)
    if isinstance(family, LinearFamily):
        vectors = described.sets[0]
        signs = np.random.default_rng([place]).normal(size=(vectors.shape[1], width)) / np.sqrt(width)
        return (vectors @ signs).astype(np.float32)
    if isinstance(family, WholeFamily):
        return _waves(described.sets[0], family.scale, width, np.random.default_rng([place]), far=True)
    assert isinstance(family, VectorFamily)
    total = np.zeros((len(described), width), np.float32)
    for i, (vectors, scale) in enumerate(zip(described.sets, family.scales, strict=True)):
        rng = np.random.default_rng([place, i, vectors.shape[1]])
        total += _waves(vectors, np.sqrt(scale / 2.0), width, rng) / np.float32(np.sqrt(len(described.sets)))
    return total


def _waves(vectors: Any, scale: float, width: int, rng: np.random.Generator, *, far: bool = False) -> np.ndarray:
    """Random waves [N, B], whose products are on average exp(−d² / 2 scale²), or exp(−d / scale) with `far`."""
    waves = rng.normal(size=(vectors.shape[1], width))
    waves /= scale * (np.abs(rng.normal(size=width)) if far else 1.0)
    phases = rng.uniform(0, 2 * np.pi, width)
    return (np.cos(vectors @ waves + phases) * np.sqrt(2.0 / width)).astype(np.float32)


def _signed_counts(counts: Counts, ranges: tuple[int, ...], width: int, place: int) -> np.ndarray:
    """A random sign for the first, the second, … of each name, in one of B places."""
    n_levels = max(ranges) + 1
    totals = np.bincount(counts.graph * n_levels + counts.level, counts.count, len(counts) * n_levels)
    totals = np.maximum(totals.reshape(-1, n_levels).cumsum(1), 1.0)
    share = np.zeros_like(totals)  # of a name of each level: it is part of this and of all larger ranges
    for level in range(n_levels):
        share[:, level] = sum(1.0 / totals[:, last] for last in ranges if last >= level) / len(ranges)
    with np.errstate(over="ignore"):
        salt = mix(np.array([place + 1], dtype=np.uint64) * ODD)[0]
        words = mix(counts.name ^ salt)
    factors = np.sqrt(share[counts.graph, counts.level]).astype(np.float32)
    starts = np.searchsorted(counts.graph, np.arange(len(counts) + 1))
    found = np.zeros((len(counts), width), np.float32)
    _add_signs(words, counts.count, factors, starts, found, threads=len(words) > _SMALL)
    return found


@shared
def _add_signs(part, parts, words, counts, factors, starts, found):
    """Adds factors [E] with random signs at random places of each row of `found` [N, B]."""
    width = np.uint64(found.shape[1])
    for g in share_of(len(found), part, parts):
        for e in range(starts[g], starts[g + 1]):
            for j in range(int(min(counts[e], _SIGNS))):
                word = mix_word(words[e] + np.uint64(j))
                sign = factors[e] if word & np.uint64(1) else -factors[e]
                found[g, np.int64((word >> np.uint64(1)) % width)] += sign
