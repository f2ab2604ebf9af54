import warnings
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data

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
    pairs = [(a, x.astype(np.float32)) for a, x in pairs]
    wanted = as_graphs(pairs)
    assert wanted.x.dtype == np.float32
    data = as_pyg(pairs, y)
    for graphs in (
        data,
        Batch.from_data_list(data),
        as_networkx(pairs),
        [(sparse.csr_matrix(a), x) for a, x in pairs],
        [(torch.from_numpy(a), torch.from_numpy(x)) for a, x in pairs],
        [list(pair) for pair in pairs],
        [pairs[0], data[1], as_networkx(pairs[2:3])[0], *pairs[3:]],
    ):
        same(as_graphs(graphs), wanted)
    np.testing.assert_array_equal(as_graphs(data).y, y)
    assert as_graphs(wanted) is wanted


def test_a_pyg_dataset(rng, tmp_path):
    from torch_geometric.data import InMemoryDataset

    pairs, y = zoo(rng, 4)
    pairs = [(a, x.astype(np.float32)) for a, x in pairs]
    data = as_pyg(pairs, y)

    class Zoo(InMemoryDataset):
        def __init__(self):
            super().__init__(None)
            self.data, self.slices = self.collate(data)

    same(as_graphs(Zoo()), as_graphs(pairs))


def test_names_travel_from_every_source(tmp_path):
    from torch_geometric.data import Batch, InMemoryDataset

    edges = torch.from_numpy(EDGE)
    data = [Data(edge_index=edges, num_nodes=2, name=name) for name in ("first", "second")]

    class Named(InMemoryDataset):
        def __init__(self):
            super().__init__(None)
            self.data, self.slices = self.collate(data)

    path = nx.path_graph(2)
    path.name = "second"
    for graphs in (data, Batch.from_data_list(data), Named(), [data[0], path], as_graphs(data)):
        assert as_graphs(graphs).names.tolist() == ["first", "second"]
    assert as_graphs([*data, (EDGE, None)]).names is None  # not all have one


def test_edges_become_simple_and_undirected():
    a = np.array([[5, 0, 0], [2, 0, 0], [0, 0, 0]])  # a weighted self-loop and one directed, weighted edge
    graphs = as_graphs([(a, np.zeros((3, 1)))], edges=False)
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


def carrying(*ys):
    graphs = [nx.path_graph(2) for _ in ys]
    for graph, y in zip(graphs, ys, strict=True):
        graph.graph["y"] = y
    return as_graphs(graphs).y


def test_targets_are_one_per_graph_or_a_row_of_several():
    assert carrying(None, None) is None
    assert carrying(3, 4).tolist() == [3, 4]
    assert carrying("a", "b").tolist() == ["a", "b"]
    assert carrying([1.0, 2.0], [3.0, 4.0]).tolist() == [[1, 2], [3, 4]]
    assert carrying([1.0], 2.0).tolist() == [1, 2]


def test_where_only_some_have_targets_the_others_have_none():
    found = carrying(None, 2, 0)
    assert found.dtype == object
    assert found.tolist() == [None, 2, 0]
    found = carrying([1.0, 2.0], None)
    assert found.shape == (2,)
    assert found.tolist() == [(1.0, 2.0), None]
    assert carrying(None, "a").tolist() == [None, "a"]


def test_strings_and_numbers_stay_what_they_are():
    assert carrying("1", 1).tolist() == ["1", 1]


def test_rows_of_targets_must_be_equally_long():
    with pytest.raises(ValueError, match=r"graph 3 has 3 targets \(y\), graph 1 has 2"):
        carrying(None, [1.0, 2.0], [3.0, 4.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"graph 1 has 2 targets \(y\), graph 0 has 1"):
        carrying(1.0, [1.0, 2.0])


def test_names_that_no_graph_has():
    graph = nx.path_graph(2)
    with pytest.raises(ValueError, match="no graph has a node attribute 'wieght'"):
        as_graphs([graph], attribute="wieght")
    with pytest.raises(ValueError, match="label must be one name, got \\['a', 'b'\\]: put several"):
        as_graphs([nx.path_graph(2)], label=["a", "b"])
    named = nx.path_graph(2)
    nx.set_node_attributes(named, "C", "element")
    with pytest.raises(ValueError, match="no graph has a node attribute 'elment'; there is node attribute 'element'"):
        as_graphs([named], label="elment")
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
        ([(EDGE, np.full((2, 1), 1e300))], r"graph 0 has a node feature beyond 3e.38"),
        ([(EDGE, np.full((2, 1), np.inf))], "graph 0 has a NaN or infinite"),
        ([(EDGE, np.zeros((2, 1))), (EDGE, np.zeros((2, 3)))], "graph 1 has features of width 3, graph 0 of width 1"),
        ([(EDGE, np.zeros((2, 1))), (EDGE, None)], "graph 1 has no features, other graphs have"),
        ([(EDGE, np.zeros((3, 1)))], r"graph 0 has features of shape \(3, 1\), expected \(2, q\)"),
        ([(EDGE, np.zeros((2, 0)))], "width 0"),
        ([(EDGE, np.array([["a"], ["b"]]))], "expected numbers"),
        ([(np.zeros((2, 3)), None)], r"graph 0 has an adjacency of shape \(2, 3\)"),
        ([(np.full((2, 2), np.nan), None)], "not finite"),
        ([np.zeros(3)], "graph 0 is a ndarray"),
        ([EDGE, EDGE], r"or \(adjacency, None\) without features"),
        ([nx.path_graph(2), "x"], "graph 1 is a str: .* from_smiles reads SMILES"),
    ],
)
def test_bad_graphs_get_one_clear_error(graphs, words):
    with pytest.raises(ValueError, match=words):
        as_graphs(graphs)


