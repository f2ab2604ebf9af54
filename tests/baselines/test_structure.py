import networkx as nx
import numpy as np

from graph_metric_learn.baselines.structure import adjacencies, hops, is_discrete, laplacian, node_labels
from graph_metric_learn.graphs import as_graphs
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
