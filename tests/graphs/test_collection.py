import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.graphs.collection import EdgeData
from graph_zoo import as_pyg, zoo


def same(one, two):
    np.testing.assert_array_equal(one.sizes, two.sizes)
    np.testing.assert_array_equal(one.edges, two.edges)
    np.testing.assert_array_equal(one.x, two.x)


def test_choosing_graphs_and_batches(rng):
    pairs, y = zoo(rng, 5)
    pairs = [(a, x.astype(np.float32)) for a, x in pairs]
    graphs = as_graphs(as_pyg(pairs, y))
    chosen = graphs[np.array([3, 0])]
    wanted = as_graphs([pairs[3], pairs[0]])
    same(chosen, wanted)
    assert chosen.y.tolist() == [1, 0]
    same(graphs[1:3], as_graphs(pairs[1:3]))
    same(graphs[2], as_graphs(pairs[2:3]))
    batch = chosen.to_batch()
    assert batch.num_graphs == 2
    assert batch.num_nodes == len(wanted.x)
    np.testing.assert_array_equal(batch.edge_index.numpy(), wanted.edges)
    np.testing.assert_array_equal(batch.batch.numpy(), np.repeat([0, 1], wanted.sizes))


def test_a_graph_may_be_chosen_several_times():
    given = as_graphs([nx.cycle_graph(3), nx.path_graph(4), nx.star_graph(2)])
    chosen = given[[2, 0, 0, 1]]
    assert chosen.sizes.tolist() == [3, 3, 3, 4]
    assert chosen.degrees.tolist() == [2, 1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 1]
    tails, heads = chosen.edges
    owner = np.repeat(np.arange(4), chosen.sizes)
    assert (owner[tails] == owner[heads]).all()


def test_targets_go_with_their_graphs():
    graphs = as_graphs([nx.path_graph(2)] * 3)
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(replace(graphs, y=rows)[[2, 0]].y, rows[[2, 0]])
    some = np.array([None, 1, (2.0, 3.0)], dtype=object)
    assert replace(graphs, y=some)[[2, 0]].y.tolist() == [(2.0, 3.0), None]


def test_names_go_with_their_graphs():
    given = Graphs(np.array([1, 2, 1]), np.array([[1, 2], [2, 1]]), names=np.array(["one", "two", "lone"]))
    assert given.names.tolist() == ["one", "two", "lone"]
    assert given[[2, 0, 2]].names.tolist() == ["lone", "one", "lone"]
    assert given[1:].names.tolist() == ["two", "lone"]
    assert given[given.sizes == 1].without_edge_data().names.tolist() == ["one", "lone"]
    assert given[1].names.tolist() == ["two"]
    assert Graphs(np.array([1]), np.zeros((2, 0), int))[:1].names is None


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"labels": np.zeros(3, int)}, r"labels must have one row for each of the 3 nodes.* \[3\]"),
        ({"x": np.zeros((2, 1))}, r"x must have one row for each of the 3 nodes.* \[2, 1\]"),
        ({"y": np.zeros(3)}, "y has 3 entries for 2 graphs"),
        ({"names": ["one"]}, "1 names for 2 graphs: give one name per graph"),
        ({"names": ["one", 2]}, "the name of graph 1 is a int, expected a string"),
        ({"edges": np.zeros((4, 3), int)}, r"edges must have the shape \[2, E\], got \[4, 3\]"),
        ({"edges": np.array([[1], [3]])}, "edges must lie between 0 and 2, the last of the nodes"),
        ({"edges": np.array([[0, 1], [1, 0]])}, "edges must join nodes of the same graph"),
    ],
)
def test_flat_arrays_must_fit_together(parts, said):
    with pytest.raises(ValueError, match=said):
        Graphs(**{"sizes": np.array([1, 2]), "edges": np.zeros((2, 0), int), **parts})


def test_collections_are_joined_and_slices_give_them_back():
    from edge_graphs import NAMES, edge_graph

    whole = as_graphs([edge_graph(seed) for seed in range(7)], **NAMES)
    parts = [whole[:2], whole[2], whole[3:]]
    joined = Graphs.concatenate(parts)
    again = as_graphs(parts)
    for one in (joined, again):
        for name in ("sizes", "edges", "x", "labels"):
            np.testing.assert_array_equal(getattr(one, name), getattr(whole, name))
        for name in ("ends", "labels", "x", "weights"):
            np.testing.assert_array_equal(getattr(one.edge_data, name), getattr(whole.edge_data, name))
        assert one.edge_data.directed == whole.edge_data.directed
    assert Graphs.concatenate([whole]) is whole


def test_only_what_carries_the_same_is_joined():
    plain, named = as_graphs([nx.path_graph(2)]), replace(as_graphs([nx.path_graph(2)]), names=np.array(["a"]))
    with pytest.raises(ValueError, match="collection 1 has no names, others have"):
        Graphs.concatenate([named, plain])
    one, two = (replace(plain, x=np.zeros((2, width), np.float32)) for width in (1, 3))
    with pytest.raises(ValueError, match=r"differ in the columns of x: \[1, 3\]"):
        Graphs.concatenate([one, two])
    with pytest.raises(ValueError, match="names of their columns"):
        Graphs.concatenate([replace(one, columns=("a",)), replace(one, columns=("b",))])


def test_edges_in_any_order_are_sliced_right():
    given = as_graphs([nx.cycle_graph(3), nx.path_graph(4), nx.star_graph(2)])
    mixed = replace(given, edges=given.edges[:, ::-1])
    for which in ([1], [2, 0], slice(1, None)):
        np.testing.assert_array_equal(mixed[which].edges, given[which].edges)


@pytest.mark.parametrize(
    ("sizes", "edges", "words"),
    [
        ([2, 0, 3], [[], []], "graph 1 has no nodes"),
        ([2, -1], [[], []], "graph 1 has no nodes"),
        ([2.0], [[0], [1]], "sizes must be"),
        ([2], [[0.5], [1.0]], "edges must be whole numbers"),
    ],
)
def test_what_loops_rely_on_is_checked(sizes, edges, words):
    edges = np.array(edges, dtype=int if not edges[0] else None)
    with pytest.raises(ValueError, match=words):
        Graphs(np.array(sizes), edges)


def test_features_are_looked_at_when_they_are_used():
    graphs = Graphs(np.array([2, 1]), np.zeros((2, 0), int), x=np.array([[0.0], [1.0], [np.nan]]))
    with pytest.raises(ValueError, match="graph 1 has a NaN or infinite node feature"):
        as_graphs(graphs)


@pytest.mark.parametrize("nodes", [1, 7, 20, 10_000])
def test_pieces_are_all_graphs_in_their_order(rng, nodes):
    pairs, y = zoo(rng, 12)
    graphs = as_graphs(as_pyg(pairs, y))
    pieces = list(graphs.pieces(nodes))
    for piece, following in itertools.pairwise(pieces):
        assert len(piece) == 1 or piece.sizes.sum() <= nodes
        assert piece.sizes.sum() + following.sizes[0] > nodes
    again = Graphs.concatenate(pieces)
    for name in ("sizes", "edges", "x", "y"):
        np.testing.assert_array_equal(getattr(again, name), getattr(graphs, name))


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
