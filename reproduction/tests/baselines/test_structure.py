import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines.structure import (
    adjacencies,
    edge_lengths,
    hops,
    is_discrete,
    laplacian,
    node_labels,
    path_lengths,
    require_edge_data,
)
from small_graphs import random_graphs


def test_adjacencies_are_those_that_were_given(rng):
    graphs = random_graphs(rng, 8)
    for given, found in zip(graphs, adjacencies(as_graphs(graphs)), strict=True):
        np.testing.assert_array_equal(found, given[0])


def test_hops_and_laplacians_are_those_of_networkx(rng):
    for adjacency, _ in random_graphs(rng, 8, smallest=2):
        graph = nx.from_numpy_array(adjacency)
        expected = np.full(adjacency.shape, np.inf)
        for i, reached in nx.all_pairs_shortest_path_length(graph):
            expected[i, list(reached)] = list(reached.values())
        np.testing.assert_array_equal(hops(adjacency), expected)
        np.testing.assert_allclose(laplacian(adjacency, normalized=False), nx.laplacian_matrix(graph).toarray())
        expected = nx.normalized_laplacian_matrix(graph).toarray()
        np.testing.assert_allclose(laplacian(adjacency, normalized=True), expected, atol=1e-12)


def test_one_hot_rows_and_rows_of_zeros_are_discrete(rng):
    alone = np.zeros((3, 3))
    assert is_discrete(as_graphs([(alone, np.array([[1, 0], [0, 1], [0, 0]]))]))
    assert not is_discrete(as_graphs([(alone, np.array([[1, 0], [0, 1], [1, 1]]))]))
    assert not is_discrete(as_graphs([(alone, np.array([[1, 0], [0, 1], [0.5, 0]]))]))


def test_labels_are_equal_where_rows_are_equal_in_all_graphs():
    alone = np.zeros((2, 2))
    labels = node_labels(as_graphs([(alone, np.array([[1, 0], [0, 1]])), (alone, np.array([[0, 1], [0, 1]]))]))
    assert labels[1] == labels[2] == labels[3] != labels[0]


@pytest.mark.parametrize("directed", [False, True])
def test_lengths_of_paths_are_those_of_networkx(rng, directed):
    graphs = []
    for n in (5, 9, 1):
        graph = nx.gnp_random_graph(n, 0.3, seed=n, directed=directed)
        for ends in graph.edges:
            graph.edges[ends]["weight"] = float(rng.integers(0, 4))  # also edges of length 0
        graphs.append(graph)
    given = as_graphs(graphs)
    for graph, lengths in zip(graphs, edge_lengths(given), strict=True):
        expected = np.full((len(graph),) * 2, np.inf)
        for i, reached in nx.all_pairs_dijkstra_path_length(graph):
            expected[i, list(reached)] = list(reached.values())
        np.testing.assert_array_equal(path_lengths(lengths), expected)


def test_the_shortest_of_parallel_edges_counts():
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1, {"weight": 5.0}), (0, 1, {"weight": 2.0})])
    np.testing.assert_array_equal(next(edge_lengths(as_graphs([graph]))), [[np.inf, 2.0], [2.0, np.inf]])


def test_edges_without_weights_have_length_one(rng):
    graphs = as_graphs(random_graphs(rng, 5))
    for lengths, adjacency in zip(edge_lengths(graphs), adjacencies(graphs), strict=True):
        np.testing.assert_array_equal(path_lengths(lengths), hops(adjacency))


def test_a_negative_length_is_refused_by_name():
    negative = np.array([[0.0, -1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match="graph 1 has a negative edge weight"):
        list(edge_lengths(as_graphs([(2 * np.abs(negative), None), (negative, None)])))


def test_edge_data_that_is_wanted_must_be_there():
    graphs = as_graphs([(2.0 - 2 * np.eye(3), None)])
    require_edge_data(graphs, "labels", "weights")
    with pytest.raises(ValueError, match="edges=True, but the edges have no labels or directions"):
        require_edge_data(graphs, "labels", "directions")
