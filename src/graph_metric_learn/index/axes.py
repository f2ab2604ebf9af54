"""Principal axes of an index: coordinates in order of variance, so that a few of them tell most rows apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.principal_axes import principal_axes
from .kernels import COARSE, FINE

_FITTED_TO = 20_000  # vectors that axes are computed from, at most
FEW = 16  # rows are too few to compute axes from; four times as many are enough
_BLOCK = 2**22  # numbers that are turned at a time


@dataclass(frozen=True, eq=False)
class Axes:
    """The directions in which vectors vary most, about a centre.

    The distance by these coordinates, (v − centre) · directions, is never more than that of the vectors, but for
    rounding.

    Attributes
    ----------
    centre : ndarray [d], float64
    directions : ndarray [d, min(d, 48)], float64
        Orthonormal columns, the one of largest variance first.
    fitted_to : int
        How many rows the index had when they were computed.
    """

    centre: np.ndarray
    directions: np.ndarray
    fitted_to: int

    @classmethod
    def first(cls, width: int) -> Axes:
        """Axes of an index with too few rows to compute any: the first coordinates."""
        return cls(np.zeros(width), np.eye(width, min(width, COARSE + FINE)), FEW)

    def is_outgrown(self, rows: int) -> bool:
        """Whether there are so many more rows now that axes should be computed anew."""
        return self.fitted_to < _FITTED_TO and rows >= 4 * self.fitted_to

    @classmethod
    def fit(cls, vectors: np.ndarray, rows: int | None = None) -> Axes:
        """Axes of vectors [n, d], of a sample if they are many; rows: how many the index has in all."""
        some = vectors[:: max(1, -(-len(vectors) // _FITTED_TO))].astype(np.float64)
        centre = some.mean(0)
        some -= centre
        _, axes = principal_axes(some.T @ some)
        return cls(centre, np.ascontiguousarray(axes[:, : COARSE + FINE]), len(vectors) if rows is None else rows)

    def coordinates(self, vectors: np.ndarray) -> np.ndarray:
        """Coordinates along the axes [n, 16 + m], float32, m up to 32; zeros where vectors have fewer than 16.

        >>> vectors = np.random.default_rng(0).normal(size=(100, 20)).astype(np.float32)
        >>> some = Axes.fit(vectors).coordinates(vectors)
        >>> bool(np.linalg.norm(some[0] - some[1]) <= np.linalg.norm(vectors[0] - vectors[1]))
        True
        """
        coordinates = np.zeros((len(vectors), max(self.directions.shape[1], COARSE)), np.float32)
        step = max(1, _BLOCK // vectors.shape[1])
        for lo in range(0, len(vectors), step):
            turned = (vectors[lo : lo + step] - self.centre) @ self.directions
            coordinates[lo : lo + step, : turned.shape[1]] = turned
        return coordinates
