import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic import given as module
from graph_metric_learn.metrics.automatic.given import landmark_rows, read_given
from graph_metric_learn.objectives import Classes, Numbers

GRAPHS, NUMBERS = element_graphs(60)
CLASSES = np.median(NUMBERS) < NUMBERS


def given(y, groups=None, graphs=GRAPHS, **options):
    metric = gml.GraphMetric(label="element", **options)
    return metric, read_given(metric, graphs, y, groups, np.random.default_rng(0))


def test_few_graphs_are_all_landmarks():
    _, found = given(NUMBERS)
    assert found.rest is None
    assert len(found.graphs) == len(found.training) == len(found.target) == 60
    np.testing.assert_array_equal(found.training.target, found.target)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_rest_comes_in_chunks(monkeypatch, grouped):
    """Each graph once, as a landmark or later, with its target and group."""
    monkeypatch.setattr(module, "_CHUNK", 13)
    groups = np.arange(60) // 3 if grouped else None
    _, found = given(NUMBERS, groups, n_landmarks=20)
    chunks = list(found.rest)
    assert [len(chunk.graphs) for chunk in chunks] == [13, 13, 13, 60 - len(found.graphs) - 39]
    assert 15 < len(found.graphs) <= 20
    for chunk in chunks:
        np.testing.assert_array_equal(chunk.target, found.target[chunk.indices])
        assert chunk.graphs.sizes.tolist() == [len(GRAPHS[i]) for i in chunk.indices]
        assert (chunk.groups is None) == (not grouped)
    indices = np.concatenate([chunk.indices for chunk in chunks])
    assert len(np.unique(indices)) == len(indices)
    if grouped:
        names = np.concatenate([chunk.groups for chunk in chunks])
        assert not set(names) & set(found.group_names)
        assert len(np.unique(names)) == len(np.unique(groups[indices]))


def test_a_stream_begins_with_its_landmarks(monkeypatch):
    """And the rest is read as it comes, as the first graphs were."""
    monkeypatch.setattr(module, "_CHUNK", 13)
    read = []

    def stream():
        for graph, y in zip(GRAPHS, NUMBERS, strict=True):
            read.append(1)
            yield graph, y

    graphs, numbers = (part for part in zip(*stream(), strict=True))
    read.clear()
    _, found = given((y for y in numbers), graphs=(graph for graph in graphs), n_landmarks=20)
    assert found.graphs.sizes.tolist() == [len(graph) for graph in graphs[:20]]
    chunks = list(found.rest)
    assert [len(chunk.graphs) for chunk in chunks] == [13, 13, 13, 1]
    np.testing.assert_array_equal(np.concatenate([chunk.indices for chunk in chunks]), np.arange(20, 60))
    _, whole = given(NUMBERS)
    centre, scale = np.mean(numbers[:20]), np.std(numbers[:20])
    found_targets = np.concatenate([chunk.target for chunk in chunks])[:, 0]
    np.testing.assert_allclose(found_targets * scale + centre, numbers[20:])
    assert len(whole.target) == 60
    _, short = given((y for y in numbers[:20]), graphs=(graph for graph in graphs[:20]), n_landmarks=20)
    assert short.rest is None


