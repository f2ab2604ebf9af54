"""Which kernels there are: recipes of families, each one thing seen in one way, in the registry `FAMILIES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from ..._core.registry import Registry
from ..._core.schema import FieldError, Saved, check_choice
from ...embeddings import EMBEDDINGS, Embedding
from ...features.blocks import BLOCKS, BUILT_IN, available_kinds, cloud_of, parse_name
from ...graphs import Graphs

MULTISET = "multiset"  # in the place of an embedding: counts of names, compared by their minima
LINEAR = "linear"  # the same: inner products of counts, which grow with the graph
WHOLE = "vectors of graphs"  # the same: vectors of whole graphs, of no blocks
_EMBEDDINGS = tuple(EMBEDDINGS)  # of the library itself
_DEEPEST = 4  # level of the deepest trees


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
        "multiset", "linear", "vectors of graphs", which have no blocks, or a name in `embeddings.EMBEDDINGS`.
    words : str
        What is compared, in words of the field.
    ranges : tuple of int
        Of a multiset: indices of the last blocks of the sets.
    """

    kind: str
    sets: Annotated[tuple[tuple[str, ...], ...], Meta(max_length=16)]
    embedding: str
    words: str
    ranges: Annotated[tuple[Annotated[int, Meta(ge=0, le=100)], ...], Meta(max_length=100)] = ()

    def __post_init__(self) -> None:
        check_choice("embedding", self.embedding, [MULTISET, LINEAR, WHOLE, *EMBEDDINGS])
        if self.embedding == WHOLE:
            if self.sets or self.ranges:
                raise FieldError("sets", "must be empty for vectors of whole graphs")
            return
        counted = self.embedding in (MULTISET, LINEAR)
        if (
            not self.sets
            or any(not names for names in self.sets)
            or (self.embedding == MULTISET) != bool(self.ranges)
            or (counted and len(self.sets) > 1)
        ):
            raise FieldError("sets", "hold no blocks, or do not go with the ranges")
        if self.ranges and max(self.ranges) != len(self.names) - 1:
            raise FieldError("ranges", f"end at {max(self.ranges)}, but there are {len(self.names)} blocks")
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
        """What the blocks describe: "nodes", "edges" or "pairs"; without any, "graphs"."""
        return cloud_of(self.names) if self.sets else "graphs"


class Carried(NamedTuple):
    """What graphs carry, by which recipes are made."""

    kinds: list[str]  # of blocks that they can have
    edges: list[str]  # labels, vectors, weights, directions
    several_labels: bool
    labelled: bool
    vectors: bool  # of whole graphs
    stereo: bool  # of atoms
    coarse: bool  # kinds of atoms

    @classmethod
    def of(cls, graphs: Graphs) -> Carried:
        edges = [] if graphs.edge_data is None else graphs.edge_data.carries
        labelled = graphs.labels is not None
        several = labelled and graphs.labels.shape[1] > 1  # type: ignore[union-attr]
        atoms = graphs.stereo is not None, graphs.coarse is not None
        return cls(available_kinds(graphs), edges, several, labelled, graphs.graph_x is not None, *atoms)


Maker = Callable[[Carried], Recipe | None]
FAMILIES: Registry[Recipe | Maker] = Registry("family")


def recipes_for(carried: Carried) -> dict[str, Recipe]:
    """Recipes of the families that graphs can have, by name; also of blocks and embeddings from outside."""
    made = {name: one if isinstance(one, Recipe) else one(carried) for name, one in FAMILIES.items()}
    recipes = {name: recipe for name, recipe in made.items() if recipe is not None}
    for kind in carried.kinds:
        if kind not in BUILT_IN:
            recipes |= recipes_of_blocks([f"{kind}@0"])
    for name, embedding in EMBEDDINGS.items():
        if name not in _EMBEDDINGS:
            own = _levels(["trees"], 2) if embedding.takes_columns else _levels(_own(carried), 0)
            recipes |= recipes_of_blocks(own, name)
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
FAMILIES["trees with stereo"] = _trees(
    "+edges+first+stereo", f"{_NODES}, with handedness", lambda carried: carried.stereo
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
    "pairs+first@0",
    "pairs of nodes by first labels, and how far apart they are",
    lambda carried: carried.several_labels,
)
FAMILIES["pairs of coarse atoms"] = _pairs(
    "pairs+coarse@0",
    "pairs of donors, acceptors, charges, rings, and how far apart they are",
    lambda carried: carried.coarse,
)
FAMILIES["bare pairs"] = _pairs("pairs+bare@0", "lengths of shortest paths", lambda carried: carried.labelled)
FAMILIES["size"] = Recipe("structure", (("size@0",),), "mean", "numbers of nodes and edges")

FAMILIES["counts"] = lambda carried: Recipe(
    "structure", (("trees@0", *["trees+bare@0"] * carried.labelled),), LINEAR, "numbers of nodes by label and degree"
)
FAMILIES["vectors of graphs"] = lambda carried: (
    Recipe("vectors of graphs", (), WHOLE, "vectors of whole graphs") if carried.vectors else None
)

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


_EVERY = ("mean", "density", "reference")
_CLOUDS: list[tuple[str, str, str, _Sets, Sequence[str]]] = [
    ("attributes", "attributes", "attributes of nodes", _attributes, _EVERY),
    ("nodes", "attributes", "what nodes carry", _carried, _EVERY),
    ("structure", "structure", "degrees, triangles and walks", _structure, ("mean", "density")),
    ("codes", "surroundings", "what nodes carry, with their surroundings", _coded, _EVERY),
    ("edges around nodes", "edges", "what edges carry, around nodes", _around, ("mean", "density")),
    ("strength", "edges", "weights of edges, around nodes", _strength, ("mean", "density")),
    ("edges", "edges", "what edges carry, and their ends", _edges, ("mean",)),
]
_IN_WORDS = {"mean": "on average", "density": "by their density", "reference": "by transport"}


def _cloud(kind: str, words: str, sets_of: _Sets, embedding: str) -> Maker:
    def made(carried: Carried) -> Recipe | None:
        sets = sets_of(carried)
        return Recipe(kind, tuple(sets), embedding, f"{words} ({_IN_WORDS[embedding]})") if sets else None

    return made


for _title, _kind, _words, _sets_of, _embeddings in _CLOUDS:
    for _embedding in _embeddings:
        FAMILIES[f"{_title}, {_embedding}"] = _cloud(_kind, _words, _sets_of, _embedding)
