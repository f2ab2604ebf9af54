import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_metric_learn.features.structure import local_structure
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
