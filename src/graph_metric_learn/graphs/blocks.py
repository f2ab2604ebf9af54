"""Named blocks of node features: attributes, labels and degrees at several hops, Weisfeiler-Lehman codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .collection import Graphs
from .convert import as_graphs
from .features import NodeFeatures
from .propagation import propagate
from .wl import code_vectors, wl_hashes

KINDS = ("attributes", "labels", "degree", "wl")
_EXACT_DEGREES = 32  # larger ones share columns, each for degrees up to a quarter larger


class NodeBlocks(BaseEstimator):
    """Blocks of node features by name, each centred and scaled to a mean squared norm of 1 over nodes seen in `fit`.

    A name is a kind and a number: "attributes@0", "labels@2", "degree@1" are the features smoothed over that many hops
    (symmetrically normalised); "wl@3" codes the Weisfeiler-Lehman label of level 3, which stands for the tree of depth
    3 around a node: equal trees have equal codes, different ones nearly orthogonal codes.

    Parameters
    ----------
    code_size : int
        Columns of a "wl" block.

    Attributes
    ----------
    kinds_ : list of str
        What the fitted graphs have: "degree" and "wl" always, "attributes" and "labels" where nodes carry them.
    centres_, scales_ : dict
        Of the blocks that were fitted.

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
        """Learns the columns of the named blocks from graphs (anything `as_graphs` takes), their scale from a sample
        of them (indices; all when None).
        """
        given = as_graphs(graphs)
        self.kinds_ = available_kinds(given)
        for name in names:
            kind, _ = _parse(name)
            if kind not in self.kinds_:
                raise ValueError(f"block {name!r}, but the nodes of the graphs carry no {kind}")
        self.features_ = {
            kind: NodeFeatures(kind).fit(given)
            for kind in ("attributes", "labels")
            if any(_parse(name)[0] == kind for name in names)
        }
        self.names_ = list(names)
        self.label_kind_ = _label_kind(given)
        self.centres_: dict[str, np.ndarray] = {}
        self.scales_: dict[str, float] = {}
        for name, block in zip(self.names_, self._raw(given if sample is None else given[sample]), strict=True):
            centre = block.mean(0, dtype=np.float64)
            norm = float(np.sqrt(np.mean(((block - centre) ** 2).sum(1))))
            self.centres_[name] = centre.astype(np.float32)
            self.scales_[name] = 1.0 / norm if norm > 1e-9 else 0.0  # a block that never varies says nothing
        return self

    def transform(self, graphs: Any) -> list[np.ndarray]:
        """The blocks [S, q], float32, in the order of the names."""
        check_is_fitted(self, "names_")
        given = as_graphs(graphs)
        if _label_kind(given) != self.label_kind_ and any(name.startswith("wl@") for name in self.names_):
            raise ValueError(f"nodes carry {_label_kind(given)}, those that were fitted {self.label_kind_}")
        return [
            (block - self.centres_[name]) * np.float32(self.scales_[name])
            for name, block in zip(self.names_, self._raw(given), strict=True)
        ]

    def _raw(self, given: Graphs) -> list[np.ndarray]:
        """The blocks before centring and scaling; what several need is computed once."""
        parsed = [_parse(name) for name in self.names_]
        far = {kind: max((number for k, number in parsed if k == kind), default=-1) for kind in KINDS}
        smooth: dict[tuple[str, int], np.ndarray] = {}
        for kind in ("attributes", "labels", "degree"):
            if far[kind] >= 0:
                start = _degree_columns(given.degrees) if kind == "degree" else self.features_[kind].transform(given).x
                assert start is not None
                smooth[kind, 0] = start
                for hop in range(1, far[kind] + 1):
                    smooth[kind, hop] = propagate(replace(given, x=smooth[kind, hop - 1]), 1)
        if far["wl"] >= 0:
            for level, hashes in enumerate(wl_hashes(given, far["wl"])):
                smooth["wl", level] = code_vectors(hashes, self.code_size)
        return [smooth[place] for place in parsed]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that was fitted: what JSON can hold, and arrays."""
        check_is_fitted(self, "names_")
        config = {
            "code_size": self.code_size, "kinds": self.kinds_, "names": self.names_, "scales": self.scales_,
            "label_kind": self.label_kind_,
            "features": {kind: features.state() for kind, features in self.features_.items()},
        }  # fmt: skip
        return config, dict(self.centres_)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NodeBlocks:
        """The transformer that `state` came from."""
        blocks = cls(config["code_size"])
        blocks.kinds_, blocks.names_, blocks.scales_ = config["kinds"], config["names"], config["scales"]
        blocks.label_kind_ = config["label_kind"]
        blocks.features_ = {kind: NodeFeatures.from_state(state) for kind, state in config["features"].items()}
        blocks.centres_ = dict(arrays)
        return blocks


def available_kinds(graphs: Graphs) -> list[str]:
    """Kinds of blocks that these graphs can have."""
    kinds = ["attributes"] if graphs.x is not None else []
    return [*kinds, *(["labels"] if graphs.labels is not None else []), "degree", "wl"]


def _label_kind(graphs: Graphs) -> str:
    """What the labels of nodes are, in words: labels of another kind have other codes."""
    if graphs.labels is None:
        return "no labels"
    kind = "strings" if graphs.labels.dtype.kind in "USO" else "whole numbers"
    return f"{graphs.labels.shape[1]} label(s) each, {kind}"


def _parse(name: str) -> tuple[str, int]:
    kind, _, number = name.partition("@")
    if kind not in KINDS or not number.isdigit():
        raise ValueError(f"unknown block {name!r}: use one of {', '.join(KINDS)} with @ and a number, as in 'wl@2'")
    return kind, int(number)


def _degree_columns(degrees: np.ndarray) -> np.ndarray:
    """One column for each degree up to 32, then one for every quarter more; 60 columns reach 10^4 [S, columns]."""
    large = _EXACT_DEGREES + np.ceil(np.log(np.maximum(degrees, 1) / _EXACT_DEGREES) / np.log(1.25))
    place = np.where(degrees <= _EXACT_DEGREES, degrees, large).astype(int)
    columns = np.zeros((len(degrees), _EXACT_DEGREES + 48), dtype=np.float32)
    columns[np.arange(len(degrees)), np.minimum(place, columns.shape[1] - 1)] = 1.0
    return columns
