"""Training graphs that choosing and learning look at, and distances between their vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.ragged import concatenated_ranges, offsets
from ...features.blocks import cloud_of
from ...graphs import Graphs
from ...linalg.squared_distances import squared_distances
from ...objectives.folds import groups_among

if TYPE_CHECKING:
    from .terms import Term

_MAX_NODES, _MIN_GRAPHS = 80_000, 100  # a choice is made on at most 80,000 nodes, but at least 100 graphs
_MAX_ARCS = 4_000_000  # the same for edges that carry something, counted in both directions
_KEPT = 64 * 2**20  # bytes of vectors that are kept, as several steps ask for them

Blocks = Mapping[str, Any]  # features of nodes or edges [S, q] by name; names of trees as uint64


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
    groups : ndarray [N] or None
        Graphs of one group do not predict each other.
    """

    blocks: Blocks
    sizes: Mapping[str, np.ndarray]
    target: np.ndarray
    groups: np.ndarray | None = None
    _kept: dict[str, np.ndarray] = field(default_factory=dict, repr=False)  # vectors by the key of the term

    def __len__(self) -> int:
        return len(self.target)

    def part(self, which: np.ndarray) -> Sample:
        """The graphs with these numbers, ascending."""
        if len(which) == len(self):
            return self
        rows = {cloud: concatenated_ranges(offsets(sizes)[which], sizes[which]) for cloud, sizes in self.sizes.items()}
        blocks = {name: block[rows[cloud_of([name])]] for name, block in self.blocks.items()}
        sizes_of = {cloud: sizes[which] for cloud, sizes in self.sizes.items()}
        return Sample(blocks, sizes_of, self.target[which], groups_among(self.groups, which))

    def embedded(self, term: Term) -> Any:
        """Vectors of one term, before they are projected [N, D]; dense ones are kept, up to 64 MB of them."""
        if term.key in self._kept:
            return self._kept[term.key]
        vectors = term.embedded(self.blocks, self.sizes[term.cloud])
        if isinstance(vectors, np.ndarray) and vectors.nbytes + self._bytes() <= _KEPT:
            self._kept[term.key] = vectors
        return vectors

    def _bytes(self) -> int:
        return sum(vectors.nbytes for vectors in list(self._kept.values()))  # threads may add some meanwhile

    def coordinates(self, term: Term) -> Any:
        """Vectors of one term [N, r]."""
        return term.coordinates(self.embedded(term))

    def squares(self, term: Term) -> np.ndarray:
        """Squared distances [N, N] by one term."""
        return squares_without_copies(self.coordinates(term))


def sample_size(graphs: Graphs, most: int) -> int:
    """How many graphs a choice is made on: at most `most`, fewer where they are large."""
    most = min(most, max(_MIN_GRAPHS, int(_MAX_NODES / graphs.sizes.mean())))
    if graphs.edge_data is None:
        return most
    arcs = graphs.edge_data.ends.shape[1] / len(graphs)
    return min(most, max(_MIN_GRAPHS, int(_MAX_ARCS / max(arcs, 1))))


def squares_without_copies(vectors: Any) -> np.ndarray:
    """Squared distances [N, N], float32, between vectors [N, d]; those of copies are exactly 0, and computed once."""
    if not isinstance(vectors, np.ndarray):  # sparse: exact
        return squared_distances(vectors).astype(np.float32)
    different, copy_of = without_copies(vectors)
    return squared_distances(different)[np.ix_(copy_of, copy_of)]


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
