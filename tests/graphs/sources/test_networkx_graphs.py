from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs

NAMES = {"edge_label": "bond", "edge_attribute": "length"}


def arcs(graph, **options):
    """How often each arc occurs, between the graph's own nodes, with all it carries."""
    graphs, nodes = as_graphs([graph], **options), list(graph.nodes)
    data = graphs.edge_data
    parts = (data.labels, data.x, data.weights)
    found = Counter()
    for i, (u, v) in enumerate(data.ends.T.tolist()):
        found[
            (nodes[u], nodes[v], *(None if part is None else tuple(np.atleast_1d(part[i]).tolist()) for part in parts))
        ] += 1
    return found


def edges_of(kind):
    """a - b, b - c and, where it can be, once more b - a with other data; c - c is a loop."""
    graph = kind()
    graph.add_edge("a", "b", bond="single", length=[1.0, 2.0], weight=0.5)
    graph.add_edge("b", "c", bond="double", length=[3.0, 4.0], weight=-2)
    graph.add_edge("c", "c", bond="loop", length=[9.0, 9.0], weight=9)
    if graph.is_multigraph() or graph.is_directed():
        graph.add_edge("b", "a", bond="double", length=[1.0, 2.0], weight=0.5)
    return graph


SINGLE, DOUBLE, BACK = (
    (("single",), (1.0, 2.0), (0.5,)),
    (("double",), (3.0, 4.0), (-2.0,)),
    (("double",), (1.0, 2.0), (0.5,)),
)


@pytest.mark.parametrize(
    ("kind", "directed", "wanted"),
    [
        (nx.Graph, False, [("a", "b", *SINGLE), ("b", "a", *SINGLE), ("b", "c", *DOUBLE), ("c", "b", *DOUBLE)]),
        (nx.DiGraph, True, [("a", "b", *SINGLE), ("b", "a", *BACK), ("b", "c", *DOUBLE)]),
        (
            nx.MultiGraph,
            False,
            [
                ("a", "b", *SINGLE), ("b", "a", *SINGLE), ("b", "c", *DOUBLE), ("c", "b", *DOUBLE), ("a", "b", *BACK),
                ("b", "a", *BACK),
            ],
        ),
        (nx.MultiDiGraph, True, [("a", "b", *SINGLE), ("b", "a", *BACK), ("b", "c", *DOUBLE)]),
    ],
)  # fmt: skip
def test_all_kinds_of_graphs(kind, directed, wanted):
    graph = edges_of(kind)
    assert arcs(graph, **NAMES) == Counter(wanted)
    assert as_graphs([graph], **NAMES).edge_data.directed == directed
    simple = as_graphs([graph], **NAMES)
    assert simple.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    alone = as_graphs([graph], edges=False)
    assert alone.edge_data is None
    np.testing.assert_array_equal(alone.edges, simple.edges)


def test_directed_decides():
    graph = edges_of(nx.DiGraph)
    undirected = arcs(graph, directed=False, **NAMES)
    assert undirected == Counter(
        (*ends, *data) for data, pair in ((SINGLE, "ab"), (BACK, "ab"), (DOUBLE, "bc")) for ends in (pair, pair[::-1])
    )
    assert as_graphs([edges_of(nx.Graph)], directed=True).edge_data.directed
    symmetric = nx.path_graph(3, create_using=nx.Graph).to_directed()
    assert as_graphs([symmetric]).edge_data.directed  # a DiGraph says so, whatever its edges
    assert as_graphs([symmetric], directed=False).edge_data is None


def test_a_digraph_without_edges_among_others():
    graphs = as_graphs([nx.empty_graph(2, create_using=nx.DiGraph), nx.DiGraph([(0, 1)])])
    assert graphs.edge_data.directed
    assert graphs.edge_data.ends.tolist() == [[2], [3]]


def test_parallel_edges_without_data_count_once():
    multi = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (1, 1)])
    assert as_graphs([multi]).edge_data is None
    assert as_graphs([multi]).edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_weights_of_parallel_edges_add_up():
    multi = nx.MultiGraph()
    multi.add_edge(0, 1, weight=1.0)
    multi.add_edge(0, 1, weight=2.0)
    multi.add_edge(1, 2, weight=3.0)
    graphs = as_graphs([multi])
    weights = graphs.weights.toarray()
    np.testing.assert_allclose(weights / weights[1, 2], [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_an_edge_without_a_weight_has_weight_one():
    graph = nx.path_graph(3)
    graph.edges[0, 1]["weight"] = 4
    assert arcs(graph)[0, 1, None, None, (4.0,)] == 1
    assert arcs(graph)[1, 2, None, None, (1.0,)] == 1
    unweighted = nx.path_graph(2)
    assert as_graphs([graph, unweighted]).edge_data.weights.tolist() == [4, 4, 1, 1, 1, 1]


def test_weights_of_one_are_none_and_other_names_can_be_used():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 1, "weight")
    nx.set_edge_attributes(graph, {(0, 1): 2.0, (1, 2): 5.0}, "strength")
    assert as_graphs([graph]).edge_data is None
    assert as_graphs([graph]).unused == ("edge attribute 'strength'",)
    assert as_graphs([graph], edge_weight="strength").edge_data.weights.tolist() == [2, 2, 5, 5]
    assert as_graphs([graph], edge_weight=None).edge_data is None


def test_numbers_are_vectors_of_width_one():
    graph = nx.path_graph(2)
    graph.edges[0, 1]["length"] = 2.5
    assert as_graphs([graph], edge_attribute="length").edge_data.x.tolist() == [[2.5], [2.5]]


def test_names_of_pyg_are_found():
    from torch_geometric.data import Data
    from torch_geometric.utils import to_networkx

    both_ways = {"edge_index": torch.tensor([[0, 1], [1, 0]]), "num_nodes": 2}
    for parts in (
        {"edge_type": torch.tensor([3, 3]), "edge_attr": torch.tensor([[0.5, 1.0], [0.5, 1.0]])},
        {"edge_attr": torch.tensor([4, 4])},  # whole numbers are labels
    ):
        data = Data(**both_ways, **parts)
        wanted = as_graphs([data]).edge_data
        found = as_graphs([to_networkx(data, edge_attrs=list(parts), to_undirected=True)]).edge_data
        for part in ("ends", "labels", "x"):
            np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))


