import networkx as nx
import numpy as np
import pytest
from torch_geometric.data import Data

from edge_graphs import NAMES, edge_graph
from graph_metric_learn.datasets import EditCosts
from graph_metric_learn.datasets.edit_costs import edit_graphs
from graph_metric_learn.graphs import as_graphs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_each_edge_stands_there_once(directed, parallel):
    given = [edge_graph(seed, directed=directed, parallel=parallel) for seed in range(10)]
    for graph, edit in zip(given, edit_graphs(as_graphs(given, **NAMES, directed=directed)), strict=True):
        assert edit.n == len(graph)
        assert edit.directed == directed
        assert edit.ends.shape == (2, graph.number_of_edges())
        assert sorted(edit.weights) == pytest.approx(sorted(w for *_, w in graph.edges(data="weight")))
        assert sorted(edit.edge_x.tolist()) == sorted(v.tolist() for *_, v in graph.edges(data="v"))


def test_labels_have_the_same_code_in_all_graphs():
    elements = ["CCO", "OC", "NOC"]
    graphs = [nx.path_graph(len(text)) for text in elements]
    for graph, text in zip(graphs, elements, strict=True):
        nx.set_node_attributes(graph, dict(enumerate(text)), "label")
    codes = np.concatenate([graph.labels for graph in edit_graphs(as_graphs(graphs))])
    letters = np.array(list("".join(elements)))
    np.testing.assert_array_equal(codes[:, None] == codes, letters[:, None] == letters)


def test_costs_of_labels_vectors_and_weights():
    first, second = nx.Graph(), nx.Graph()
    first.add_node("a", label="C", x=[0.0, 0.0])
    first.add_node("b", label="N", x=[3.0, 4.0])
    second.add_node("a", label="N", x=[0.0, 0.0])
    second.add_node("b", label="N", x=[0.0, 0.0])
    first.add_edge("a", "b", weight=2.0, edge_type="double")
    second.add_edge("a", "b", weight=0.5, edge_type="single")
    first, second = edit_graphs(as_graphs([first, second]))
    costs = EditCosts(node_label=7.0, node_vector=2.0, edge_label=7.0, edge_weight=4.0)
    np.testing.assert_allclose(costs.nodes(first, second), [[7, 7], [10, 10]])
    np.testing.assert_allclose(costs.nodes(first, first), [[0, 17], [17, 0]])
    np.testing.assert_allclose(costs.edges(first, second), [[7 + 4 * 1.5]])


def test_a_one_hot_code_is_labels():
    codes = np.eye(3, dtype=np.float32)
    graphs = [(np.ones((3, 3)) - np.eye(3), codes[[0, 1, 1]]), (np.ones((2, 2)) - np.eye(2), codes[[2, 1]])]
    first, second = edit_graphs(as_graphs(graphs))
    assert first.x.shape == (3, 0)
    assert EditCosts().nodes(first, second).tolist() == [[1, 1], [1, 0], [1, 0]]
    numbers = list(edit_graphs(as_graphs([(graphs[0][0], codes[[0, 1, 1]] * 2), graphs[1]])))
    assert EditCosts(node_vector=1.0).nodes(*numbers)[0, 0] == pytest.approx(5**0.5)


def test_the_digest_is_that_of_the_content():
    graph, other = edge_graph(3), edge_graph(4)
    alone = next(edit_graphs(as_graphs([graph], **NAMES))).digest
    together = [edit.digest for edit in edit_graphs(as_graphs([other, graph, graph.copy()], **NAMES))]
    assert together[1] == together[2] == alone != together[0]
    changes = []
    for key, value in (("weight", 9.0), ("kind", "x"), ("v", np.ones(2))):
        changed = graph.copy()
        next(iter(changed.edges(data=True)))[2][key] = value
        changes.append(changed)
    changed = graph.copy()
    changed.nodes[next(iter(changed))]["element"] = "Xe"
    larger = graph.copy()
    larger.add_node("new", element="C")
    fewer = graph.copy()
    fewer.remove_edge(*next(iter(fewer.edges)))
    digests = [edit.digest for edit in edit_graphs(as_graphs([graph, *changes, changed, larger, fewer], **NAMES))]
    assert digests[0] == alone
    assert len(set(digests)) == 7


def test_directions_are_in_the_digest():
    arcs = nx.DiGraph([(0, 1), (1, 2)])
    (directed,), (undirected,) = (edit_graphs(as_graphs([arcs], directed=value)) for value in (True, False))
    assert directed.digest != undirected.digest


def test_sums_are_multiples_of_a_step():
    plain, other = edit_graphs(as_graphs([nx.path_graph(3), nx.path_graph(4)]))
    assert EditCosts().step(plain, other) == 1.0
    assert EditCosts(edge=2.0, node_vector=0.3).step(plain, other) == 1.0
    assert EditCosts(edge_label=0.5).step(plain, other) == 0.0
    weighted = nx.path_graph(3)
    nx.set_edge_attributes(weighted, 0.5, "weight")
    attributed = Data(x=np.ones((2, 1)), edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2)
    for one in (weighted, attributed):
        assert EditCosts().step(*list(edit_graphs(as_graphs([one]))) * 2) == 0.0


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1", True, None])
def test_costs_that_make_no_sense(value):
    with pytest.raises(ValueError, match="the cost edge must be a finite number >= 0"):
        EditCosts(edge=value)
