"""How often a cloud has each name."""

from __future__ import annotations

import numpy as np

from .columns import ColumnEmbedding, Entries


class Counts(ColumnEmbedding):
    """Counts of the names: unlike a histogram it tells how large a cloud is. The inner product of two such vectors is
    the Weisfeiler-Lehman subtree kernel, where names are those of trees.
    """

    name = "counts"

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        return Entries(cloud, name, name, count.astype(np.float64))
