import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from graph_metric_learn.graphs import Graphs, as_graphs
from graph_zoo import as_networkx, as_pyg, zoo

EDGE = np.array([[0, 1], [1, 0]])


def same(one, two):
    np.testing.assert_array_equal(one.sizes, two.sizes)
    np.testing.assert_array_equal(one.edges, two.edges)
    np.testing.assert_array_equal(one.x, two.x)


def test_all_kinds_of_graphs_give_the_same(rng):
    from torch_geometric.data import Batch

    pairs, y = zoo(rng, 6)
    wanted = as_graphs(pairs)
    assert wanted.x.dtype == np.float32
    data = as_pyg(pairs, y)
    for given in (
        data,
        Batch.from_data_list(data),
        as_networkx(pairs),
        [(sparse.csr_matrix(a), x) for a, x in pairs],
        [(torch.from_numpy(a), torch.from_numpy(x)) for a, x in pairs],
        [list(pair) for pair in pairs],
        [pairs[0], data[1], as_networkx(pairs[2:3])[0], *pairs[3:]],
    ):
        same(as_graphs(given), wanted)
    np.testing.assert_array_equal(as_graphs(data).y, y)
    assert as_graphs(wanted) is wanted


def test_a_pyg_dataset(rng, tmp_path):
    from torch_geometric.data import InMemoryDataset

    pairs, y = zoo(rng, 4)
    data = as_pyg(pairs, y)

    class Zoo(InMemoryDataset):
        def __init__(self):
            super().__init__(None)
            self.data, self.slices = self.collate(data)

    same(as_graphs(Zoo()), as_graphs(pairs))


def test_edges_become_simple_and_undirected():
    a = np.array([[5, 0, 0], [2, 0, 0], [0, 0, 0]])  # a weighted self-loop and one directed, weighted edge
    graphs = as_graphs([(a, np.zeros((3, 1)))])
    assert graphs.edges.tolist() == [[0, 1], [1, 0]]
    assert graphs.sizes.tolist() == [3]  # the isolated node stays
    assert graphs.degrees.tolist() == [1, 1, 0]
    multi = nx.MultiDiGraph([("u", "v"), ("u", "v"), ("v", "u"), ("v", "v")])
    assert as_graphs([multi]).edges.tolist() == [[0, 1], [1, 0]]


def test_nodes_of_several_graphs_are_numbered_through():
    edge = np.array([[0, 1], [1, 0]])
    graphs = as_graphs([(edge, None), (edge, None)])
    assert graphs.edges.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
    assert graphs.x is None
    np.testing.assert_array_equal(graphs.adjacency.toarray(), np.kron(np.eye(2), edge))


def test_attributes_and_labels_by_name():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 3.5, 1: 4.5}, "charge")
    nx.set_node_attributes(graph, {0: "C", 1: "N"}, "label")
    graph.graph["y"] = 1
    graphs = as_graphs([graph], attribute="charge")
    assert graphs.x.tolist() == [[3.5], [4.5]]
    assert graphs.labels.tolist() == [["C"], ["N"]]
    assert graphs.y.tolist() == [1]
    nx.set_node_attributes(graph, {0: 7, 1: 8}, "element")
    assert as_graphs([graph], label="element").labels.tolist() == [[7], [8]]
    assert as_graphs([graph]).x is None


def test_names_that_no_graph_has():
    graph = nx.path_graph(2)
    with pytest.raises(ValueError, match="no graph has a node attribute 'wieght'"):
        as_graphs([graph], attribute="wieght")
    with pytest.raises(ValueError, match="no graph has a node attribute 'lable'"):
        as_graphs([graph], label="lable")


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        ([], "no graphs"),
        (as_graphs([(np.zeros((1, 1)), None)])[:0], "no graphs"),
        ("MUTAG", "expected a list of graphs, got str"),
        (7, "expected a list of graphs, got int"),
        (nx.path_graph(3), "single graph"),
        ((EDGE, np.zeros((2, 1))), "single graph"),
        ([(EDGE, np.zeros((2, 1))), (np.zeros((0, 0)), np.zeros((0, 1)))], "graph 1 has no nodes"),
        ([(EDGE, np.zeros((2, 1))), (EDGE, np.array([[0.0], [np.nan]]))], "graph 1 has a NaN"),
        ([(EDGE, np.full((2, 1), 1e300))], "graph 0 has a NaN or infinite"),
        ([(EDGE, np.zeros((2, 1))), (EDGE, np.zeros((2, 3)))], "graph 1 has features of width 3, graph 0 of width 1"),
        ([(EDGE, np.zeros((2, 1))), (EDGE, None)], "graph 1 has no features, other graphs have"),
        ([(EDGE, np.zeros((3, 1)))], r"graph 0 has features of shape \(3, 1\), expected \(2, q\)"),
        ([(EDGE, np.zeros((2, 0)))], "width 0"),
        ([(EDGE, np.array([["a"], ["b"]]))], "expected numbers"),
        ([(np.zeros((2, 3)), None)], r"graph 0 has an adjacency of shape \(2, 3\)"),
        ([(np.full((2, 2), np.nan), None)], "not finite"),
        ([np.zeros(3)], "graph 0 is a ndarray"),
        ([EDGE, EDGE], r"or \(adjacency, None\) without features"),
        ([nx.path_graph(2), "x"], "graph 1 is a str"),
    ],
)
def test_bad_graphs_get_one_clear_error(graphs, words):
    with pytest.raises(ValueError, match=words):
        as_graphs(graphs)


def test_bad_pyg_and_networkx_graphs():
    from torch_geometric.data import Data

    with pytest.raises(ValueError, match="graph 0 has an edge to node 5, but only 2 nodes"):
        as_graphs([Data(x=torch.zeros(2, 1), edge_index=torch.tensor([[0], [5]]))])
    with pytest.raises(ValueError, match="edge_index of shape"):
        as_graphs([Data(x=torch.zeros(2, 1), edge_index=torch.zeros(3, 2, dtype=torch.int64))])
    graph = nx.path_graph(["a", "b"])
    graph.nodes["a"]["x"] = [1.0]
    with pytest.raises(ValueError, match="graph 0: node 'b' has no attribute 'x'"):
        as_graphs([graph])
    graph.nodes["b"]["x"] = [1.0, 2.0]
    with pytest.raises(ValueError, match="graph 0: attribute 'x' has different lengths"):
        as_graphs([graph])


def test_a_graph_without_edges():
    from torch_geometric.data import Data

    graphs = as_graphs([Data(x=torch.ones(3, 2)), (np.zeros((1, 1)), np.ones((1, 2)))])
    assert isinstance(graphs, Graphs)
    assert graphs.sizes.tolist() == [3, 1]
    assert graphs.edges.shape == (2, 0)
