"""Clouds of points for tests of embeddings."""

import numpy as np
from scipy import sparse

from graph_metric_learn.embeddings import EMBEDDINGS


def clouds(rng, sizes=(5, 9, 1, 16), dim=3, zeros=True):
    points = rng.normal(size=(sum(sizes), dim))
    if zeros:
        points = np.maximum(points, 0)
    return points.astype(np.float32), np.array(sizes)


def fitted(kind, points, sizes=None):
    sizes = np.array([points.shape[0]]) if sizes is None else sizes
    return EMBEDDINGS[kind]().fit(points, sizes, np.random.default_rng(0))


def names(rng, sizes, levels=2, different=4):
    """Names of points [S, levels], of each level one of a few 64-bit words; half of them are 2^63 or more."""
    words = np.random.default_rng(1).integers(0, 2**64, size=(different, levels), dtype=np.uint64)
    return words[rng.integers(different, size=(int(np.sum(sizes)), levels)), np.arange(levels)]


def drawn(kind, rng, sizes):
    """Points that an embedding takes: names, or points in space with ties among them."""
    if EMBEDDINGS[kind].takes_columns:
        return names(rng, sizes)
    return clouds(rng, tuple(sizes))[0]


def dense(vectors):
    """Vectors of clouds [G, D], float64."""
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    return vectors.reshape(len(vectors), -1).astype(float)
