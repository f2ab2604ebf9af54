"""Which kernels there are: families, each one thing seen in one way, and the registry of their recipes.

A family describes a graph (by a multiset of names, or by vectors) and compares descriptions by a kernel with
k(G, G) = 1. The kernel of a metric is a weighted mean of families, see `mixture.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta
from scipy import sparse

from ..._core.ragged import concatenated_ranges, offsets
from ..._core.registry import Registry
from ..._core.schema import FieldError, Saved, check_choice
from ...embeddings import EMBEDDINGS, Embedding
from ...embeddings.columns import count_names
from ...features.block_kind import seen
from ...features.blocks import BLOCKS, BUILT_IN, available_kinds, cloud_of, parse_name
from ...features.label_pairs import Pairs
from ...graphs import Graphs
from ...linalg.multisets import MinSums
from ...linalg.principal_axes import MAX_COLUMNS, principal_components
from ...linalg.squared_distances import squared_distances

Blocks = Mapping[str, Any]  # features of nodes or edges [S, q] by name; names of trees as uint64
MULTISET = "multiset"  # in the place of an embedding: counts of names, compared by their minima
_DEEPEST = 4  # level of the deepest trees
_MANY_EDGES = 200  # edges per graph from which they are not transported to a reference
_SCALED_ON = 600  # graphs that the scale of a kernel is computed from


class Recipe(Saved, frozen=True):  # type: ignore[misc]  # Saved itself is not frozen
    """How a family describes graphs.

    Attributes
    ----------
    kind : str
        What is seen, such as "surroundings" or "structure": kinds have equal shares where weights are even.
    sets : tuple of tuples of str
        Sets of blocks, such as ("attributes@0", "attributes@1"); the kernel is the mean over the sets. Of a multiset,
        the set with the first blocks, the first two, and so on, as `ranges` says. "pairs@h" are pairs of nodes, named
        by the trees of depth h around them, and the length of the shortest path.
    embedding : str
        "multiset", or a name in `embeddings.EMBEDDINGS`.
    words : str
        What is compared, in words of the field.
    ranges : tuple of int
        Of a multiset: indices of the last blocks of the sets.
    """

    kind: str
    sets: Annotated[tuple[tuple[str, ...], ...], Meta(min_length=1, max_length=16)]
    embedding: str
    words: str
    ranges: Annotated[tuple[Annotated[int, Meta(ge=0, le=100)], ...], Meta(max_length=100)] = ()

    def __post_init__(self) -> None:
        check_choice("embedding", self.embedding, [MULTISET, *EMBEDDINGS])
        counted = self.embedding == MULTISET
        if any(not names for names in self.sets) or counted != bool(self.ranges) or (counted and len(self.sets) > 1):
            raise FieldError("sets", "hold no blocks, or do not go with the ranges")
        if counted and max(self.ranges) >= len(self.sets[0]):
            raise FieldError("ranges", f"end at {max(self.ranges)}, but there are {len(self.sets[0])} blocks")
        kinds = {BLOCKS[parse_name(name, "sets").kind].categorical for name in self.names}
        wanted = True if counted else EMBEDDINGS[self.embedding].takes_columns
        if kinds != {wanted} or (self.cloud == "pairs" and not counted):
            raise FieldError("sets", f"are blocks that do not go together, or not with {self.embedding!r}")

    @property
    def names(self) -> list[str]:
        """All blocks, each once."""
        return list(dict.fromkeys(name for names in self.sets for name in names))

    @property
    def cloud(self) -> str:
        """What the blocks describe: "nodes", "edges" or "pairs"."""
        return cloud_of(self.names)


# --- how graphs are described ----------------------------------------------------------------------------------------


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
        for name, one in zip(self.recipe.names, parsed, strict=True):
            if self.recipe.cloud == "pairs":
                levels.append(Pairs.counts(seen(graphs, one.views), one.level))
            else:
                levels.append(count_names(blocks[name], sizes[self.recipe.cloud]))
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


def _joined(blocks: Blocks, names: Sequence[str]) -> np.ndarray:
    """Blocks side by side, divided by the root of their number; names of trees as they are."""
    joined = np.concatenate([blocks[name] for name in names], axis=1)
    return joined if joined.dtype.kind == "u" else joined / np.float32(np.sqrt(len(names)))


def _typical_square(vectors: Any) -> float:
    """The median of squared distances of different graphs; of all that are not copies, where most are."""
    some = vectors[:: max(1, -(-vectors.shape[0] // _SCALED_ON))]
    squares = squared_distances(some)
    off = squares[~np.eye(len(squares), dtype=bool)]
    median = float(np.median(off)) if off.size else 0.0
    return median if median > 0 else float(off[off > 0].mean()) if (off > 0).any() else 1.0


# --- which families there are ----------------------------------------------------------------------------------------


def family_of(name: str, recipe: Recipe) -> Family:
    """A family by its recipe, not fitted."""
    return (MultisetFamily if recipe.embedding == MULTISET else VectorFamily)(name, recipe)


class Carried(NamedTuple):
    """What graphs carry, by which recipes are made."""

    kinds: list[str]  # of blocks that they can have
    edges: list[str]  # labels, vectors, weights, directions
    several_labels: bool
    labelled: bool
    many_edges: bool  # so many that transport of edges takes too long

    @classmethod
    def of(cls, graphs: Graphs) -> Carried:
        edges = [] if graphs.edge_data is None else graphs.edge_data.carries
        labelled = graphs.labels is not None
        several = labelled and graphs.labels.shape[1] > 1  # type: ignore[union-attr]
        many = graphs.edges.shape[1] > 2 * _MANY_EDGES * len(graphs)
        return cls(available_kinds(graphs), edges, several, labelled, many)


Maker = Callable[[Carried], Recipe | None]
FAMILIES: Registry[Recipe | Maker] = Registry("family")


def recipes_for(carried: Carried) -> dict[str, Recipe]:
    """Recipes of the families that graphs can have, by name; also of blocks that were registered from outside."""
    made = {name: one if isinstance(one, Recipe) else one(carried) for name, one in FAMILIES.items()}
    recipes = {name: recipe for name, recipe in made.items() if recipe is not None}
    for kind in carried.kinds:
        if kind not in BUILT_IN:
            recipes |= recipes_of_blocks([f"{kind}@0"])
    return recipes


def recipes_of_blocks(names: Sequence[str], embedding: str = "auto") -> dict[str, Recipe]:
    """Recipes that compare graphs by named blocks alone, through one embedding or through all that suit them."""
    title, blocks = ", ".join(names), [BLOCKS[parse_name(name).kind] for name in names]
    if len({block.categorical for block in blocks}) == 2:
        raise ValueError(f"trees go with trees alone, got {title}")
    if embedding == "auto":
        allowed = set.intersection(*(set(block.embeddings or EMBEDDINGS) for block in blocks))
        chosen = [MULTISET] if blocks[0].categorical else [one for one in _tried(EMBEDDINGS) if one in allowed]
    else:
        chosen = [embedding]
    recipes = {}
    for one in chosen:
        ranges = tuple(range(len(names))) if one == MULTISET else ()
        try:
            recipes[f"{title} ({one})"] = Recipe(title, (tuple(names),), one, title, ranges)
        except FieldError:
            raise ValueError(f"embedding {one!r} cannot take {title}") from None
    return recipes


def _tried(embeddings: Mapping[str, type[Embedding]]) -> list[str]:
    """Embeddings of points that are worth trying: the means, those of graphs with targets, and those from outside."""
    return [name for name, one in embeddings.items() if not one.takes_columns and one.supervised in (None, True)]


def _levels(kinds: Sequence[str], last: int) -> tuple[str, ...]:
    return tuple(f"{kind}@{level}" for kind in kinds for level in range(last + 1))


def _own(carried: Carried) -> list[str]:
    """What nodes carry, else their degrees."""
    return [kind for kind in carried.kinds if kind in ("attributes", "labels")] or ["degree"]


def _trees(views: str, words: str, needed: Callable[[Carried], bool]) -> Maker:
    ranges = tuple(range(1, _DEEPEST + 1))
    recipe = Recipe("surroundings", (_levels([f"trees{views}"], _DEEPEST),), MULTISET, words, ranges)
    return lambda carried: recipe if needed(carried) else None


def _pairs(name: str, words: str, needed: Callable[[Carried], bool]) -> Maker:
    recipe = Recipe("pairs", ((name,),), MULTISET, words, (0,))
    return lambda carried: recipe if needed(carried) else None


def _sees_edges(carried: Carried) -> bool:
    return "labels" in carried.edges or "directions" in carried.edges


_NODES = "nodes and their surroundings up to 4 steps"
FAMILIES["trees"] = _trees("", _NODES, lambda carried: True)
FAMILIES["trees with edges"] = _trees("+edges", f"{_NODES}, with edges", _sees_edges)
FAMILIES["trees of first labels"] = _trees(
    "+edges+first", f"{_NODES}, by first labels, with edges", lambda carried: carried.several_labels
)
FAMILIES["bare trees"] = _trees("+bare", "shapes of surroundings up to 4 steps", lambda carried: carried.labelled)
FAMILIES["edges as roots"] = lambda carried: (
    Recipe("edges", (_levels(["edge_trees"], 1),), MULTISET, "edges with their ends and neighbours", (0, 1))
    if _sees_edges(carried)
    else None
)
FAMILIES["pairs"] = _pairs("pairs@0", "pairs of nodes and how far apart they are", lambda carried: True)
FAMILIES["pairs of trees"] = _pairs(
    "pairs@1", "pairs of nodes with their neighbours, and how far apart they are", lambda carried: True
)
FAMILIES["pairs of first labels"] = _pairs(
    "pairs+first@0", "pairs of nodes by first labels, and how far apart they are", lambda carried: carried.several_labels
)
FAMILIES["bare pairs"] = _pairs("pairs+bare@0", "lengths of shortest paths", lambda carried: carried.labelled)
FAMILIES["size"] = Recipe("structure", (("size@0",),), "mean", "numbers of nodes and edges")

_Sets = Callable[[Carried], list[tuple[str, ...]]]


def _attributes(carried: Carried) -> list[tuple[str, ...]]:
    if not {"attributes", "labels"} <= set(carried.kinds):
        return []
    return [_levels(["attributes"], last) for last in (0, 2)]


def _carried(carried: Carried) -> list[tuple[str, ...]]:
    return [_levels(_own(carried), last) for last in (0, 2)]


def _structure(carried: Carried) -> list[tuple[str, ...]]:
    return [_levels(["structure"], last) for last in (0, 2)]


def _coded(carried: Carried) -> list[tuple[str, ...]]:
    return [(*_levels(_own(carried), 0), "wl@1", "wl@2")]


def _around(carried: Carried) -> list[tuple[str, ...]]:
    return [_levels(["around"], last) for last in (0, 1)] if "around" in carried.kinds else []


def _strength(carried: Carried) -> list[tuple[str, ...]]:
    if "weights" not in carried.edges:
        return []
    return [_levels(["strength"], 1), tuple(f"{kind}+edges@{level}" for kind in _own(carried) for level in range(3))]


def _edges(carried: Carried) -> list[tuple[str, ...]]:
    edge = ("edge@0",) if "edge" in carried.kinds else ()
    return [(*edge, "ends@0"), (*edge, "ends@0", "ends@1")] if carried.edges else []


_CLOUDS: list[tuple[str, str, str, _Sets]] = [
    ("attributes", "attributes", "attributes of nodes", _attributes),
    ("nodes", "attributes", "what nodes carry", _carried),
    ("structure", "structure", "degrees, triangles and walks", _structure),
    ("codes", "surroundings", "what nodes carry, with their surroundings", _coded),
    ("edges around nodes", "edges", "what edges carry, around nodes", _around),
    ("strength", "edges", "weights of edges, around nodes", _strength),
    ("edges", "edges", "what edges carry, and their ends", _edges),
]


def _cloud(kind: str, words: str, sets_of: _Sets, embedding: str) -> Maker:
    def made(carried: Carried) -> Recipe | None:
        sets = sets_of(carried)
        slow = embedding == "reference" and carried.many_edges and sets and cloud_of(sets[0]) == "edges"
        return Recipe(kind, tuple(sets), embedding, f"{words} ({_IN_WORDS[embedding]})") if sets and not slow else None

    return made


_IN_WORDS = {"mean": "on average", "density": "by their density", "reference": "by transport"}
for _title, _kind, _words, _sets_of in _CLOUDS:
    for _embedding in _IN_WORDS:
        FAMILIES[f"{_title}, {_embedding}"] = _cloud(_kind, _words, _sets_of, _embedding)
