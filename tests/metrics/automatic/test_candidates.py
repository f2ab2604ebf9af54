import networkx as nx
import pytest

from graph_metric_learn.features.blocks import BLOCKS
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.automatic.candidates import candidate_blocks, embeddings_for, recipes

FOR_TREES = ["histogram", "counts", "assignment", "normalized-assignment"]


def test_recipes_use_what_there_is():
    for kinds in (list(BLOCKS), list(BLOCKS)[1:], list(BLOCKS)[2:]):
        for names in recipes(kinds).values():
            assert {name.partition("@")[0] for name in names} <= set(kinds)
            assert embeddings_for(names)


def test_trees_are_deep_enough():
    found = recipes(["labels", "degree", "wl", "trees"])
    assert found["trees 0–4"] == [f"trees@{level}" for level in range(5)]
    seen = recipes(["labels", "degree", "wl", "trees"], ["labels"], several_labels=True)
    assert seen["trees with edges 0–4"] == [f"trees+edges@{level}" for level in range(5)]
    assert seen["trees of first labels 0–4"] == [f"trees+first+edges@{level}" for level in range(5)]


def test_trees_and_points_do_not_mix():
    assert embeddings_for(["trees@0", "trees@1"]) == FOR_TREES
    assert embeddings_for(["size@0"]) == ["mean"]
    assert embeddings_for(["wl@0"], "histogram") == []
    assert embeddings_for(["trees@0"], "assignment") == ["assignment"]
    assert embeddings_for(["trees@0"], "mean") == []
    with pytest.raises(ValueError, match="trees go with trees alone"):
        embeddings_for(["wl@0", "trees@0"])


def test_blocks_that_are_asked_for_are_the_only_candidates():
    graphs = as_graphs([nx.path_graph(3)])
    assert candidate_blocks(["wl@1", "degree@0"], "auto", graphs) == {"wl@1, degree@0": ["wl@1", "degree@0"]}
    assert "degree" in candidate_blocks("auto", "auto", graphs)  # nodes carry nothing
    with pytest.raises(ValueError, match="embedding 'histogram' cannot take wl@1"):
        candidate_blocks(["wl@1"], "histogram", graphs)
