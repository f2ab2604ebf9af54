import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_graphs import edge_graph, renumbered_networkx
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.features.structure import (
    Strength,
    _around_triangles,
    degree_columns,
    graph_size,
    local_structure,
    node_strength,
)
from graph_metric_learn.graphs import as_graphs


def some_graph(seed):
    rng = np.random.default_rng(seed)
    return nx.gnp_random_graph(int(rng.integers(1, 14)), rng.uniform(0, 1), seed=seed)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_numbers_are_those_of_networkx_and_of_the_walk(seed):
    graphs = [some_graph(seed), some_graph(seed + 1)]
    found = local_structure(as_graphs(graphs))
    start = 0
    for graph in graphs:
        n = len(graph)
        degree, triangles, clustering, twice, thrice = found[start : start + n].T
        start += n
        np.testing.assert_allclose(np.expm1(degree), [d for _, d in graph.degree], atol=1e-4)
        np.testing.assert_allclose(np.expm1(triangles), list(nx.triangles(graph).values()), atol=1e-3)
        np.testing.assert_allclose(clustering, list(nx.clustering(graph).values()), atol=1e-6)
        adjacency = nx.to_numpy_array(graph)
        walk = adjacency / np.maximum(adjacency.sum(1, keepdims=True), 1)
        np.testing.assert_allclose(twice, np.diag(walk @ walk), atol=1e-6)
        np.testing.assert_allclose(thrice, np.diag(walk @ walk @ walk), atol=1e-6)


def test_hubs_cost_no_more_than_their_edges():
    star = as_graphs([nx.star_graph(200_000)])  # all pairs of leaves would be 4 · 10^10
    found = local_structure(star)
    assert found.shape == (200_001, 5)
    assert found[:, 3].max() == pytest.approx(1)  # from the centre out and back


def test_one_column_per_degree_up_to_32():
    columns = degree_columns(np.arange(33))
    np.testing.assert_array_equal(columns[:, :33], np.eye(33))


def test_huge_degrees_share_columns():
    star = nx.star_graph(100_000)
    (block,) = NodeBlocks().fit([star], ["degree@0"]).transform([star])
    assert block.shape == (100_001, 80)


def test_size_is_that_of_the_graph_at_each_node():
    found = graph_size(as_graphs([nx.path_graph(3), nx.empty_graph(2)]))
    np.testing.assert_allclose(np.exp(found[:3]), [[3, 3]] * 3, rtol=1e-5)
    np.testing.assert_allclose(np.exp(found[3:]), [[2, 1]] * 2, rtol=1e-5)


def by_hand(graph):
    """Strength of each node of one graph without directions, from its dense matrix of weights."""
    weights = nx.to_numpy_array(graph)
    there = nx.to_numpy_array(graph, weight=None) > 0
    chance = np.abs(weights) / np.maximum(np.abs(weights).sum(1, keepdims=True), 1e-300)
    roots = np.cbrt(weights)
    rows = []
    for node in range(len(weights)):
        own = np.sort(weights[node][there[node]])
        d = len(own)
        places = [own[int(np.rint(q * (d - 1)))] if d else 0.0 for q in (0, 0.25, 0.5, 0.75, 1)]
        triangle = np.linalg.matrix_power(roots, 3)[node, node] / max(d * (d - 1), 1)
        twice, thrice = (np.linalg.matrix_power(chance, power)[node, node] for power in (2, 3))
        spread = [own.mean() if d else 0.0, own.std() if d else 0.0]
        rows.append([np.log1p(np.abs(own).sum()), *spread, *places, triangle, twice, thrice])
    return np.array(rows)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_strength_is_that_of_the_dense_matrix(seed):
    graphs = [edge_graph(seed, labels=False, vectors=False), edge_graph(seed + 1, labels=False, vectors=False)]
    found = node_strength(as_graphs(graphs, label="element"))
    np.testing.assert_allclose(found, np.concatenate([by_hand(graph) for graph in graphs]), atol=2e-4)


def test_complete_networks():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.normal(size=(12, 12)), 1)
    weights = weights + weights.T
    found = node_strength(as_graphs([(weights, None)]))
    np.testing.assert_allclose(found, by_hand(nx.from_numpy_array(weights)), atol=1e-4)


def test_the_order_of_nodes_and_edges_does_not_matter():
    graph = edge_graph(5, labels=False, vectors=False, parallel=True)
    one, two = (node_strength(as_graphs([g], label="element")) for g in (graph, renumbered_networkx(graph, 0)))
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(two, axis=0), atol=1e-6)


def test_it_needs_weights():
    plain = as_graphs([nx.path_graph(3)])
    assert Strength.lacks(plain) == "weights of edges"
    with pytest.raises(ValueError, match="edges have no weights"):
        Strength(None).start(plain)


def test_hubs_with_weights_cost_no_more_than_their_edges():
    star = nx.star_graph(100_000)  # all pairs of leaves would be 10^10
    nx.set_edge_attributes(star, {edge: 1.0 + i % 2 for i, edge in enumerate(star.edges)}, "weight")
    found = node_strength(as_graphs([star]))
    assert found[0, -2] == pytest.approx(1)  # from the centre out and back
    assert (found[:, -1] == 0).all()


def test_strength_of_weighted_graphs_without_any_edge_is_0():
    weighted = nx.Graph([(0, 1, {"weight": 2.0})])
    both = as_graphs([weighted, nx.empty_graph(2)])
    assert not node_strength(both[[1]]).any()


def test_neighbours_that_are_not_mutual_stay_inside_the_arrays():
    """`Graphs` made by hand may have them: nothing beyond the arrays is read."""
    starts, neighbors = np.array([0, 1, 1]), np.array([1])
    out = [np.zeros(2) for _ in range(2)]
    _around_triangles(starts, neighbors, np.ones(1), np.ones(1), np.ones(1), *out)
    assert not any(part.any() for part in out)
