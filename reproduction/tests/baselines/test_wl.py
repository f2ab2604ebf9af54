import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines.wl import intersections, wl_features, wl_labels
from small_graphs import path, random_graphs


def by_definition(graphs, depth):
    """Nested tuples: (own label, sorted labels around), level by level [S][depth + 1]."""
    rows = []
    for adjacency, x in graphs:
        graph = nx.from_numpy_array(adjacency)
        labels = {i: tuple(x[i]) for i in graph}
        levels = [labels]
        for _ in range(depth):
            labels = {i: (labels[i], tuple(sorted((labels[j] for j in graph[i]), key=repr))) for i in graph}
            levels.append(labels)
        rows += [[level[i] for level in levels] for i in graph]
    return rows


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_labels_are_equal_exactly_where_the_subtrees_are(seed, depth):
    graphs = random_graphs(np.random.default_rng(seed), 4, kind="labels")
    labels, trees = wl_labels(as_graphs(graphs), depth), by_definition(graphs, depth)
    for level in range(depth + 1):
        names = {}
        for label, row in zip(labels[:, level].tolist(), trees, strict=True):
            assert names.setdefault(row[level], label) == label
        assert len(set(names.values())) == len(names)
    assert len(np.unique(labels)) == sum(len(np.unique(column)) for column in labels.T)


def labelled_multigraphs(rng, *, directed):
    """NetworkX graphs with x and parallel edges of two labels."""
    graphs = []
    for n in rng.integers(1, 7, 4):
        graph = (nx.MultiDiGraph if directed else nx.MultiGraph)()
        for i in range(int(n)):
            graph.add_node(i, x=np.eye(2)[rng.integers(0, 2)])
        for u, v in rng.integers(0, n, (int(2 * n), 2)).tolist():
            if u != v:
                graph.add_edge(u, v, bond="ab"[int(rng.integers(2))])
        graphs.append(graph)
    return graphs


@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.booleans())
def test_labels_with_edges_are_equal_exactly_where_the_subtrees_are(seed, depth, directed):
    graphs = labelled_multigraphs(np.random.default_rng(seed), directed=directed)
    if not any(graph.size() for graph in graphs):
        return
    trees = []
    for graph in graphs:
        ends = [(u, v, "out" + bond) for u, v, bond in graph.edges(data="bond")]
        ends += [(v, u, ("in" if directed else "out") + bond) for u, v, bond in graph.edges(data="bond")]
        labels = {i: str(x) for i, x in graph.nodes(data="x")}
        levels = [labels]
        for _ in range(depth):
            around = {i: sorted((bond, labels[v]) for u, v, bond in ends if u == i) for i in graph}
            labels = {i: repr((labels[i], around[i])) for i in graph}
            levels.append(labels)
        trees += [[level[i] for level in levels] for i in graph]
    given_graphs = as_graphs(graphs, edge_label="bond", directed=directed)
    labels = wl_labels(given_graphs, depth, edges=True)
    for level in range(depth + 1):
        names = {}
        for label, row in zip(labels[:, level].tolist(), trees, strict=True):
            assert names.setdefault(row[level], label) == label
        assert len(set(names.values())) == len(names)


def test_edges_that_carry_nothing_change_no_label(rng):
    graphs = as_graphs(random_graphs(rng, 5, kind="labels"))
    np.testing.assert_array_equal(wl_labels(graphs, 3, edges=True), wl_labels(graphs, 3))


def test_features_of_a_path_by_hand():
    graphs = as_graphs([(path(3), np.array([[0.0], [4.0], [8.0]])), (np.zeros((1, 1)), np.array([[7.0]]))])
    levels = wl_features(graphs, 2)[:, :, 0]
    np.testing.assert_array_equal(levels, [[0, 4, 8, 7], [2, 4, 6, 7], [3, 4, 5, 7]])


def test_intersections_by_definition(rng):
    given_graphs = random_graphs(rng, 6, kind="labels")
    graphs = as_graphs(given_graphs)
    labels = wl_labels(graphs, 2)
    owner = np.repeat(np.arange(6), graphs.sizes)
    counts = np.array([np.bincount(labels[owner == g].ravel(), minlength=labels.max() + 1) for g in range(6)])
    expected = np.minimum(counts[:, None], counts[None]).sum(2)
    np.testing.assert_array_equal(intersections(graphs, labels, share=False), expected)
    shares = counts / graphs.sizes[:, None]
    expected = np.minimum(shares[:, None], shares[None]).sum(2)
    np.testing.assert_allclose(intersections(graphs, labels, share=True), expected)


def test_a_depth_may_be_written_as_a_float(rng):
    graphs = as_graphs(random_graphs(rng, 4, kind="labels"))
    np.testing.assert_array_equal(wl_labels(graphs, 2.0), wl_labels(graphs, 2))


@pytest.mark.parametrize("depth", [-1, 1.5])
def test_depths_that_are_none(depth, rng):
    with pytest.raises(ValueError, match="depth must be a whole number >= 0"):
        wl_labels(as_graphs(random_graphs(rng, 2)), depth)
