"""Random graphs and point clouds to measure on, most of them with the sizes of NCI1's molecules."""

from __future__ import annotations

import numpy as np

from graph_metric_learn.graphs import Graphs
from graph_metric_learn_reproduction.experiments.figure1 import DIMENSION

LABELS = 37  # kinds of atoms in NCI1

# How many of NCI1's 4110 molecules have 3, 4, … 111 atoms.
_NCI1_COUNTS = [
    1, 0, 1, 0, 0, 10, 9, 14, 24, 40, 47, 49, 71, 95, 121, 126, 168, 175, 179, 167, 193, 181, 167, 167, 152, 172, 128,
    122, 124, 108, 108, 104, 100, 73, 90, 80, 75, 76, 41, 44, 49, 21, 26, 31, 20, 18, 18, 17, 12, 12, 18, 15, 6, 17, 9,
    9, 11, 16, 14, 12, 18, 13, 9, 13, 7, 6, 3, 10, 5, 0, 2, 3, 4, 5, 6, 5, 6, 4, 2, 4, 2, 4, 2, 2, 0, 1, 0, 5, 2, 3, 2,
    0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 2, 0, 0, 0, 1,
]  # fmt: skip
NCI1_SIZES = np.repeat(np.arange(3, 3 + len(_NCI1_COUNTS)), _NCI1_COUNTS)  # [4110], ascending


def relu_clouds(rng: np.random.Generator, sizes: np.ndarray) -> list[np.ndarray]:
    """Normal points after a ReLU, float32 [n, 5] for each size n."""
    return [np.maximum(rng.normal(size=(int(n), DIMENSION)), 0).astype(np.float32) for n in sizes]


def rings_with_chords(rng: np.random.Generator, count: int, n: int) -> Graphs:
    """Rings of n nodes with the same three random chords per ten nodes, and five normal features per node."""
    sizes = np.full(count, n)
    ring = np.arange(n)
    tails = np.concatenate([ring, rng.integers(0, n, 3 * n // 10)])
    heads = np.concatenate([(ring + 1) % n, rng.integers(0, n, 3 * n // 10)])
    keys = np.unique(np.concatenate([tails * n + heads, heads * n + tails])[np.tile(tails != heads, 2)])
    one = np.stack([keys // n, keys % n])
    edges = (one[:, None] + np.arange(count)[None, :, None] * n).reshape(2, -1)
    return Graphs(sizes, edges, rng.normal(size=(count * n, 5)).astype(np.float32))


def labelled_rings(rng: np.random.Generator, count: int) -> Graphs:
    """Rings with sizes drawn from NCI1's and one-hot features of random labels."""
    sizes = rng.choice(NCI1_SIZES, count)
    ends = np.cumsum(sizes)
    node, owner = np.arange(ends[-1]), np.repeat(np.arange(count), sizes)
    after = np.where(node + 1 == ends[owner], (ends - sizes)[owner], node + 1)
    edges = np.concatenate([np.stack([node, after]), np.stack([after, node])], 1)
    x = np.eye(LABELS, dtype=np.float32)[rng.integers(0, LABELS, len(node))]
    return Graphs(sizes, edges, x)