def test_bad_pyg_and_networkx_graphs():
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
    graphs = as_graphs([Data(x=torch.ones(3, 2)), (np.zeros((1, 1)), np.ones((1, 2)))])
    assert isinstance(graphs, Graphs)
    assert graphs.sizes.tolist() == [3, 1]
    assert graphs.edges.shape == (2, 0)


def test_features_keep_their_digits():
    x = 1e8 + np.arange(3.0)[:, None]
    assert as_graphs([(np.zeros((3, 3)), x)]).x.ravel().tolist() == [1e8, 1e8 + 1, 1e8 + 2]
    graph = nx.empty_graph(3)
    nx.set_node_attributes(graph, dict(enumerate(x)), "x")
    assert as_graphs([graph]).x.tolist() == x.tolist()


class Shuffled:
    """Iterates in the order given; items are looked up by labels that are in another order, as in a pandas Series."""

    def __init__(self, values, index):
        self.values, self.index = values, index

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, label):
        return self.values[self.index.index(label)]


def test_graphs_come_in_the_order_given():
    paths = [nx.path_graph(n) for n in (2, 3, 4)]
    array = np.empty(3, dtype=object)
    array[:] = paths
    for given_graphs in (Shuffled(paths, [2, 0, 1]), iter(paths), (graph for graph in paths), tuple(paths), array):
        assert as_graphs(given_graphs).sizes.tolist() == [2, 3, 4]
    some = torch.utils.data.Subset(paths, [2, 0])  # has no __iter__
    assert as_graphs(some).sizes.tolist() == [4, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"directed": "yes"}, "unknown directed='yes': directed is \"auto\", True or False"),
        ({"directed": None}, "unknown directed=None"),
        ({"edges": True}, "unknown edges=True"),
        ({"edges": "none"}, "unknown edges='none'"),
    ],
)
def test_unknown_options(options, words):
    with pytest.raises(ValueError, match=words):
        as_graphs([nx.path_graph(2)], **options)


# --- directions -----------------------------------------------------------------------------------------------------


def edge_list(*edges, n=3, **data):
    return Data(
        edge_index=torch.tensor(edges).T, num_nodes=n, **{key: torch.tensor(part) for key, part in data.items()}
    )


def test_every_edge_listed_once_is_undirected_with_a_warning():
    once = edge_list((0, 1), (2, 1), edge_weight=[2.0, 3.0])
    with pytest.warns(
        UserWarning, match="every edge is listed in one direction only and is read as undirected"
    ) as said:
        data = as_graphs([once, once]).edge_data
    assert len(said) == 1
    assert data.ends[:, :4].tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.weights.tolist() == [2, 2, 3, 3] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_graphs([once], directed=True).edge_data.ends.tolist() == [[0, 2], [1, 1]]
        assert not as_graphs([once], directed=False).edge_data.directed
        assert as_graphs([once], edges=False).edge_data is None
        as_graphs([nx.path_graph(3)])  # says itself that it is undirected
        as_graphs([nx.DiGraph([(0, 1)])])
        as_graphs([Data(num_nodes=2)])


def test_one_graph_decides_for_all():
    both_ways, one_way = edge_list((0, 1), (1, 0)), edge_list((0, 1), (1, 0), (1, 2))
    assert as_graphs([both_ways]).edge_data is None
    data = as_graphs([both_ways, one_way]).edge_data
    assert data.carries == ["directions"]
    assert data.ends.tolist() == [[0, 1, 3, 4, 4], [1, 0, 4, 3, 5]]
    np.testing.assert_array_equal(as_graphs([one_way]).edges, [[0, 1, 1, 2], [1, 0, 2, 1]])


def test_repeats_without_data_count_once():
    twice = edge_list((0, 1), (1, 0), (0, 1), (1, 0))
    assert as_graphs([twice]).edge_data is None
    assert as_graphs([twice]).edges.tolist() == [[0, 1], [1, 0]]
    labelled = edge_list((0, 1), (1, 0), (0, 1), (1, 0), edge_type=[5, 5, 6, 6])
    assert sorted(as_graphs([labelled]).edge_data.labels[:, 0].tolist()) == [5, 5, 6, 6]


