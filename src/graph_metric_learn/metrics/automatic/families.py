"""Families: each describes graphs in one way, and compares descriptions by a kernel with k(G, G) = 1.

Which there are says `recipes.py`; the kernel of a metric is a weighted mean of families, see `mixture.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._core.ragged import concatenated_ranges, offsets
from ...embeddings import EMBEDDINGS, Embedding
from ...embeddings.columns import count_names
from ...features.block_kind import seen
from ...features.blocks import parse_name
from ...features.label_pairs import Pairs
from ...graphs import Graphs
from ...linalg.multisets import MinSums
from ...linalg.principal_axes import MAX_COLUMNS, principal_components
from ...linalg.squared_distances import squared_distances, squared_norms
from .recipes import LINEAR, MULTISET, WHOLE, Recipe

Blocks = Mapping[str, Any]  # features of nodes or edges [S, q] by name; names of trees as uint64
KNOTS = 101  # percentiles that numbers are compared with
_TAIL = 0.005  # least and largest rank of a number
_ROUNDING = 1e-10  # squared distance, relative to squared norms, below which vectors are equal
_MOST_NAMES = 256  # whose counts are multiplied
_SCALED_ON = 600  # graphs that the scale of a kernel is computed from


@dataclass(frozen=True)
class Counts:
    """Multisets of N graphs: `graph` has `name` `count` times at `level` [E]; graphs, then levels, ascend."""

    graph: np.ndarray
    name: np.ndarray
    count: np.ndarray
    level: np.ndarray
    n_graphs: int

    def __len__(self) -> int:
        return self.n_graphs

    def part(self, rows: np.ndarray) -> Counts:
        """Those of some graphs, by their indices."""
        starts = np.searchsorted(self.graph, np.arange(self.n_graphs + 1))
        counts = np.diff(starts)[rows]
        picked = concatenated_ranges(starts[:-1][rows], counts)
        graph = np.repeat(np.arange(len(rows)), counts)
        return Counts(graph, self.name[picked], self.count[picked], self.level[picked], len(rows))

    @staticmethod
    def stacked(parts: Sequence[Counts]) -> Counts:
        """Those of several collections, one after the other."""
        if len(parts) == 1:
            return parts[0]
        starts = offsets(np.array([len(part) for part in parts]))
        graph = np.concatenate([part.graph + start for part, start in zip(parts, starts, strict=False)])
        name, count, level = (np.concatenate([getattr(p, a) for p in parts]) for a in ("name", "count", "level"))
        return Counts(graph, name, count, level, int(starts[-1]))


@dataclass(frozen=True)
class Points:
    """Vectors of N graphs, an array [N, D] for each set of blocks, dense or sparse."""

    sets: list[Any]

    def __len__(self) -> int:
        return self.sets[0].shape[0]

    def part(self, rows: np.ndarray) -> Points:
        """Those of some graphs, by their indices."""
        return Points([vectors[rows] for vectors in self.sets])

    @staticmethod
    def stacked(parts: Sequence[Points]) -> Points:
        """Those of several collections, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.sets for part in parts), strict=True)
        return Points([sparse.vstack(c, format="csr") if sparse.issparse(c[0]) else np.concatenate(c) for c in columns])


class Family(ABC):
    """A kernel between graphs with k(G, G) = 1: how it describes them, and the references that it compares with.

    `fit` learns what describing needs from a sample of graphs, without targets; `refer_to` sets the references.
    """

    def __init__(self, name: str, recipe: Recipe) -> None:
        self.name, self.recipe = name, recipe

    @abstractmethod
    def fit(self, blocks: Blocks, sizes: Mapping[str, np.ndarray], rng: np.random.Generator) -> None:
        """Learns what describing needs from blocks of a sample of graphs with these numbers of points [G] by cloud."""

    @abstractmethod
    def described(self, graphs: Graphs, blocks: Blocks, sizes: Mapping[str, np.ndarray]) -> Any:
        """Descriptions of graphs with these blocks: `Counts` or `Points`."""

    @abstractmethod
    def refer_to(self, described: Any) -> Family:
        """The same family with graphs of these descriptions as references."""

    @abstractmethod
    def kernel(self, described: Any = None) -> np.ndarray:
        """Between N graphs and the M references [N, M], float32; among the references [M, M] without others."""

    def diagonal(self, described: Any) -> np.ndarray:
        """k(G, G) of graphs with these descriptions [N]."""
        return np.ones(len(described))

    @abstractmethod
    def references(self) -> Any:
        """The descriptions of the references."""


