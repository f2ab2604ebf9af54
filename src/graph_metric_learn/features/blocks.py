"""Named blocks of node features: attributes, labels, degrees and structure at several hops, Weisfeiler-Lehman trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..graphs.collection import Graphs
from ..graphs.convert import as_graphs
from .base import BLOCKS, Block, BlockOptions, SmoothBlock
from .carried import Attributes, Labels
from .degree import Degree
from .size import Size
from .structure import Structure
from .trees import TreeCodes, Trees

__all__ = ["BLOCKS", "Block", "NodeBlocks", "SmoothBlock", "available_kinds", "parse_name"]

# In the order in which they are listed and computed.
BLOCKS.update(
    {
        "attributes": Attributes,
        "labels": Labels,
        "degree": Degree,
        "structure": Structure,
        "size": Size,
        "wl": TreeCodes,
        "trees": Trees,
    }
)
_CONSTANT = 1e-12  # mean square of a column that never varies


class NodeBlocks(BaseEstimator):
    """Blocks of node features by name, each centred and scaled to a mean squared norm of 1 over nodes seen in `fit`.

    A name is a kind (a key of `BLOCKS`) and a level. "attributes@0", "labels@2", "degree@1", "structure@0" (see
    :func:`local_structure`) and "size@0" (see :func:`graph_size`) are features smoothed over that many hops. "wl@3" and
    "trees@3" stand for the tree of depth 3 around a node, which the Weisfeiler-Lehman label of level 3 names: "wl" has
    a vector for each tree, the same for equal ones, nearly orthogonal for different ones; "trees" has one column out of
    many, as a sparse array of 0 and 1, neither centred nor scaled.

    Parameters
    ----------
    code_size, n_columns : int
        Columns of a "wl" and of a "trees" block.

    Attributes
    ----------
    kinds_ : list of str
        What the fitted graphs can have: all kinds, but "attributes" and "labels" only where nodes carry them.
    blocks_ : dict of Block
        The fitted kinds that are in use.
    centres_, scales_ : dict of ndarray [q]
        Of the named blocks; columns of attributes, structure and size are scaled one by one.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> blocks = NodeBlocks().fit([(adjacency, np.array([[1.0], [2.0], [3.0]]))], ["attributes@0", "wl@1"])
    >>> [block.shape for block in blocks.transform([(adjacency, np.eye(3)[:, :1])])]
    [(3, 1), (3, 32)]
    """

    def __init__(self, code_size: int = 32, n_columns: int = 1024) -> None:
        self.code_size = code_size
        self.n_columns = n_columns

    def fit(self, graphs: Any, names: Sequence[str], sample: np.ndarray | None = None) -> NodeBlocks:
        """Learns the columns of the named blocks from graphs (anything `as_graphs` takes), their scale from a sample
        of them (indices; all when None).
        """
        given = as_graphs(graphs)
        self.kinds_ = available_kinds(given)
        used = dict.fromkeys(parse_name(name)[0] for name in names)
        for name in names:
            kind, _ = parse_name(name)
            if (kind == "attributes" and given.x is None) or (kind == "labels" and given.labels is None):
                raise ValueError(f"block {name!r}, but the nodes of the graphs carry no {kind}")
        self.names_ = list(names)
        self.label_kind_ = _label_kind(given)
        seen = given if sample is None else given[sample]
        self.blocks_ = {kind: BLOCKS[kind](self._options()).fit(given, seen) for kind in used}
        self.centres_: dict[str, np.ndarray] = {}
        self.scales_: dict[str, np.ndarray] = {}
        for name, block in zip(self.names_, self._raw(seen), strict=True):
            scaling = BLOCKS[parse_name(name)[0]].scaling
            if scaling != "none":
                self.centres_[name] = block.mean(0, dtype=np.float64).astype(np.float32)
                spread = np.asarray(np.mean((block - self.centres_[name]) ** 2, axis=0, dtype=np.float64))
                if scaling == "together":
                    spread[:] = spread.mean()
                varies = spread > _CONSTANT  # what never varies says nothing
                self.scales_[name] = np.sqrt(varies / np.where(varies, spread, 1.0) / max(1, varies.sum()))
                self.scales_[name] = self.scales_[name].astype(np.float32)
        return self

    def transform(self, graphs: Any) -> list[Any]:
        """The blocks [S, q], float32, in the order of the names."""
        check_is_fitted(self, "names_")
        given = as_graphs(graphs)
        if _label_kind(given) != self.label_kind_ and {"wl", "trees"} & self.blocks_.keys():
            raise ValueError(f"nodes carry {_label_kind(given)}, those that were fitted {self.label_kind_}")
        return [
            (block - self.centres_[name]) * self.scales_[name] if name in self.centres_ else block
            for name, block in zip(self.names_, self._raw(given), strict=True)
        ]

    def _options(self) -> BlockOptions:
        return BlockOptions(self.code_size, self.n_columns)

    def _raw(self, given: Graphs) -> list[Any]:
        """The blocks before centring and scaling."""
        parsed = [parse_name(name) for name in self.names_]
        shared: dict[str, Any] = {}
        found: dict[tuple[str, int], Any] = {}
        for kind, block in self.blocks_.items():
            levels = sorted({level for other, level in parsed if other == kind})
            at_levels = block.at_levels(given, levels, shared)
            found |= {(kind, level): values for level, values in zip(levels, at_levels, strict=True)}
        return [found[place] for place in parsed]

    def only(self, names: Sequence[str]) -> NodeBlocks:
        """The same transformer for some of its blocks."""
        fewer = clone(self)
        fewer.kinds_, fewer.label_kind_, fewer.names_ = self.kinds_, self.label_kind_, list(names)
        used = {parse_name(name)[0] for name in names}
        fewer.blocks_ = {kind: block for kind, block in self.blocks_.items() if kind in used}
        fewer.centres_ = {name: self.centres_[name] for name in names if name in self.centres_}
        fewer.scales_ = {name: self.scales_[name] for name in names if name in self.scales_}
        return fewer

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that was fitted: what JSON can hold, and arrays."""
        check_is_fitted(self, "names_")
        config: dict[str, Any] = {
            "params": self.get_params(), "kinds": self.kinds_, "names": self.names_, "label_kind": self.label_kind_,
            "features": {},
        }  # fmt: skip
        arrays = {f"centre {name}": value for name, value in self.centres_.items()}
        arrays |= {f"scale {name}": value for name, value in self.scales_.items()}
        for kind, block in self.blocks_.items():
            state, own = block.state()
            config["features"] |= {kind: state} if state else {}
            arrays |= {f"{what} {kind}": value for what, value in own.items()}
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NodeBlocks:
        """The transformer that `state` came from."""
        blocks = cls(**config["params"])
        blocks.kinds_, blocks.names_ = config["kinds"], config["names"]
        blocks.label_kind_ = config["label_kind"]
        blocks.blocks_ = {}
        blocks.centres_, blocks.scales_ = (
            {name: arrays[f"{what} {name}"] for name in blocks.names_ if f"{what} {name}" in arrays}
            for what in ("centre", "scale")
        )
        for kind in dict.fromkeys(parse_name(name)[0] for name in blocks.names_):
            block = blocks.blocks_[kind] = BLOCKS[kind](blocks._options())
            own = {name.removesuffix(f" {kind}"): value for name, value in arrays.items() if name.endswith(f" {kind}")}
            block.set_state(config["features"].get(kind, {}), own)
        return blocks


def available_kinds(graphs: Graphs) -> list[str]:
    """Kinds of blocks that these graphs can have."""
    return [kind for kind, block in BLOCKS.items() if block.available(graphs)]


def parse_name(name: str) -> tuple[str, int]:
    """Kind and level of a named block.

    >>> parse_name("wl@2")
    ('wl', 2)
    """
    kind, _, level = name.partition("@")
    if kind not in BLOCKS or not level.isdigit():
        raise ValueError(f"unknown block {name!r}: use one of {', '.join(BLOCKS)} with @ and a number, as in 'wl@2'")
    return kind, int(level)


def _label_kind(graphs: Graphs) -> str:
    """What the labels of nodes are, in words: labels of another kind have other codes."""
    if graphs.labels is None:
        return "no labels"
    kind = "strings" if graphs.labels.dtype.kind in "USO" else "whole numbers"
    return f"{graphs.labels.shape[1]} label(s) each, {kind}"
