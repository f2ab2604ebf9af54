import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import NAMES, read_rich, rich_graph
from graph_metric_learn.embeddings import EMBEDDINGS, Mean
from graph_metric_learn.features.block_kind import SmoothBlock
from graph_metric_learn.features.blocks import BLOCKS
from graph_metric_learn.metrics.automatic.recipes import FAMILIES, Carried, Recipe, recipes_for, recipes_of_blocks

RINGS = [nx.cycle_graph(n) for n in range(3, 9)]


def recipes_of(graphs, **names):
    return recipes_for(Carried.of(gml.as_graphs(graphs, **names)))


def test_graphs_that_carry_everything_have_all_families():
    assert recipes_for(Carried.of(read_rich([rich_graph(i) for i in range(6)]))).keys() == FAMILIES.keys()


def test_graphs_that_carry_nothing_are_compared_by_their_structure():
    found = recipes_of(RINGS)
    assert {"trees", "pairs", "pairs of trees", "size", "structure, mean", "nodes, mean"} <= found.keys()
    for what in ("edge", "first", "bare", "attributes", "strength"):
        assert not [name for name in found if what in name]
    assert {name for recipe in found.values() for name in recipe.names if name[:6] == "degree"}


@pytest.mark.parametrize(
    ("node", "edge", "there", "absent"),
    [
        ({"element": "C"}, {}, ["bare trees", "bare pairs", "nodes, mean"], ["trees with edges", "attributes, mean"]),
        ({"element": ["C", 1]}, {}, ["trees of first labels", "pairs of first labels"], ["edges as roots"]),
        ({"element": "C", "x": [0.5]}, {}, ["attributes, density"], ["edges, mean"]),
        ({"x": [0.5]}, {}, ["nodes, mean"], ["attributes, mean", "bare trees"]),
        ({}, {"kind": "s"}, ["trees with edges", "edges as roots", "edges, mean"], ["strength, mean"]),
        ({}, {"v": [0.5]}, ["edges around nodes, mean", "edges, mean"], ["trees with edges", "strength, mean"]),
        ({}, {"weight": 0.5}, ["strength, mean", "edges, mean"], ["edges around nodes, mean"]),
    ],
)
def test_families_that_graphs_have_by_what_they_carry(node, edge, there, absent):
    graphs = [graph.copy() for graph in RINGS]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: dict(node) for v in graph})
        nx.set_edge_attributes(graph, {e: dict(edge) for e in graph.edges})
    names = {key: name for key, name in NAMES.items() if name in (*node, *edge)}
    found = recipes_of(graphs, **names)
    assert set(there) <= found.keys()
    assert not set(absent) & found.keys()


def test_kinds_go_with_what_is_seen():
    """A kind has a share of the even weights, so a family of another kind of thing is of a kind of its own."""
    found = recipes_for(Carried.of(read_rich([rich_graph(i) for i in range(6)])))
    kinds = {kind: {name for name, one in found.items() if one.kind == kind} for kind in
             {one.kind for one in found.values()}}  # fmt: skip
    assert kinds["pairs"] == {"pairs", "pairs of trees", "pairs of first labels", "pairs of coarse atoms", "bare pairs"}
    assert kinds.keys() - {"pairs"} == {"surroundings", "attributes", "structure", "edges", "vectors of graphs"}
    assert {"edges as roots", "edges, mean", "strength, mean"} <= kinds["edges"]


# --- what is registered from outside ---------------------------------------------------------------------------------


class Corners(SmoothBlock):
    """1 for nodes with one neighbour. A toy."""

    scaling = "apart"

    def start(self, graphs):
        return (graphs.degrees == 1).astype(np.float32)[:, None]


class Largest(Mean):
    """The largest of each column. A toy."""

    def vectors(self, points, sizes):
        return np.stack([part.max(0) for part in np.split(points, np.cumsum(sizes)[:-1])]).astype(np.float32)


def stars_and_paths():
    """As many nodes and edges in both classes."""
    graphs = [nx.path_graph(n) for n in range(6, 16)] + [nx.star_graph(n - 1) for n in range(6, 16)]
    return graphs, np.repeat([0, 1], 10)


def test_a_block_from_outside_becomes_families(monkeypatch, tmp_path):
    monkeypatch.setitem(BLOCKS, "corners", Corners)
    graphs, y = stars_and_paths()
    found = recipes_of(graphs)
    assert {"corners@0 (mean)", "corners@0 (density)", "corners@0 (reference)"} <= found.keys()
    metric = gml.GraphMetric(features=["corners@0"], random_state=0).fit(graphs, y)
    assert set(metric.weights_) <= found.keys()
    near = metric.pairwise_distances([nx.path_graph(20), nx.star_graph(20)], graphs).argmin(1)
    assert y[near].tolist() == [0, 1]
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))


def test_an_embedding_from_outside_becomes_a_family(monkeypatch, tmp_path):
    monkeypatch.setitem(EMBEDDINGS, "largest", Largest)
    monkeypatch.setitem(FAMILIES, "hubs", Recipe("hubs", (("degree@0",),), "largest", "largest degrees"))
    graphs, y = stars_and_paths()
    metric = gml.GraphMetric(families=["hubs"], random_state=0).fit(graphs, y)
    assert metric.weights_ == {"hubs": 1.0}
    near = metric.pairwise_distances([nx.path_graph(20), nx.star_graph(15)], graphs).argmin(1)
    assert y[near].tolist() == [0, 1]
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    named = gml.GraphMetric(features=["degree@0"], embedding="largest", random_state=0).fit(graphs, y)
    assert list(named.weights_) == ["degree@0 (largest)"]


# --- recipes are checked ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "embedding", "ranges", "words"),
    [
        ((("trees@0",),), "best", (), "embedding"),
        (((),), "mean", (), "hold no blocks"),
        ((("trees@0",),), "multiset", (), "do not go with the ranges"),
        ((("attributes@0",),), "mean", (0,), "do not go with the ranges"),
        ((("trees@0",), ("trees@1",)), "multiset", (0,), "do not go with the ranges"),
        ((("trees@0",),), "multiset", (1,), "ranges end at 1, but there are 1 blocks"),
        ((("attributes@0",),), "multiset", (0,), "do not go together"),
        ((("trees@0",),), "mean", (), "not with 'mean'"),
        ((("pairs@0",),), "histogram", (), "do not go together"),
        ((("what@0",),), "mean", (), "what@0"),
        ((("size@0",),), "vectors of graphs", (), "must be empty"),
        ((), "mean", (), "hold no blocks"),
    ],
)
def test_recipes_that_cannot_be(sets, embedding, ranges, words):
    with pytest.raises(ValueError, match=words):
        Recipe("kind", sets, embedding, "words", ranges)


def test_blocks_by_name():
    assert list(recipes_of_blocks(["trees@0", "trees@2"])) == ["trees@0, trees@2 (multiset)"]
    assert list(recipes_of_blocks(["degree@0"], "axes")) == ["degree@0 (axes)"]
    several = recipes_of_blocks(["degree@0", "structure@1"])
    assert {"degree@0, structure@1 (mean)", "degree@0, structure@1 (density)"} <= several.keys()
    (pairs,) = recipes_of_blocks(["pairs@0"]).values()
    assert (pairs.cloud, pairs.ranges) == ("pairs", (0,))
    with pytest.raises(ValueError, match="trees go with trees alone, got trees@0, degree@0"):
        recipes_of_blocks(["trees@0", "degree@0"])
    with pytest.raises(ValueError, match="embedding 'mean' cannot take trees@0"):
        recipes_of_blocks(["trees@0"], "mean")