class MultisetFamily(Family):
    """Counts of names: Σ min / Σ max of two graphs' counts, the mean over cumulative levels, see :class:`MinSums`."""

    sums: MinSums

    def fit(self, blocks: Blocks, sizes: Mapping[str, np.ndarray], rng: np.random.Generator) -> None:
        """There is nothing to learn: names depend on no other graph."""

    def described(self, graphs: Graphs, blocks: Blocks, sizes: Mapping[str, np.ndarray]) -> Counts:
        parsed = [parse_name(name) for name in self.recipe.names]
        levels = []
        for block, one in zip(self.recipe.names, parsed, strict=True):
            if self.recipe.cloud == "pairs":
                levels.append(Pairs.counts(seen(graphs, one.views), one.level))
            else:
                levels.append(count_names(blocks[block], sizes[self.recipe.cloud]))
        level = np.repeat(np.arange(len(levels)), [len(graph) for graph, _, _ in levels])
        graph, name, count = (np.concatenate(part) for part in zip(*levels, strict=True))
        order = slice(None) if len(levels) == 1 else np.argsort(graph, kind="stable")
        return Counts(graph[order], name[order], count[order].astype(np.float32), level[order], len(graphs))

    def refer_to(self, described: Counts) -> MultisetFamily:
        family = MultisetFamily(self.name, self.recipe)
        entries = (described.graph, described.name, described.count, described.level)
        family.sums = MinSums(*entries, n_references=len(described), n_levels=len(self.recipe.names))
        return family

    def kernel(self, described: Counts | None = None) -> np.ndarray:
        if described is None:
            return self.sums.pairwise(ranges=self.recipe.ranges)
        entries = (described.graph, described.name, described.count, described.level)
        return self.sums.kernel(*entries, n_graphs=len(described), ranges=self.recipe.ranges)

    def references(self) -> Counts:
        sums = self.sums
        times = np.diff(sums.postings)
        level = np.repeat(np.repeat(np.arange(len(sums.totals)), np.diff(sums.levels)), times)
        reference, name = sums.reference.astype(np.int64), np.repeat(sums.vocabulary, times)
        order = np.lexsort([name, level, reference])
        return Counts(reference[order], name[order], sums.count[order], level[order], sums.totals.shape[1])


class LinearFamily(MultisetFamily):
    """Inner products of counts, less their means: unlike others it grows with the graph, and 1 is the mean of k(G, G).

    A regression on it says what nodes of each kind add to a number, for graphs of any size.

    Attributes
    ----------
    vocabulary : ndarray [V], uint64
        Names that count, those of most graphs.
    centre : ndarray [V]
        Mean counts.
    scale : float
        Root of the mean square of what counts differ from these.
    points : Points
        The references.
    """

    vocabulary: np.ndarray
    centre: np.ndarray
    scale: float
    points: Points

    def described(self, graphs: Graphs, blocks: Blocks, sizes: Mapping[str, np.ndarray]) -> Points:  # type: ignore[override]
        counts = super().described(graphs, blocks, sizes)
        if not hasattr(self, "vocabulary"):
            names, common = np.unique(counts.name, return_counts=True)
            self.vocabulary = np.sort(names[np.argsort(-common, kind="stable")[:_MOST_NAMES]])
            table = self._table(counts)
            self.centre = table.mean(0)
            self.scale = max(float(np.sqrt(((table - self.centre) ** 2).sum(1).mean())), 1e-12)
        return Points([(self._table(counts) - self.centre) / self.scale])

    def _table(self, counts: Counts) -> np.ndarray:
        """How often each graph has each name of the vocabulary [N, V]; others do not count."""
        place = np.minimum(np.searchsorted(self.vocabulary, counts.name), len(self.vocabulary) - 1)
        known = self.vocabulary[place] == counts.name
        table = np.zeros((len(counts), len(self.vocabulary)))
        np.add.at(table, (counts.graph[known], place[known]), counts.count[known])
        return table

    def refer_to(self, described: Points) -> LinearFamily:  # type: ignore[override]
        family = LinearFamily(self.name, self.recipe)
        family.__dict__.update(self.__dict__, points=described)
        return family

    def kernel(self, described: Points | None = None) -> np.ndarray:  # type: ignore[override]
        mine = self.points.sets[0]
        return ((mine if described is None else described.sets[0]) @ mine.T).astype(np.float32)

    def diagonal(self, described: Points) -> np.ndarray:
        return (described.sets[0] ** 2).sum(1)

    def references(self) -> Points:  # type: ignore[override]
        return self.points


