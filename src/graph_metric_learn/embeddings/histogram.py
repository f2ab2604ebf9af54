"""Clouds of named points by how much they have of each name: roots of shares, or counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._core.ragged import offsets
from .columns import ColumnEmbedding, Entries, column_plan, shared_out


class Histogram(ColumnEmbedding):
    """Roots of the masses of the names: the distance is that of Hellinger, d² = Σ_c (√p_c − √p'_c)².

    Rare things weigh more than in a distance of the masses themselves. It also takes points as sparse columns of 0 and
    1, as `NodeBlocks(n_columns=…)` makes them of hashed trees; vectors are then dense.
    """

    name = "histogram"

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        return Entries(cloud, name, name, np.sqrt(count / sizes[cloud]))

    def fit(self, points: Any, sizes: np.ndarray, rng: np.random.Generator) -> Histogram:
        if not sparse.issparse(points):
            super().fit(points, sizes, rng)
        return self

    def vectors(self, points: Any, sizes: np.ndarray) -> Any:
        if not sparse.issparse(points):
            return super().vectors(points, sizes)
        starts = offsets(sizes)
        members = sparse.csr_array(
            (np.repeat(1.0 / sizes, sizes), np.arange(starts[-1]), starts), shape=(len(sizes), starts[-1])
        )
        return np.sqrt((members @ points).toarray()).astype(np.float32)[:, None, :]

    def set_arrays(self, arrays: dict[str, np.ndarray], columns: int) -> None:
        if arrays:  # none where points are columns of 0 and 1
            super().set_arrays(arrays, columns)

    def width(self, columns: int) -> int:
        return super().width(columns) if hasattr(self, "vocabulary") else columns

    def plan(self, x: Any, z: Any) -> np.ndarray:
        return column_plan(x, z) if sparse.issparse(x) else super().plan(x, z)

    def attribute(self, x: Any, z: Any, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not sparse.issparse(x):
            return super().attribute(x, z, gradient)
        first, second = (np.sqrt(np.asarray(points.sum(0)) / points.shape[0]) for points in (x, z))
        adds = gradient.reshape(-1) * (first - second)
        return shared_out(x, adds), shared_out(z, adds)


class Counts(ColumnEmbedding):
    """Counts of the names: unlike a histogram it tells how large a cloud is. The inner product of two such vectors is
    the Weisfeiler-Lehman subtree kernel, where names are those of trees.
    """

    name = "counts"

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        return Entries(cloud, name, name, count.astype(np.float64))
