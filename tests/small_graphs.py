"""Random small graphs with one-hot or continuous features, and the same with their nodes in another order."""

import numpy as np


def random_graph(rng, n, *, kind="attributes"):
    """(adjacency, features): about two edges per node, sometimes in pieces; 3 labels or 3 normal attributes."""
    upper = np.triu(rng.random((n, n)) < min(1.0, 2.5 / n), 1)
    x = rng.normal(size=(n, 3)) if kind == "attributes" else np.eye(3)[rng.integers(0, 3, n)]
    return (upper | upper.T).astype(float), x


def random_graphs(rng, count=6, *, kind="attributes", smallest=1, largest=9):
    return [random_graph(rng, int(n), kind=kind) for n in rng.integers(smallest, largest + 1, count)]


def renumbered(graph, rng):
    """The same (adjacency, features) with its nodes in another order."""
    adjacency, x = graph
    order = rng.permutation(len(x))
    return adjacency[np.ix_(order, order)], x[order]


def path(n):
    adjacency = np.zeros((n, n))
    adjacency[np.arange(n - 1), np.arange(1, n)] = 1
    return adjacency + adjacency.T


def star(leaves):
    adjacency = np.zeros((leaves + 1, leaves + 1))
    adjacency[0, 1:] = adjacency[1:, 0] = 1
    return adjacency
