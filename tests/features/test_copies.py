import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.features.copies import copy_groups
from graph_metric_learn.graphs import as_graphs


def renumbered(adjacency, x, order):
    return adjacency[np.ix_(order, order)], x[order]


@pytest.mark.parametrize("directed", [False, True])
def test_renumbered_graphs_are_copies_and_others_are_not(rng, directed):
    weights = np.triu(rng.normal(size=(8, 8)), 1)
    weights = weights if directed else weights + weights.T
    x = rng.normal(size=(8, 2))
    other_weights, other_x = weights.copy(), x.copy()
    other_weights[0, 1] += 0.5
    other_weights[1, 0] += 0.5 * (not directed)
    other_x[3, 1] += 0.01
    given = [(weights, x), renumbered(weights, x, rng.permutation(8)), (other_weights, x), (weights, other_x)]
    assert copy_groups(as_graphs(given, directed=directed)).tolist() == [0, 0, 1, 2]


def test_labels_count():
    rings = [nx.cycle_graph(5) for _ in range(3)]
    for ring, label in zip(rings, ("C", "N", "C"), strict=True):
        nx.set_node_attributes(ring, label, "element")
    assert copy_groups(as_graphs(rings, label="element")).tolist() == [0, 1, 0]


def test_rings_of_other_sizes_are_no_copies():
    assert len(set(copy_groups(as_graphs([nx.cycle_graph(n) for n in range(4, 10)])).tolist())) == 6
