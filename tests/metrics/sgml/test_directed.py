import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.directed import propagate_directed
from small_graphs import random_graphs


def digraphs(rng, *, weighted):
    """(matrix of arcs from row to column, features)."""
    graphs = []
    for n in (4, 7, 1):
        arcs = (rng.random((n, n)) < 0.4) * (rng.normal(size=(n, n)) if weighted else 1.0)
        np.fill_diagonal(arcs, 0.0)
        graphs.append((arcs, rng.normal(size=(n, 3))))
    return graphs


@pytest.mark.parametrize("along", ["in", "out"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_it_is_the_product_with_the_dense_matrix(rng, along, weighted, depth):
    graphs = digraphs(rng, weighted=weighted)
    expected = []
    for arcs, x in graphs:
        scale = np.abs(arcs[arcs != 0]).mean() if arcs.any() else 1.0
        matrix = (arcs.T if along == "in" else arcs) / scale
        step = (matrix + np.eye(len(x))) / (np.abs(matrix).sum(1) + 1)[:, None]
        expected.append(np.linalg.matrix_power(step, depth) @ x)
    found = propagate_directed(as_graphs(graphs, directed=True), depth, along)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-5, atol=1e-6)


def test_without_directions_both_ways_agree(rng):
    graphs = as_graphs(random_graphs(rng))
    one, other = (propagate_directed(graphs, 2, along) for along in ("in", "out"))
    np.testing.assert_array_equal(one, other)
    a, x = graphs.adjacency.toarray(), graphs.x
    np.testing.assert_allclose(
        propagate_directed(graphs, 1), (a @ x + x) / (a.sum(1) + 1)[:, None], rtol=1e-5, atol=1e-6
    )


def test_parallel_edges_count_once_unless_they_have_weights():
    graph = nx.MultiDiGraph()
    graph.add_node(0, x=[0.0])
    graph.add_node(1, x=[6.0])
    graph.add_edges_from([(0, 1, {"kind": "a"}), (0, 1, {"kind": "b"})])
    once = as_graphs([graph], edge_label="kind")
    np.testing.assert_allclose(propagate_directed(once, 1, "in").ravel(), [0.0, 3.0])
    for _, _, attributes in graph.edges(data=True):
        attributes["weight"] = 4.0
    twice = as_graphs([graph], edge_label="kind")  # mean weight 1, so 2 together
    np.testing.assert_allclose(propagate_directed(twice, 1, "in").ravel(), [0.0, 2.0])


def test_bad_options(rng):
    graphs = as_graphs(random_graphs(rng))
    with pytest.raises(ValueError, match="unknown propagation='up'"):
        propagate_directed(graphs, 1, "up")
    with pytest.raises(ValueError, match="depth must be a whole number"):
        propagate_directed(graphs, -1, "in")
