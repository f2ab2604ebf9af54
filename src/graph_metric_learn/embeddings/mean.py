"""The mean of a cloud."""

from __future__ import annotations

import numpy as np

from .._core.ragged import offsets
from .base import Embedding


class Mean(Embedding):
    """The mean of the points: one slot for all."""

    name = "mean"

    def shares(self, x: np.ndarray) -> np.ndarray:
        return np.full((1, len(x)), 1.0 / len(x))

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        sums = np.add.reduceat(points, offsets(sizes)[:-1], axis=0, dtype=np.float64)
        return (sums / sizes[:, None]).astype(np.float32)[:, None, :]

    def width(self, columns: int) -> int:
        return columns
