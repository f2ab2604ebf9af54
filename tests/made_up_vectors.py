"""Vectors of graphs that a test makes up, and their squared distances."""

import numpy as np


def squares_of(vectors, others=None):
    """Squared distances, coordinate by coordinate."""
    vectors = np.asarray(vectors, dtype=float)
    others = vectors if others is None else np.asarray(others, dtype=float)
    return ((vectors[:, None] - others[None]) ** 2).sum(2)


def single_nodes(vectors):
    """Graphs of one node each, whose features are these rows [N, q]."""
    return [(np.zeros((1, 1)), row[None]) for row in np.asarray(vectors, dtype=float)]
