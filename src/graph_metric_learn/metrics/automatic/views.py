"""One graph as families see it: names with the nodes or edges that have them, points, slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...embeddings.embedding import Embedding
from ...features.block_kind import seen
from ...features.blocks import parse_name
from ...features.label_pairs import Pairs
from ...graphs import Graphs
from .families import MultisetFamily, VectorFamily


class Named(NamedTuple):
    """Names in one graph, each as often as the graph has it."""

    word: np.ndarray  # [R], uint64
    level: np.ndarray  # [R]
    points: np.ndarray  # nodes or edges that have it [R, 1], or the two nodes of a pair [R, 2]


class View:
    """One graph as families see it; what takes long is computed once.

    Parameters
    ----------
    graph : Graphs
        One.
    blocks : dict of arrays
        Of its nodes or edges.
    described : dict
        By the name of the family, `Counts` or `Points`.
    sizes : dict of int
        How many points it has, by cloud.
    """

    def __init__(
        self, graph: Graphs, blocks: Mapping[str, Any], described: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> None:
        self.graph, self.blocks, self.described, self.sizes = graph, blocks, described, sizes
        self._kept: dict[tuple, Any] = {}

    def names(self, family: MultisetFamily) -> Named:
        """All that a family counts."""
        if (key := (family.name,)) not in self._kept:
            words, points = [], []
            for name in family.recipe.names:
                if family.recipe.cloud == "pairs":
                    _, views, depth = parse_name(name)
                    u, v, word = Pairs.rows(seen(self.graph, views), depth)
                    points.append(np.stack([u, v], axis=1))
                else:
                    word = self.blocks[name].reshape(-1)
                    rows, columns = self.blocks[name].shape
                    points.append(np.repeat(np.arange(rows), columns)[:, None])
                words.append(word)
            level = np.repeat(np.arange(len(words)), [len(word) for word in words])
            self._kept[key] = Named(np.concatenate(words), level, np.concatenate(points))
        return self._kept[key]

    def points(self, family: VectorFamily, which: int) -> Any:
        """Points [n, q] of a set of blocks, or names."""
        if (key := (family.name, which, "points")) not in self._kept:
            self._kept[key] = family.cloud_points(self.blocks, which)
        return self._kept[key]

    def slots(self, family: VectorFamily, which: int) -> np.ndarray | None:
        """Shares of the slots of an embedding [slots, n]; None for those that are not made of slots."""
        embedding = family.embeddings[which]
        kind = type(embedding)
        if kind.attribute is not Embedding.attribute or kind.plan is not Embedding.plan:
            return None
        if (key := (family.name, which, "slots")) not in self._kept:
            self._kept[key] = embedding.shares(self.points(family, which))
        return self._kept[key]
