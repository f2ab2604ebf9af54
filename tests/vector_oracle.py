"""Slow, obvious search among vectors, and states of random ones: what the index is compared with."""

import numpy as np

from graph_metric_learn.index.rows import Axes, Batch, State, appended


def distances_to(vectors, query):
    """All distances, by plain sums in float64."""
    return np.sqrt(((np.asarray(vectors, dtype=np.float64) - np.asarray(query, dtype=np.float64)) ** 2).sum(1))


def nearest_rows(vectors, query, k, dead=()):
    """Distances and rows of the k nearest, equal ones by row, without the dead."""
    distances = distances_to(vectors, query)
    distances[list(dead)] = np.inf
    order = np.argsort(distances, kind="stable")[:k]
    return distances[order], order


def decaying(rng, n, d, decay=1.0):
    """Vectors whose coordinates get smaller, turned by a random rotation so that no axis shows it."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(d, d)))[0]
    return ((rng.normal(size=(n, d)) * (1.0 + np.arange(d)) ** -decay) @ turn).astype(np.float32)


def state_of(vectors, cuts=(), dead=()):
    """A state of vectors that were added in parts which end at the cuts, with axes of all of them."""
    axes, state = Axes.fit(vectors), State()
    for lo, hi in zip([0, *cuts], [*cuts, len(vectors)], strict=True):
        state = appended(state, Batch(vectors[lo:hi], list(range(lo, hi))), axes)
    return state.without(np.array(dead, dtype=np.int64))