class VectorFamily(Family):
    """Vectors of clouds of nodes or edges: exp(−d² / scale), the mean over sets of blocks.

    Attributes
    ----------
    embeddings : list of Embedding
        For each set, fitted.
    bases : list of ndarray [Q, q] or None
        For each set, a map of its blocks side by side: principal components where there are many columns.
    columns : list of int
        Columns of the points of each set.
    scales : ndarray [sets]
        The median squared distance, or the mean where most graphs are alike.
    points : Points
        The references.
    """

    embeddings: list[Embedding]
    bases: list[np.ndarray | None]
    columns: list[int]
    scales: np.ndarray
    points: Points

    def fit(self, blocks: Blocks, sizes: Mapping[str, np.ndarray], rng: np.random.Generator) -> None:
        self.embeddings, self.bases, self.columns = [], [], []
        for names in self.recipe.sets:
            points, basis = _joined(blocks, names), None
            if points.dtype.kind == "f" and points.shape[1] > MAX_COLUMNS:
                basis = principal_components(points)  # blocks are centred
                points = points @ basis
            self.bases.append(basis)
            self.columns.append(points.shape[1])
            self.embeddings.append(EMBEDDINGS[self.recipe.embedding]().fit(points, sizes[self.recipe.cloud], rng))

    def cloud_points(self, blocks: Blocks, which: int) -> np.ndarray:
        """Points [S, q] of a set, or names."""
        joined, basis = _joined(blocks, self.recipe.sets[which]), self.bases[which]
        return joined if basis is None else joined @ basis

    def described(self, graphs: Graphs, blocks: Blocks, sizes: Mapping[str, np.ndarray]) -> Points:
        counts, sets = sizes[self.recipe.cloud], []
        for i, embedding in enumerate(self.embeddings):
            vectors = embedding.vectors(self.cloud_points(blocks, i), counts)
            sets.append(vectors if sparse.issparse(vectors) else vectors.reshape(len(vectors), -1))
        return Points(sets)

    def settle(self, described: Points) -> None:
        """Computes the scales from descriptions of a sample."""
        self.scales = np.array([_typical_square(vectors) for vectors in described.sets])

    def refer_to(self, described: Points) -> VectorFamily:
        family = VectorFamily(self.name, self.recipe)
        family.__dict__.update(self.__dict__, points=described)
        return family

    def kernel(self, described: Points | None = None) -> np.ndarray:
        total: Any = 0.0
        others = [None] * len(self.scales) if described is None else described.sets
        for mine, scale, other in zip(self.points.sets, self.scales, others, strict=True):
            squares = squared_distances(mine) if other is None else squared_distances(other, mine)
            total = total + np.exp(squares / -scale)
        return (total / len(self.scales)).astype(np.float32)

    def references(self) -> Points:
        return self.points


