"""Optimal assignment of named points: how many points of two clouds can be paired with one of the same name."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._core.hashing import ODD, mix
from .columns import ColumnEmbedding, Entries


class Assignment(ColumnEmbedding):
    """Counts written as a thermometer: three of a name are ones in the columns (name, 1), (name, 2) and (name, 3).

    The inner product of two vectors is then Σ_c min(a_c, b_c), and d² = Σ_c |a_c − b_c|: the optimal assignment kernel
    of Kriege et al. (2016) as a plain Euclidean embedding, without a solver.

    Parameters
    ----------
    normalized : bool
        Whether vectors are divided by their length, so that the size of a cloud does not count.
    """

    name = "optimal assignment"
    option_types: ClassVar = {"normalized": bool}

    def __init__(self, normalized: bool = False) -> None:
        self.normalized = normalized

    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        ends = np.cumsum(count)
        rank = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        owner, names = np.repeat(cloud, count), np.repeat(name, count)
        value = np.ones(len(owner))
        if self.normalized:
            value /= np.sqrt(np.bincount(owner, minlength=len(sizes)))[owner]
        with np.errstate(over="ignore"):
            codes = mix(names + (rank.astype(np.uint64) + np.uint64(1)) * ODD)
        return Entries(owner, names, codes, value)


class NormalizedAssignment(Assignment):
    """:class:`Assignment` with vectors of length 1."""

    name = "normalised optimal assignment"

    def __init__(self, normalized: bool = True) -> None:
        super().__init__(normalized)
