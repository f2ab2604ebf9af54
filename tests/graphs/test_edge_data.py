import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.graphs.edge_data import EdgeData

ENDS = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])
SIZES = np.array([2, 1, 1])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"ends": np.zeros((3, 2), int)}, r"shape \[2, A\], got \[3, 2\]"),
        ({"ends": np.array([[0], [4]])}, "between 0 and 3"),
        ({"ends": np.array([[-1], [0]])}, "between 0 and 3"),
        ({"ends": np.array([[1], [2]])}, "nodes of the same graph"),
        ({"ends": np.array([[2, 0], [3, 1]])}, "order of their graphs"),
        ({"labels": np.zeros(4, int)}, r"labels of 4 edges have the shape \[4\]"),
        ({"x": np.zeros((3, 1))}, r"x of 4 edges have the shape \[3, 1\]"),
        ({"weights": np.ones((4, 1))}, r"weights of 4 edges have the shape \[4, 1\]"),
        ({"weights": np.array([1, 1, np.nan, 1])}, "weights of edges must be finite"),
        ({"x": np.full((4, 2), np.inf)}, "x of edges must be finite"),
    ],
)
def test_arrays_must_fit_together(parts, words):
    with pytest.raises(ValueError, match=words):
        EdgeData(**{"ends": ENDS, **parts}).check(np.array([2, 2]))


def test_what_edges_carry_in_words():
    assert EdgeData(ENDS).carries == []
    full = EdgeData(ENDS, True, np.zeros((4, 1), int), np.zeros((4, 2)), np.ones(4))
    full.check(np.array([2, 2]))
    assert full.carries == ["labels", "vectors", "weights", "directions"]


def test_chosen_graphs_keep_what_their_edges_carry(rng):
    graphs = []
    for n in (3, 1, 4, 5):
        graph = nx.gnp_random_graph(n, 0.7, seed=n, directed=True)
        for _, _, data in graph.edges(data=True):
            data.update(kind=int(rng.integers(3)), weight=float(rng.normal()), length=rng.normal(size=2))
        graphs.append(graph)
    options = {"edge_label": "kind", "edge_attribute": "length"}
    every, which = as_graphs(graphs, **options), [2, 0, 2, 1]
    for chosen in (every[which], every[np.array(which)]):
        wanted = as_graphs([graphs[i] for i in which], **options)
        for part in ("ends", "labels", "x", "weights"):
            np.testing.assert_array_equal(getattr(chosen.edge_data, part), getattr(wanted.edge_data, part))
        assert chosen.edge_data.directed
        chosen.edge_data.check(chosen.sizes)
    lone = every[1].edge_data
    assert lone.ends.shape == (2, 0)
    assert lone.labels.shape == (0, 1)


def test_without_data_nothing_is_carried():
    weighted = as_graphs([(np.array([[0, 2.0], [2.0, 0]]), None)])
    assert weighted.edge_data.carries == ["weights"]
    bare = weighted.without_edge_data()
    assert bare.edge_data is None
    assert bare.weights is None
    np.testing.assert_array_equal(bare.edges, weighted.edges)
    assert as_graphs(weighted, edges=False).edge_data is None
