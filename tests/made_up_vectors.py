"""Vectors of two classes, and distances with parameters on them, for tests of learning."""

import numpy as np

from graph_metric_learn._core.linear import principal_directions
from graph_metric_learn.metrics.automatic.reweighting import GroupWeights, LowRank, group_squares


def squares_of(vectors):
    return ((vectors[:, None] - vectors[None]) ** 2).sum(2)


def made_up(rng, count=150, informative=1, noise=12):
    """Two classes that differ in one column of many."""
    codes = np.arange(count) % 2
    vectors = rng.normal(size=(count, informative + noise)).astype(np.float32)
    vectors[:, :informative] = 3.0 * codes[:, None] + rng.normal(size=(count, informative))
    return vectors, codes


def models(vectors, around):
    groups = [np.arange(vectors.shape[1])]
    parts = group_squares([vectors[:, None, :]], groups, around.near)
    places = vectors @ principal_directions(vectors, 3)
    return {
        "weights": GroupWeights(parts),
        "low rank": LowRank(parts.sum(2), places[:, None, :] - places[around.near]),
    }
