"""Weisfeiler-Lehman labels as hashes, and codes for them: no table, so new graphs and new labels just work."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..graphs.collection import Graphs

_ODD = np.uint64(0x9E3779B97F4A7C15)


def wl_hashes(graphs: Graphs, levels: int) -> np.ndarray:
    """A 64-bit name for the tree of depth 0, 1, … `levels` around each node [levels + 1, S].

    Level 0 is the node's labels (its degree, where nodes have no labels); level l + 1 is a hash of the node's name at
    level l and of the multiset of its neighbours' names. Equal trees have equal names; different ones differ but for
    an accident of 1 in 2^64 per pair. No name depends on the other graphs.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> path = as_graphs([(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), None)])
    >>> [len(np.unique(names)) for names in wl_hashes(path, 2)]
    [2, 2, 2]
    """
    names = [_start(graphs)]
    tails, heads = graphs.edges
    order = np.argsort(tails, kind="stable")
    ends = np.cumsum(np.bincount(tails, minlength=int(graphs.sizes.sum())))
    with np.errstate(over="ignore"):
        for _ in range(levels):
            running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mix(names[-1] ^ _ODD)[heads[order]])])
            around = running[ends] - running[np.concatenate([[0], ends[:-1]])]  # sums modulo 2^64
            names.append(_mix(_mix(names[-1]) * _ODD + around))
    return np.stack(names)


def code_vectors(names: np.ndarray, size: int) -> np.ndarray:
    """For each name a vector of ±1/√size that depends on it alone [S, size]: nearly orthogonal for different ones.

    So the squared distance of two nodes is 0 where their names agree, and about 2 where they do not.
    """
    with np.errstate(over="ignore"):
        salt = _mix(np.arange(1, (size + 63) // 64 + 1, dtype=np.uint64) * _ODD)
        words = _mix(names[:, None] ^ salt[None, :])
    bits = np.unpackbits(words.astype("<u8").view(np.uint8).reshape(len(names), -1), axis=1, bitorder="little")
    return (2.0 * bits[:, :size].astype(np.float32) - 1.0) / np.float32(np.sqrt(size))


def _start(graphs: Graphs) -> np.ndarray:
    if graphs.labels is None:
        return _mix(graphs.degrees.astype(np.uint64))
    name = np.zeros(len(graphs.labels), np.uint64)
    with np.errstate(over="ignore"):
        for column in graphs.labels.T:
            if column.dtype.kind in "iub":
                values = column.astype(np.int64).view(np.uint64)
            else:
                texts, place = np.unique(column, return_inverse=True)
                digests = [blake2b(str(text).encode(), digest_size=8).digest() for text in texts]
                values = np.frombuffer(b"".join(digests), "<u8")[place]
            name = _mix(name * _ODD + _mix(values))
    return name


def _mix(x: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that spreads every bit over all (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
