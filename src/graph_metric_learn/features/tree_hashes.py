"""Weisfeiler-Lehman trees around nodes are hashed here: a tree has a 64-bit name that depends on no other graph.

There is no table of names, so new graphs and new labels just work. The blocks "wl" and "trees" are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from .._core.hashing import ODD, mix
from ..graphs.collection import Graphs
from .block_kind import Block


class TreeCodes(Block):
    """A vector for the tree of depth h around each node: the same for equal trees, nearly orthogonal for others."""

    reads_labels = True

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        names = shared_hashes(graphs, max(levels), shared)
        return [code_vectors(names[level], self.options.code_size) for level in levels]

    def widths(self) -> tuple[int, ...]:
        return (self.options.code_size,)


class Trees(Block):
    """The name of the tree of depth h around each node, a 64-bit hash: equal trees of one depth have equal names."""

    scaling = "none"
    categorical = True
    reads_labels = True
    n_columns = 1

    def at_levels(self, graphs: Graphs, levels: Sequence[int], shared: dict[str, Any]) -> list[Any]:
        names = shared_hashes(graphs, max(levels), shared)
        return [names_of_level(names[level], level) for level in levels]


def wl_hashes(graphs: Graphs, levels: int) -> np.ndarray:
    """A 64-bit name for the tree of depth 0, 1, … `levels` around each node [levels + 1, S].

    Level 0 is the node's labels (its degree, where nodes have no labels); level l + 1 is a hash of the node's name at
    level l and of the multiset of its neighbours' names, each with the labels of the edge to it, out- and in-neighbours
    apart, where edges carry labels or directions. Equal trees have equal names; different ones differ, but for
    a collision of probability 2^-64 per pair. No name depends on the other graphs.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> path = as_graphs([(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), None)])
    >>> [len(np.unique(names)) for names in wl_hashes(path, 2)]
    [2, 2, 2]
    """
    return np.stack(shared_hashes(graphs, levels, {}))


def shared_hashes(graphs: Graphs, deepest: int, shared: dict[str, Any]) -> list[np.ndarray]:
    """The hashes of levels 0 … `deepest`, [S] each; those that another kind of block needed are not computed again.

    What is around a node counts as a multiset: a sum of hashes of its neighbours, each with the labels and the
    direction of the edge to it.
    """
    names = shared.setdefault("tree hashes", [])
    if not names:  # depth 0: hashes of a node's labels, or of its degree where nodes have no labels
        names.append(mix(graphs.degrees.astype(np.uint64)) if graphs.labels is None else hashed_rows(graphs.labels))
        if graphs.stereo is not None:
            names[0] = _with_stereo(names[0], graphs.stereo)
    if len(names) > deepest:
        return names
    nodes, data = int(graphs.sizes.sum()), graphs.edge_data
    tails, heads = graphs.edges if data is None else data.ends
    labels = None if data is None or data.labels is None else hashed_rows(data.labels)
    sides = [_Grouped(tails, heads, nodes)]  # out, then in
    if data is not None and data.directed:
        sides.append(_Grouped(heads, tails, nodes))
    with np.errstate(over="ignore"):
        while len(names) <= deepest:
            own, around = mix(names[-1] ^ ODD), np.zeros(nodes, np.uint64)
            for incoming, side in enumerate(sides):
                messages = own[side.others]
                if labels is not None:
                    messages = mix(messages + labels[side.order])
                around += side.sums(mix(messages * ODD) if incoming else messages)
            names.append(mix(mix(names[-1]) * ODD + around))
    return names


def _with_stereo(names: np.ndarray, stereo: np.ndarray) -> np.ndarray:
    """Names of nodes [S] with their codes of stereochemistry [S]; the same as before where these are 0."""
    with np.errstate(over="ignore"):
        return np.where(stereo > 0, mix(names * ODD + mix(stereo.astype(np.uint64))), names)


class _Grouped:
    """Edges grouped by one of their ends: sums over the edges at each node by differences of running sums."""

    def __init__(self, at: np.ndarray, others: np.ndarray, nodes: int) -> None:
        self.order = np.argsort(at, kind="stable")
        self.others = others[self.order]
        self.ends = np.cumsum(np.bincount(at, minlength=nodes))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of values [A], in the order of the groups, at each node [S]; modulo 2^64."""
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
        return running[self.ends] - running[np.concatenate([[0], self.ends[:-1]])]


def code_vectors(names: np.ndarray, size: int) -> np.ndarray:
    """For each name a vector of ±1/√size that depends on it alone [S, size]: nearly orthogonal for different ones.

    So the squared distance of two nodes is 0 where their names agree, and about 2 where they do not.
    """
    with np.errstate(over="ignore"):
        salt = mix(np.arange(1, (size + 63) // 64 + 1, dtype=np.uint64) * ODD)
        words = mix(names[:, None] ^ salt[None, :])
    bits = np.unpackbits(words.astype("<u8").view(np.uint8).reshape(len(names), -1), axis=1, bitorder="little")
    return (2.0 * bits[:, :size].astype(np.float32) - 1.0) / np.float32(np.sqrt(size))


def names_of_level(names: np.ndarray, level: int) -> np.ndarray:
    """Names [S] as a column [S, 1], uint64, hashed with the level: trees of different depths never have the same.

    A lonely node without label would else be called 0 at all levels.
    """
    with np.errstate(over="ignore"):
        return mix(names + np.uint64(level + 1) * ODD)[:, None]


def hashed_rows(labels: np.ndarray) -> np.ndarray:
    """A 64-bit hash of each row of labels [S, L], whole numbers or strings."""
    name = np.zeros(len(labels), np.uint64)
    with np.errstate(over="ignore"):
        for column in labels.T:
            if column.dtype.kind in "iub":
                values = column.astype(np.int64).view(np.uint64)
            else:
                texts, index = np.unique(column, return_inverse=True)
                digests = [blake2b(str(text).encode(), digest_size=8).digest() for text in texts]
                values = np.frombuffer(b"".join(digests), "<u8")[index]
            name = mix(name * ODD + mix(values))
    return name