class WholeFamily(Family):
    """Vectors of whole graphs: exp(−d / scale), d between normal scores, categories, and what is not measured.

    Attributes
    ----------
    knots : ndarray [q, 101]
        Percentiles of each column, by which numbers become normal scores; entries of one-hot columns as well.
    scale : float
        The median distance.
    points : Points
        The references.
    """

    knots: np.ndarray
    scale: float
    points: Points

    def learn(self, vectors: np.ndarray) -> Points:
        """Learns percentiles and scale from vectors of a sample [N, q]; and describes these."""
        some = np.where(np.isfinite(vectors).any(0), vectors, 0.0)
        self.knots = np.nanpercentile(some, np.linspace(0, 100, KNOTS), axis=0).T
        described = self.described_vectors(vectors)
        self.scale = float(np.sqrt(_typical_square(described.sets[0])))
        return described

    def described_vectors(self, vectors: np.ndarray) -> Points:
        """Normal scores of vectors [N, q], 0 where one is missing, beside a column that says so: [N, 2 q]."""
        from scipy.special import ndtri

        known = np.isfinite(vectors)
        scores = np.zeros(vectors.shape)
        for j, knots in enumerate(self.knots):
            if knots[-1] > knots[0]:
                value = np.where(known[:, j], vectors[:, j], knots[0])
                low, high = (np.searchsorted(knots, value, side) for side in ("left", "right"))
                rank = (low + high) / 2 / KNOTS  # of equal numbers, the middle
                inside = (low > 0) & (high < KNOTS) & (low == high)
                rank[inside] = np.interp(value[inside], knots, (np.arange(KNOTS) + 0.5) / KNOTS)
                scores[:, j] = ndtri(np.clip(rank, _TAIL, 1 - _TAIL)) * known[:, j]
        return Points([np.concatenate([scores, ~known], axis=1).astype(np.float32)])

    def fit(self, blocks: Blocks, sizes: Mapping[str, np.ndarray], rng: np.random.Generator) -> None:
        """Nothing: what is learned is learned from the vectors themselves."""

    def described(self, graphs: Graphs, blocks: Blocks, sizes: Mapping[str, np.ndarray]) -> Points:
        assert graphs.graph_x is not None
        if not hasattr(self, "knots"):
            return self.learn(graphs.graph_x)
        return self.described_vectors(graphs.graph_x)

    def refer_to(self, described: Points) -> WholeFamily:
        family = WholeFamily(self.name, self.recipe)
        family.__dict__.update(self.__dict__, points=described)
        return family

    def kernel(self, described: Points | None = None) -> np.ndarray:
        mine = self.points.sets[0]
        squares = squared_distances(mine) if described is None else squared_distances(described.sets[0], mine)
        return np.exp(np.sqrt(squares) / -self.scale).astype(np.float32)

    def references(self) -> Points:
        return self.points


def _joined(blocks: Blocks, names: Sequence[str]) -> np.ndarray:
    """Blocks side by side, divided by the root of their number; names of trees as they are."""
    joined = np.concatenate([blocks[name] for name in names], axis=1)
    return joined if joined.dtype.kind == "u" else joined / np.float32(np.sqrt(len(names)))


def _typical_square(vectors: Any) -> float:
    """The median of squared distances of different graphs; of all that are not copies, where most are."""
    some = vectors[:: max(1, -(-vectors.shape[0] // _SCALED_ON))]
    squares = squared_distances(some)
    norms = squared_norms(some)
    squares[squares <= _ROUNDING * (1.0 + norms[:, None] + norms)] = 0.0  # rounding is no scale; blocks have one of 1
    off = squares[~np.eye(len(squares), dtype=bool)]
    median = float(np.median(off)) if off.size else 0.0
    return median if median > 0 else float(off[off > 0].mean()) if (off > 0).any() else 1.0


def family_of(name: str, recipe: Recipe) -> Family:
    """A family by its recipe, not fitted."""
    homes: dict[str, type[Family]] = {MULTISET: MultisetFamily, LINEAR: LinearFamily, WHOLE: WholeFamily}
    return homes.get(recipe.embedding, VectorFamily)(name, recipe)
