"""Training graphs that choosing and learning look at, and distances between their vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..._core.ragged import concatenated_ranges, offsets
from ...features.blocks import cloud_of
from ...transport import Vectors, pairwise_distances

if TYPE_CHECKING:
    from .terms import Term

Blocks = Mapping[str, Any]  # features of nodes or edges [S, q] by name; sparse for trees


@dataclass
class Sample:
    """Some of the training graphs.

    Attributes
    ----------
    blocks : dict of arrays
        Features of all nodes, or of all edges, by name.
    sizes : dict of ndarray [N]
        How many points each graph has, by cloud: "nodes" and, if there, "edges".
    target : ndarray [N]
        Encoded by the objective.
    """

    blocks: Blocks
    sizes: Mapping[str, np.ndarray]
    target: np.ndarray

    def part(self, which: np.ndarray) -> Sample:
        """The graphs with these numbers, ascending."""
        rows = {cloud: concatenated_ranges(offsets(sizes)[which], sizes[which]) for cloud, sizes in self.sizes.items()}
        blocks = {name: block[rows[cloud_of([name])]] for name, block in self.blocks.items()}
        return Sample(blocks, {cloud: sizes[which] for cloud, sizes in self.sizes.items()}, self.target[which])

    def vectors(self, term: Term) -> np.ndarray:
        """Vectors of one term [N, slots, q]."""
        return term.vectors(self.blocks, self.sizes[term.cloud])

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
