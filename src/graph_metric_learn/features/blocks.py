"""Named blocks of node features: attributes, labels, degrees and structure at several hops, Weisfeiler-Lehman trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._core.schema import FieldError, OwnState, Saved, array, within
from ..graphs.collection import Graphs
from ..graphs.convert import as_graphs
from .block_kind import BLOCKS, VIEWS, Block, BlockOptions, SmoothBlock, seen
from .carried import Attributes, Labels
from .edge_cloud import EdgeEnds, EdgeOwn, EdgeTrees, edge_rows
from .edge_sums import Around
from .label_pairs import Pairs
from .structure import Degree, Size, Strength, Structure
from .tree_hashes import TreeCodes, Trees

__all__ = ["BLOCKS", "Block", "BlockName", "NodeBlocks", "SmoothBlock", "available_kinds", "cloud_of", "parse_name"]

# In the order in which they are listed and computed.
BLOCKS.update({
    "attributes": Attributes, "labels": Labels, "degree": Degree, "structure": Structure, "size": Size,
    "wl": TreeCodes, "trees": Trees, "around": Around, "strength": Strength,
    "edge": EdgeOwn, "ends": EdgeEnds, "edge_trees": EdgeTrees,
    "pairs": Pairs,
})  # fmt: skip
BUILT_IN = tuple(BLOCKS)
_CONSTANT = 1e-12  # mean square of a column that never varies
MAX_LEVEL = 100  # hops or depth of trees


class BlockScale(Saved):
    """Of the columns of a named block."""

    centre: Annotated[np.ndarray, array("q")]
    scale: Annotated[np.ndarray, array("q", least=0.0)]


class BlocksState(Saved):
    """What files hold of :class:`NodeBlocks`."""

    params: BlockOptions
    kinds: list[str]
    names: Annotated[list[str], Meta(min_length=1)]
    label_kind: str
    scales: dict[str, BlockScale]  # by name
    features: dict[str, OwnState]  # by source

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise FieldError("names", "holds an entry twice")
        sources = {parse_name(name, "blocks.names").source for name in self.names}
        scaled = {name for name in self.names if BLOCKS[parse_name(name).kind].scaling != "none"}
        for what, wanted, there in (("features", sources, self.features), ("scales", scaled, self.scales)):
            for name in wanted.symmetric_difference(there):
                raise FieldError(f"{what}.{name}", "is missing" if name in wanted else "is not known")


class BlockName(NamedTuple):
    """What the name of a block says, such as "trees+edges@2"."""

    kind: str
    views: tuple[str, ...]
    level: int

    @property
    def source(self) -> str:
        """The name without its level: blocks that are computed together."""
        return "+".join([self.kind, *self.views])


class NodeBlocks(BaseEstimator):
    """Blocks of node features by name, each centred and scaled to a mean squared norm of 1 over nodes seen in `fit`.

    A name is a kind (a key of `BLOCKS`), views (keys of `VIEWS`, if any), and a level. "attributes@0", "labels@2",
    "degree@1", "structure@0" (see :func:`local_structure`) and "size@0" (see :func:`graph_size`) are features smoothed
    over that many hops. "wl@3" and "trees@3" stand for the tree of depth 3 around a node, which the Weisfeiler-Lehman
    label of level 3 names: "wl" has a vector for each tree, the same for equal ones, nearly orthogonal for different
    ones; "trees" has its name, a 64-bit hash.

    "wl+edges@3" sees labels and directions of edges, "attributes+edges@1" their weights; "wl+first@3" sees only the
    first of several labels. "trees+stereo@3" sees the handedness of atoms and sides of double bonds, "trees+coarse@3"
    what atoms are to other molecules, in place of labels. "around@0" and "strength@0" are what edges carry around a
    node (see :func:`edge_sums`, :func:`node_strength`); "edge@0", "ends@1" and "edge_trees@1" describe edges
    themselves, and have a row for each of them.

    Parameters
    ----------
    code_size : int
        Columns of a "wl" block.

    Attributes
    ----------
    kinds_ : list of str
        What the fitted graphs can have: all kinds, but those of what nodes and edges carry only where they carry it.
    blocks_ : dict of Block
        The fitted kinds that are in use.
    centres_, scales_ : dict of ndarray [q]
        Of the named blocks.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> blocks = NodeBlocks().fit([(adjacency, np.array([[1.0], [2.0], [3.0]]))], ["attributes@0", "wl@1"])
    >>> [block.shape for block in blocks.transform([(adjacency, np.eye(3)[:, :1])])]
    [(3, 1), (3, 32)]
    """

    def __init__(self, code_size: int = 32) -> None:
        self.code_size = code_size

    def fit(self, graphs: Any, names: Sequence[str], sample: np.ndarray | None = None) -> NodeBlocks:
        """Learns the columns of the named blocks from graphs (anything `as_graphs` takes), and their scale.

        The scale is that of a sample of the graphs: indices [s], all when None.
        """
        self._fit(as_graphs(graphs), names, sample)
        return self

    def fit_transform(self, graphs: Any, names: Sequence[str], sample: np.ndarray | None = None) -> list[Any]:
        """As `fit`; returns the blocks [S, q] of the sample as `transform` does, computed once."""
        return self._all_scaled(self._fit(as_graphs(graphs), names, sample))

    def _fit(self, graphs: Graphs, names: Sequence[str], sample: np.ndarray | None) -> list[Any]:
        """The blocks of the sample before centring and scaling."""
        self.kinds_ = available_kinds(graphs)
        parsed = {name: parse_name(name) for name in names}
        for name in names:
            lacking = BLOCKS[parsed[name].kind].lacks(graphs)
            if lacking is not None:
                raise ValueError(f"block {name!r} needs {lacking}, which the graphs do not carry")
        self.names_ = list(names)
        self.label_kind_ = _label_kind(graphs)
        sampled, options = graphs if sample is None else graphs[sample], BlockOptions(self.code_size)
        self.blocks_ = {
            one.source: BLOCKS[one.kind](options).fit(seen(graphs, one.views), seen(sampled, one.views))
            for one in {one.source: one for one in parsed.values()}.values()
        }
        self.centres_: dict[str, np.ndarray] = {}
        self.scales_: dict[str, np.ndarray] = {}
        raw = self._raw(sampled)
        for name, block in zip(self.names_, raw, strict=True):
            scaling = BLOCKS[parsed[name].kind].scaling
            if scaling != "none":
                self.centres_[name], self.scales_[name] = _centre_and_scale(_with_points(block), scaling)
        return raw

    def transform(self, graphs: Any) -> list[Any]:
        """The blocks [S, q] in the order of the names: float32, or names of trees (uint64)."""
        check_is_fitted(self, "names_")
        collection = as_graphs(graphs)
        if _label_kind(collection) != self.label_kind_ and any(block.reads_labels for block in self.blocks_.values()):
            raise ValueError(f"nodes carry {_label_kind(collection)}, those that were fitted {self.label_kind_}")
        return self._all_scaled(self._raw(collection))

    def sizes(self, graphs: Graphs) -> dict[str, np.ndarray]:
        """How many points each graph has [G], in the cloud of its nodes and, if a block needs it, of its edges."""
        sizes = {"nodes": graphs.sizes}
        if any(block.cloud == "edges" for block in self.blocks_.values()):
            sizes["edges"] = edge_rows(graphs)[1]
        return sizes

    def _all_scaled(self, raw: list[Any]) -> list[Any]:
        """Blocks centred and scaled, names of trees as they are; the point of a graph without edges is the mean."""
        blocks = list(raw)
        for i, name in enumerate(self.names_):
            if name in self.centres_:
                blocks[i] = (blocks[i] - self.centres_[name]) * self.scales_[name]
                if BLOCKS[parse_name(name).kind].cloud == "edges":
                    np.nan_to_num(blocks[i], copy=False)
        return blocks

    def _raw(self, graphs: Graphs) -> list[Any]:
        """The blocks before centring and scaling."""
        parsed = [parse_name(name) for name in self.names_]
        shared: dict[tuple[str, ...], dict[str, Any]] = {}
        by_name: dict[tuple[str, int], Any] = {}
        for source, block in self.blocks_.items():
            views = next(name.views for name in parsed if name.source == source)
            levels = sorted({name.level for name in parsed if name.source == source})
            at_levels = block.at_levels(seen(graphs, views), levels, shared.setdefault(views, {}))
            by_name |= {(source, level): values for level, values in zip(levels, at_levels, strict=True)}
        return [by_name[name.source, name.level] for name in parsed]

    def only(self, names: Sequence[str]) -> NodeBlocks:
        """The same transformer for some of its blocks, each named once or several times."""
        fewer, names = clone(self), list(dict.fromkeys(names))
        fewer.kinds_, fewer.label_kind_, fewer.names_ = self.kinds_, self.label_kind_, names
        used = {parse_name(name).source for name in names}
        fewer.blocks_ = {source: block for source, block in self.blocks_.items() if source in used}
        fewer.centres_ = {name: self.centres_[name] for name in names if name in self.centres_}
        fewer.scales_ = {name: self.scales_[name] for name in names if name in self.scales_}
        return fewer

    def saved(self) -> BlocksState:
        """All that was fitted, as files describe it."""
        check_is_fitted(self, "names_")
        scales = {name: BlockScale(centre, self.scales_[name]) for name, centre in self.centres_.items()}
        features = {source: OwnState(*block.state()) for source, block in self.blocks_.items()}
        return BlocksState(BlockOptions(self.code_size), self.kinds_, self.names_, self.label_kind_, scales, features)

    @classmethod
    def of(cls, saved: BlocksState) -> NodeBlocks:
        """The transformer that `saved` came from, or a :class:`FieldError`."""
        blocks = cls(saved.params.code_size)
        blocks.kinds_, blocks.names_, blocks.label_kind_ = saved.kinds, saved.names, saved.label_kind
        blocks.centres_ = {name: one.centre for name, one in saved.scales.items()}
        blocks.scales_ = {name: one.scale for name, one in saved.scales.items()}
        blocks.blocks_ = {}
        parsed = {name: parse_name(name) for name in saved.names}
        for source, kind in {one.source: one.kind for one in parsed.values()}.items():
            block = blocks.blocks_[source] = BLOCKS[kind](saved.params)
            with within(f"features.{source}"):
                block.set_state(saved.features[source].config, saved.features[source].arrays)
        for name, centre in blocks.centres_.items():
            widths = blocks.blocks_[parsed[name].source].widths()
            if widths is not None and len(centre) not in widths:
                raise FieldError(f"scales.{name}.centre", f"has {len(centre)} numbers for {widths[0]} columns")
        return blocks

    def columns(self, name: str) -> int:
        """How many columns a named block has; names of trees are one."""
        return len(self.centres_[name]) if name in self.centres_ else 1


def available_kinds(graphs: Graphs) -> list[str]:
    """Kinds of blocks that these graphs can have."""
    return [kind for kind, block in BLOCKS.items() if block.lacks(graphs) is None and block.worth_trying(graphs)]


def parse_name(name: str, where: str = "block") -> BlockName:
    """Kind, views and level of a named block; `where` it stands, for the message.

    >>> parse_name("wl@2")
    BlockName(kind='wl', views=(), level=2)
    >>> parse_name("trees+first+edges@1").source
    'trees+edges+first'
    """
    source, _, level = name.partition("@")
    kind, *views = source.split("+")
    if kind not in BLOCKS or not (level.isascii() and level.isdigit()):
        raise ValueError(f"unknown {where} {name!r}: use one of {', '.join(BLOCKS)} with @ and a number, as in 'wl@2'")
    if len(level) > 3 or int(level) > MAX_LEVEL:
        raise ValueError(f"{where} {name!r} has a level of more than {MAX_LEVEL}")
    if not set(views) <= set(VIEWS):
        raise ValueError(f"unknown view in {name!r}: use some of {', '.join(VIEWS)}, as in 'wl+edges@2'")
    if BLOCKS[kind].needs_edges:
        views.append("edges")
    return BlockName(kind, tuple(sorted(set(views))), int(level))


def cloud_of(names: Sequence[str]) -> str:
    """Of what the named blocks are: "nodes" or "edges"."""
    clouds = {BLOCKS[parse_name(name).kind].cloud for name in names}
    if len(clouds) > 1:
        raise ValueError(f"blocks of nodes and blocks of edges cannot be mixed: {', '.join(names)}")
    return clouds.pop()


def _centre_and_scale(block: np.ndarray, scaling: str) -> tuple[np.ndarray, np.ndarray]:
    """Means and factors [q], float32, by which rows [S, q] get a mean squared norm of 1; see `Block.scaling`."""
    centre = block.mean(0, dtype=np.float64).astype(np.float32)
    spread = np.asarray(np.mean((block - centre) ** 2, axis=0, dtype=np.float64))
    if scaling == "together":
        spread[:] = spread.mean()
    varies = spread > _CONSTANT  # constant columns get scale 0
    return centre, np.sqrt(varies / np.where(varies, spread, 1.0) / max(1, varies.sum())).astype(np.float32)


def _with_points(block: np.ndarray) -> np.ndarray:
    """Rows [S, q] without those that stand for a graph without edges."""
    empty = np.isnan(block[:, :1]).any(1)
    return np.nan_to_num(block) if empty.all() else block[~empty]


def _label_kind(graphs: Graphs) -> str:
    """What the labels of nodes are, in words: labels of another kind have other codes."""
    if graphs.labels is None:
        return "no labels"
    kind = "strings" if graphs.labels.dtype.kind in "USO" else "whole numbers"
    return f"{graphs.labels.shape[1]} label(s) each, {kind}"
