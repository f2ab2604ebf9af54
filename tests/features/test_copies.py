import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.features.copies import copy_groups, graph_hashes
from graph_metric_learn.graphs import as_graphs
from small_graphs import renumbered


@pytest.mark.parametrize("directed", [False, True])
def test_renumbered_graphs_are_copies_and_others_are_not(rng, directed):
    weights = np.triu(rng.normal(size=(8, 8)), 1)
    weights = weights if directed else weights + weights.T
    x = rng.normal(size=(8, 2))
    other_weights, other_x = weights.copy(), x.copy()
    other_weights[0, 1] += 0.5
    other_weights[1, 0] += 0.5 * (not directed)
    other_x[3, 1] += 0.01
    given = [(weights, x), renumbered((weights, x), rng), (other_weights, x), (weights, other_x)]
    assert copy_groups(as_graphs(given, directed=directed)).tolist() == [0, 0, 1, 2]


def test_labels_count():
    rings = [nx.cycle_graph(5) for _ in range(3)]
    for ring, label in zip(rings, ("C", "N", "C"), strict=True):
        nx.set_node_attributes(ring, label, "element")
    assert copy_groups(as_graphs(rings, label="element")).tolist() == [0, 1, 0]


def test_rings_of_other_sizes_are_no_copies():
    assert len(set(copy_groups(as_graphs([nx.cycle_graph(n) for n in range(4, 10)])).tolist())) == 6


def test_a_hash_is_that_of_the_graph_whatever_others_there_are(rng):
    graphs = [nx.gnp_random_graph(6, 0.5, seed=seed) for seed in range(8)]
    for graph in graphs:
        for node in graph:
            graph.nodes[node].update(x=rng.normal(size=2).tolist(), element=str(rng.choice(["C", "N", "O"])))
    found = graph_hashes(as_graphs(graphs, label="element"))
    assert len(set(found.tolist())) == 8
    assert found.dtype == np.uint64
    relabelled = [nx.relabel_nodes(graph, {node: 5 - node for node in graph}) for graph in graphs[:2:-1]]
    np.testing.assert_array_equal(graph_hashes(as_graphs(relabelled, label="element")), found[:2:-1])


def test_values_are_told_apart_in_float32():
    """Whatever their scale, and the same in either precision; columns have their places, zero has no sign."""
    path = nx.to_numpy_array(nx.path_graph(4))
    x = np.array([[1.1, 2.2], [3.3, 4.4], [5.5, 6.6], [7.7, 8.8]])
    swapped = np.ascontiguousarray(x[:, ::-1])
    assert copy_groups(as_graphs([(path, x), (path, swapped)])).tolist() == [0, 1]
    for scale in (1e-9, 1.0, 1e9):
        given = as_graphs([(path, scale * x), (path, scale * (x + 0.001))])
        assert copy_groups(given).tolist() == [0, 1]
        single = as_graphs([(path, (scale * x).astype(np.float32))])
        assert graph_hashes(single)[0] == graph_hashes(given)[0]
    zero = np.zeros((4, 1))
    assert copy_groups(as_graphs([(path, zero), (path, -zero)])).tolist() == [0, 0]


def test_trees_of_depth_three_are_compared():
    """Two N in a ring of twelve, four or five apart."""
    rings = [nx.cycle_graph(12), nx.cycle_graph(12)]
    for ring, gap in zip(rings, (4, 5), strict=True):
        nx.set_node_attributes(ring, "C", "element")
        for node in (0, gap):
            ring.nodes[node]["element"] = "N"
    assert copy_groups(as_graphs(rings, label="element")).tolist() == [0, 1]


def test_vectors_of_whole_graphs_count():
    rings = [nx.cycle_graph(5) for _ in range(5)]
    for ring, age in zip(rings, (3, 4, None, 3, None), strict=True):
        ring.graph["age"] = age
    assert copy_groups(as_graphs(rings, graph_attribute="age")).tolist() == [0, 1, 2, 0, 2]
    assert copy_groups(as_graphs(rings)).tolist() == [0] * 5
