"""Clouds of named points by how much they have of each name: roots of shares, or counts."""

from __future__ import annotations

import numpy as np

from .columns import ColumnEmbedding, Entries


class Histogram(ColumnEmbedding):
    """Roots of the masses of the names: the distance is that of Hellinger, d² = Σ_c (√p_c − √p'_c)².

    Rare things weigh more than in a distance of the masses themselves.
    """

    name = "histogram"

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        return Entries(cloud, name, name, np.sqrt(count / sizes[cloud]))


class Counts(ColumnEmbedding):
    """Counts of the names: unlike a histogram it tells how large a cloud is. The inner product of two such vectors is
    the Weisfeiler-Lehman subtree kernel, where names are those of trees.
    """

    name = "counts"

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        return Entries(cloud, name, name, count.astype(np.float64))