def test_names():
    square, unnamed = nx.cycle_graph(4), nx.path_graph(2)
    square.name = "square"
    assert as_graphs([square, nx.petersen_graph()]).names.tolist() == ["square", "Petersen Graph"]
    assert as_graphs([square, unnamed]).names is None
    unnamed.graph["name"] = 7  # not a text
    assert as_graphs([square, unnamed]).names is None


def test_what_nobody_named_is_listed():
    graph = nx.path_graph(2)
    graph.nodes[0].update(element="C", x=[1.0])
    graph.nodes[1].update(element="N", x=[2.0])
    graph.edges[0, 1].update(bond=1, weight=2.0)
    assert as_graphs([graph]).unused == ("node attribute 'element'", "edge attribute 'bond'")
    assert as_graphs([graph], label="element", edge_label="bond").unused == ()
    assert as_graphs([graph], label="element", edges=False).unused == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"bond": [1, None]}, r"graph 1: edge \(1, 2\) has no attribute 'bond', other edges have"),
        ({"bond": [1, "1"]}, "graph 1: attribute 'bond' mixes strings and numbers"),
        ({"bond": [2**63, 1]}, "edge labels are too large to be told apart"),
        ({"bond": [2**64, 1]}, "edge labels are too large to be told apart"),
        ({"bond": [1.5, 1]}, "edge labels have dtype float64, expected whole numbers or strings"),
        ({"bond": ["single", "double"]}, "edge labels are numbers in some graphs and strings in others"),
        ({"bond": [1, 1], "length": [[1.0], [1.0, 2.0]]}, "graph 1: attribute 'length' has different lengths"),
        ({"bond": [1, 1], "length": ["long", "short"]}, "edge features have dtype <U.*, expected numbers"),
        ({"bond": [1, 1], "weight": ["heavy", 1]}, "graph 1 has edge weights that are not numbers"),
        ({"bond": [1, 1], "weight": [float("nan"), 1]}, "graph 1 has edge weights that are not one finite number"),
        ({}, "graph 1 has no edge labels, other graphs have"),
    ],
)
def test_bad_edge_data_names_the_graph(values, words):
    good, bad = nx.Graph([(0, 1)]), nx.path_graph(3)
    good.edges[0, 1]["bond"] = 3
    if "length" in values:
        good.edges[0, 1]["length"] = [1.0]
    for key, parts in values.items():
        for edge, value in zip(bad.edges, parts, strict=True):
            if value is not None:
                bad.edges[edge][key] = value
    with pytest.raises(ValueError, match=words):
        as_graphs([good, bad], edge_label="bond", edge_attribute="length" if "length" in values else None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, "1"], "graph 0: attribute 'label' mixes strings and numbers: 1 and '1' would be the same"),
        ([2**63, 2**63 + 1], "node labels are too large"),
        ([2**63, -1], "node labels are too large"),
        ([2**64, 2**64 + 1], "node labels are too large"),
        ([-(2**63) - 1, 0], "node labels are too large"),
        ([float(2**53), float(2**53) + 2], "node labels are too large"),
        ([1.5, 2], "expected whole numbers or strings"),
        ([float("nan"), 2], "expected whole numbers or strings"),
    ],
)
def test_node_labels_that_cannot_be_told_apart_are_refused(values, words):
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, dict(enumerate(values)), "label")
    with pytest.raises(ValueError, match=words):
        as_graphs([graph])


def test_large_labels_stay_apart():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 2**63 - 1, 1: 2**63 - 2}, "label")
    assert as_graphs([graph]).labels.tolist() == [[2**63 - 1], [2**63 - 2]]
    nx.set_node_attributes(graph, {0: str(2**70), 1: str(2**70 + 1)}, "label")
    assert as_graphs([graph]).labels.tolist() == [[str(2**70)], [str(2**70 + 1)]]
    one, text = nx.path_graph(1), nx.path_graph(1)
    one.nodes[0]["label"], text.nodes[0]["label"] = 1, "1"
    with pytest.raises(ValueError, match="node labels are numbers in some graphs and strings in others"):
        as_graphs([one, text])


def test_targets():
    def target(y):
        graph = nx.path_graph(2)
        graph.graph["y"] = y
        found = as_graphs([graph]).y
        return None if found is None else found.tolist()

    assert target(None) is None
    assert target("ring") == ["ring"]
    assert target(np.int64(4)) == target(torch.tensor([4])) == target([4]) == [4]
    assert target((0.5, 1.5)) == target(torch.tensor([[0.5, 1.5]])) == [[0.5, 1.5]]
    for bad in (np.zeros((2, 2)), []):
        with pytest.raises(ValueError, match=r'graph 0: graph.graph\["y"\] has the shape'):
            target(bad)
