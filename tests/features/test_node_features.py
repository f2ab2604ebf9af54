import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.features import NodeFeatures
from graph_metric_learn.graphs import as_graphs
from graph_zoo import zoo


def labelled(*labels, x=None):
    graph = nx.path_graph(len(labels))
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    if x is not None:
        nx.set_node_attributes(graph, dict(enumerate(x)), "x")
    return graph


def test_numbers_have_a_column_up_to_the_largest():
    made = NodeFeatures("labels").fit_transform([labelled(0, 3)])
    assert made.x.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]


def test_strings_have_a_column_each_and_unseen_labels_give_zeros():
    features = NodeFeatures("labels").fit([labelled("C", "N", "C")])
    assert features.transform([labelled("N", "Xe", "C")]).x.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert NodeFeatures("labels").fit([labelled(1, 2)]).transform([labelled(9, 1)]).x.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_several_labels_per_node_are_blocks_side_by_side():
    made = NodeFeatures("labels").fit_transform([labelled((0, 1), (1, 0))])
    assert made.x.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


def test_degrees_beyond_the_largest_and_without_neighbours():
    features = NodeFeatures("degree").fit([nx.path_graph(3)])
    assert features.width_ == 2
    star = features.transform([nx.star_graph(4)])
    assert star.x.tolist() == [[0, 1]] + [[1, 0]] * 4
    assert features.transform([nx.empty_graph(1)]).x.tolist() == [[0, 0]]


def test_attributes_are_standardised_by_the_training_graphs(rng):
    pairs, _ = zoo(rng, 10)
    train, new = as_graphs(pairs[:7]), as_graphs(pairs[7:])
    train.x[:, 1] = 5.0
    features = NodeFeatures("attributes").fit(train)
    made = features.transform(train).x
    np.testing.assert_allclose(made.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(made.std(0), [1, 0, 1], atol=1e-5)
    moved = features.transform(new).x
    np.testing.assert_allclose(moved[:, 0], (new.x[:, 0] - train.x[:, 0].mean()) / train.x[:, 0].std(), rtol=1e-4)
    assert (moved[:, 1] == 0).all()


def test_fuse_is_attributes_then_labels():
    graphs = [labelled(0, 1, x=[[1.0], [3.0]])]
    assert NodeFeatures("fuse").fit_transform(graphs).x.tolist() == [[-1, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("graph", "kind"),
    [(labelled(0, 1, x=[[1.0], [3.0]]), "x"), (labelled(0, 1), "labels"), (nx.path_graph(2), "degree")],
)
def test_auto_takes_what_is_there(graph, kind):
    assert NodeFeatures().fit([graph]).kind_ == kind


@pytest.mark.parametrize("kind", ["x", "attributes", "labels", "degree", "fuse"])
def test_the_state_is_plain_json_and_complete(kind):
    graphs = [labelled("C", "N", "C", x=[[1.0, 7.0], [3.0, 7.0], [4.0, 7.0]])]
    features = NodeFeatures(kind).fit(graphs)
    again = NodeFeatures.from_state(json.loads(json.dumps(features.state(), allow_nan=False)))
    np.testing.assert_array_equal(again.transform(graphs).x, features.transform(graphs).x)
    assert again.width_ == features.width_ == features.transform(graphs).x.shape[1]


@pytest.mark.parametrize(
    ("kind", "graph", "words"),
    [
        ("labels", nx.path_graph(2), "no node labels"),
        ("attributes", nx.path_graph(2), "no node features"),
        ("nonsense", nx.path_graph(2), "'nonsense'"),
        ("labels", labelled(0.5, 1.5), "whole numbers or strings"),
        ("labels", labelled(0, 10**9), "node labels up to"),
    ],
)
def test_what_is_missing_is_said(kind, graph, words):
    with pytest.raises(ValueError, match=words):
        NodeFeatures(kind).fit([graph])


def test_new_graphs_must_match():
    features = NodeFeatures("fuse").fit([labelled("C", "N", x=[[1.0], [3.0]])])
    with pytest.raises(ValueError, match="2 node features, the metric was fitted with 1"):
        features.transform([labelled("C", "N", x=[[1.0, 1.0], [3.0, 1.0]])])
    with pytest.raises(ValueError, match="carry 2 labels"):
        features.transform([labelled(("C", "C"), ("N", "N"), x=[[1.0], [3.0]])])
    with pytest.raises(ValueError, match="another type"):
        features.transform([labelled(1, 2, x=[[1.0], [3.0]])])


def test_names_of_columns_are_those_of_x_alone():
    named = replace(as_graphs([(1 - np.eye(3), np.arange(6.0).reshape(3, 2))]), columns=("charge", "mass"))
    assert NodeFeatures("x").fit_transform(named).columns == ("charge", "mass")
    assert NodeFeatures("degree").fit_transform(named).columns is None
    assert NodeFeatures("attributes").fit_transform(named).columns is None


def test_fitted_again_to_graphs_of_another_width():
    """The width of the first fit was asked for."""
    narrow, wide = [(1 - np.eye(3), np.ones((3, 2)))], [(1 - np.eye(3), np.arange(12.0).reshape(3, 4))]
    for kind in ("x", "attributes"):
        features = NodeFeatures(kind).fit(narrow).fit(wide)
        assert features.transform(wide).x.shape == (3, 4)
        with pytest.raises(ValueError, match="graphs have 2 node features, the metric was fitted with 4"):
            features.transform(narrow)