def test_landmarks_are_of_all_classes_or_whole_groups():
    target = np.repeat([0, 1], [990, 10])
    rows = landmark_rows(Classes.of(target)[0], target, None, 50, np.random.default_rng(0))
    assert len(rows) == 50
    assert set(target[rows]) == {0, 1}
    objective, numbers = Numbers.of(np.arange(100.0))
    groups = np.repeat(np.arange(10), 10)
    rows = landmark_rows(objective, numbers, groups, 35, np.random.default_rng(0))
    assert np.bincount(groups[rows], minlength=10).tolist().count(10) == 3
    assert len(rows) == 30
    large = landmark_rows(objective, numbers, np.arange(100) // 50, 35, np.random.default_rng(0))
    assert len(large) == 35  # no group fits


def test_copies_and_groups_are_held_out_together():
    twice = [*GRAPHS[:30], *GRAPHS[:30]]
    _, found = given(np.tile(NUMBERS[:30], 2), graphs=twice)
    np.testing.assert_array_equal(found.training.groups[:30], found.training.groups[30:])
    _, joined = given(np.tile(NUMBERS[:30], 2), np.arange(60) // 2, graphs=twice)
    groups = joined.training.groups
    assert groups[0] == groups[1] == groups[30] == groups[31]
    _, apart = given(NUMBERS, None)
    assert len(np.unique(apart.training.groups)) > 55
    with pytest.raises(ValueError, match="60 graphs, but groups of shape"):
        given(NUMBERS, np.arange(5))


@pytest.mark.parametrize(
    ("options", "y", "powers"),
    [
        ({}, CLASSES, (0.0,)),
        ({}, np.arange(60) % 20 == 0, (0.0, 0.5, 1.0)),
        ({"scoring": "roc_auc"}, CLASSES, (0.0, 0.5, 1.0)),
        ({"class_weight": None}, np.arange(60) % 20 == 0, (0.0,)),
        ({"class_weight": "balanced"}, CLASSES, (1.0,)),
        ({"class_weight": "balanced"}, NUMBERS, (0.0,)),
        ({"scoring": "accuracy"}, np.arange(60) % 20 == 0, (0.0,)),
    ],
)
def test_which_weights_of_classes_are_tried(options, y, powers):
    _, found = given(y, **options)
    assert found.training.powers == powers
    if powers == (1.0,):
        weights = found.training.row_weights(1.0)
        assert weights[y].sum() == pytest.approx(weights[~y].sum())
        assert weights.mean() == pytest.approx(1.0)


def test_how_later_graphs_are_read_is_decided():
    metric, _ = given(CLASSES)
    assert metric.labelled_
    assert not metric.directed_
    assert metric.objective_.classes_.tolist() == [False, True]
    arrows = [nx.DiGraph([(0, 1), (1, 2 + i % 3)]) for i in range(10)]
    directed = gml.GraphMetric()
    read_given(directed, arrows, np.arange(10) % 2, None, np.random.default_rng(0))
    assert directed.directed_


# --- which families --------------------------------------------------------------------------------------------------


def test_families_that_were_asked_for():
    assert list(given(CLASSES, families=["size", "trees"])[1].recipes) == ["size", "trees"]
    everything = given(CLASSES)[1].recipes
    assert {"trees", "bare trees", "pairs", "nodes, density", "size"} <= everything.keys()
    with pytest.raises(
        ValueError, match="family 'edges, mean' needs what these graphs do not carry; they have trees, "
    ):
        given(CLASSES, families=["trees", "edges, mean"])


def test_features_that_were_asked_for():
    assert list(given(CLASSES, features=["trees@0", "trees@1"])[1].recipes) == ["trees@0, trees@1 (multiset)"]
    assert list(given(CLASSES, features=["degree@1"], embedding="axes")[1].recipes) == ["degree@1 (axes)"]
    with pytest.raises(ValueError, match="trees go with trees alone"):
        given(CLASSES, features=["trees@0", "degree@1"])
    with pytest.raises(ValueError, match="unknown block 'leaves@0'"):
        given(CLASSES, features=["leaves@0"])


@pytest.mark.parametrize("embedding", ["mean", "axes", "histogram"])
def test_one_embedding_for_all_that_it_can_take(embedding):
    recipes = given(CLASSES, embedding=embedding)[1].recipes
    assert {recipe.embedding for recipe in recipes.values()} == {embedding}
    assert all(name.endswith(f"({embedding})") for name in recipes)
    trees = {name for recipe in recipes.values() for name in recipe.names if name.startswith("trees")}
    assert bool(trees) == (embedding == "histogram")


def test_a_stream_without_graphs():
    with pytest.raises(ValueError, match="no graphs were given"):
        gml.GraphMetric().fit(iter([]), iter([]))
