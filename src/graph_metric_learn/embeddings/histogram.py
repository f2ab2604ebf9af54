"""Histogram of a cloud whose points are equal or different, with nothing in between."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._core.ragged import offsets
from .base import Embedding


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
        """Mass is matched within each column first; what is left over is spread over all points with mass left."""
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
        source = (
            x @ (inside * adds) + adds[mass == 0].sum() / n
        )  # columns of the other graph alone: shared by all points
        return plan, source, z @ (inside_z * adds) + adds[mass_z == 0].sum() / m
