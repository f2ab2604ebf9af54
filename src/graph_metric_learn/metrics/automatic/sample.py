"""Training graphs that choosing and learning look at, and distances between their vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...transport import Vectors, pairwise_distances

if TYPE_CHECKING:
    from .terms import Term

Blocks = Mapping[str, Any]  # node features [S, q] by name; sparse for trees


@dataclass
class Sample:
    """Some of the training graphs: their blocks of node features, sizes [N] and encoded targets [N]."""

    blocks: Blocks
    sizes: np.ndarray
    target: np.ndarray

    def part(self, which: np.ndarray) -> Sample:
        """The graphs with these numbers, ascending."""
        rows = np.flatnonzero(np.isin(np.repeat(np.arange(len(self.sizes)), self.sizes), which))
        blocks = {name: block[rows] for name, block in self.blocks.items()}
        return Sample(blocks, self.sizes[which], self.target[which])

    def vectors(self, term: Term) -> np.ndarray:
        """Vectors of one term [N, slots, q]."""
        return term.vectors(self.blocks, self.sizes)

    def squares(self, terms: list[Term]) -> np.ndarray:
        """Squared distances [N, N] by a sum of terms."""
        return squared_distances([self.vectors(term) for term in terms])


def side_by_side(vectors: list[np.ndarray]) -> np.ndarray:
    """Vectors [N, slots, q] of several terms, flattened and concatenated [N, d]."""
    return np.concatenate([part.reshape(len(part), -1) for part in vectors], axis=1)


def squared_distances(vectors: list[np.ndarray]) -> np.ndarray:
    """Squared distances [N, N] between vectors [N, …], added up over the list."""
    total: Any = 0.0
    for part in vectors:
        different, copy_of = without_copies(part.reshape(len(part), -1))
        embedded = Vectors(torch.from_numpy(different), numpy=True)
        squares = pairwise_distances(embedded, squared=True, device="cpu", progress=False)
        total = total + squares[np.ix_(copy_of, copy_of)]
    return total


def without_copies(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different ones of vectors [N, d], and which of them each vector equals [N], up to rounding.

    Small graphs have many copies: their distances are then exactly 0, and are computed once.

    >>> without_copies(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]], dtype=np.float32))[1]
    array([1, 0, 1])
    """
    keys = vectors @ np.random.default_rng(0).normal(size=(vectors.shape[1], 3)).astype(np.float32)
    keys = np.rint(1e6 * keys / max(float(np.abs(keys).max()), 1e-30))  # what float32 can tell apart
    _, first, copy_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return vectors[first], copy_of.reshape(-1)