def test_without_edge_data_nothing_changes():
    """Whatever edges carry, who the neighbours are does not depend on it."""
    given_graph = edge_list(
        (0, 1), (1, 2), (2, 2), (1, 0), edge_attr=[0.5, 1.5, 2.5, 3.5], edge_weight=[1.0, 2.0, 3.0, 4.0]
    )
    bare = edge_list((0, 1), (1, 2), (2, 2), (1, 0))
    for options in ({}, {"edges": False}, {"directed": True}, {"directed": False}):
        np.testing.assert_array_equal(as_graphs([given_graph], **options).edges, as_graphs([bare], edges=False).edges)


def test_different_kinds_of_graphs_together():
    weighted = nx.Graph()
    weighted.add_edge("a", "b", weight=3.0)
    data = as_graphs([(np.array([[0, 2.0], [2.0, 0]]), None), weighted, edge_list((0, 1), (1, 0), n=2)]).edge_data
    assert data.carries == ["weights"]
    assert data.weights.tolist() == [2, 2, 3, 3, 1, 1]


# --- invariances ----------------------------------------------------------------------------------------------------


def arcs_of(graphs, back):
    """How often each arc occurs with its data, nodes numbered as `back` says."""
    data = graphs.edge_data
    if data is None:
        return Counter((back[u], back[v]) for u, v in graphs.edges.T.tolist())
    parts = [part for part in (data.labels, data.x, data.weights) if part is not None]
    ends = data.ends.T.tolist()
    return Counter((back[u], back[v], *(str(part[i].tolist()) for part in parts)) for i, (u, v) in enumerate(ends))


@st.composite
def edges_with_data(draw):
    """Nodes, and edges (u, v, label, vector, weight), parallel ones and loops among them."""
    n = draw(st.integers(2, 6))
    node = st.integers(0, n - 1)
    value = st.sampled_from([0.5, 1.0, -2.0])
    edges = draw(st.lists(st.tuples(node, node, st.integers(0, 2), st.tuples(value, value), value), max_size=10))
    return n, edges, draw(st.randoms(use_true_random=False))


def as_data(n, edges):
    u, v, labels, vectors, weights = (list(part) for part in zip(*edges, strict=True)) if edges else ([],) * 5
    return Data(
        edge_index=torch.tensor([u, v], dtype=torch.int64),
        edge_type=torch.tensor(labels, dtype=torch.int64),
        edge_attr=torch.tensor(vectors, dtype=torch.float64).reshape(-1, 2),
        edge_weight=torch.tensor(weights, dtype=torch.float64),
        num_nodes=n,
    )


@given(edges_with_data(), st.sampled_from(["auto", True, False]), st.booleans())
def test_renumbering_and_order_of_edges(drawn, directed, both_ways):
    n, edges, random = drawn
    if both_ways:
        edges = edges + [(v, u, *rest) for u, v, *rest in edges]
    other, new = random.sample(edges, len(edges)), random.sample(range(n), n)
    other = [(new[u], new[v], *rest) for u, v, *rest in other]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one, two = (as_graphs([as_data(n, some)], directed=directed) for some in (edges, other))
    back = {after: before for before, after in enumerate(new)}
    assert arcs_of(one, range(n)) == arcs_of(two, back)
    assert (one.edge_data is None) == (two.edge_data is None)
    if one.edge_data is not None:
        assert one.edge_data.directed == two.edge_data.directed


def as_multigraph(n, edges, kind):
    graph = kind()
    graph.add_nodes_from(range(n))
    for u, v, label, vector, weight in edges:
        graph.add_edge(u, v, kind=label, vector=vector, weight=weight)
    return graph


NAMES = {"edge_label": "kind", "edge_attribute": "vector"}


@given(edges_with_data())
def test_orientation_of_undirected_edges(drawn):
    n, edges, random = drawn
    turned = [(v, u, *rest) if random.random() < 0.5 else (u, v, *rest) for u, v, *rest in edges]
    wanted = arcs_of(as_graphs([as_multigraph(n, edges, nx.MultiGraph)], **NAMES), range(n))
    assert arcs_of(as_graphs([as_multigraph(n, turned, nx.MultiGraph)], **NAMES), range(n)) == wanted
    both_ways = turned + [(v, u, *rest) for u, v, *rest in turned]
    assert arcs_of(as_graphs([as_data(n, both_ways)]), range(n)) == wanted


@given(edges_with_data())
def test_orientation_of_edges_listed_once(drawn):
    n, edges, random = drawn
    edges = list({(min(u, v), max(u, v)): (u, v, *rest) for u, v, *rest in edges}.values())
    turned = [(v, u, *rest) if random.random() < 0.5 else (u, v, *rest) for u, v, *rest in edges]
    wanted = arcs_of(as_graphs([as_multigraph(n, edges, nx.MultiGraph)], **NAMES), range(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for directed in ("auto", False):
            assert arcs_of(as_graphs([as_data(n, turned)], directed=directed), range(n)) == wanted


@given(edges_with_data())
def test_kinds_of_graphs_agree_on_directed_edges(drawn):
    n, edges, _ = drawn
    read = as_graphs([as_multigraph(n, edges, nx.MultiDiGraph)], directed=True, **NAMES)
    assert arcs_of(read, range(n)) == arcs_of(as_graphs([as_data(n, edges)], directed=True), range(n))
