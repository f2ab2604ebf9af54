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


def columns(rng, sizes, blocks=2, width=4):
    """Rows with a 1 in one of four columns, in each of two blocks."""
    one_hot = [np.eye(width)[rng.integers(width, size=sum(sizes))] for _ in range(blocks)]
    return sparse.csr_array(np.concatenate(one_hot, axis=1))
