import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Classes, Numbers, SeveralLabels, Unlabelled, objective_for, resolve_objective

PATHS = as_graphs([nx.path_graph(n) for n in range(2, 12)])


@pytest.mark.parametrize(
    ("task", "y", "wanted"),
    [
        ("auto", ["a", "b"] * 5, Classes),
        ("auto", [0, 1, 2, 3, 4] * 2, Classes),
        ("auto", [0.0, 1.0] * 5, Classes),
        ("auto", np.linspace(0, 1, 10), Numbers),
        ("auto", np.zeros((10, 2)), SeveralLabels),
        ("auto", np.where(np.arange(20) % 3, np.nan, 1.0).reshape(10, 2), SeveralLabels),
        ("auto", np.arange(20).reshape(10, 2), Numbers),
        ("labels", np.zeros((10, 2)), SeveralLabels),
        ("numbers", np.zeros((10, 2)), Numbers),
        ("auto", None, Unlabelled),
        ("numbers", range(10), Numbers),
        ("classes", range(10), Classes),  # heads say so: any number of classes is theirs to judge
        ("none", [0, 1] * 5, Unlabelled),
    ],
)
def test_tasks_and_what_auto_stands_for(task, y, wanted):
    assert type(objective_for(task, PATHS, y)) is wanted


def test_auto_takes_what_the_graphs_carry():
    rows = as_graphs([Data(num_nodes=2, y=torch.tensor([[0.1 * i, 1.0 * i]])) for i in range(4)])
    objective = objective_for("auto", rows, None)
    assert type(objective) is Numbers
    np.testing.assert_allclose(
        objective.decode(objective.encode(rows, None)), [[0.1 * i, i] for i in range(4)], atol=1e-6
    )


@pytest.mark.parametrize("y", [range(10), np.arange(10.0), list("abcdefghij"), [0, 1, 2, 3, 4, 5, 5, 5, 5, 5]])
def test_more_classes_than_half_the_graphs_are_refused(y):
    with pytest.raises(ValueError, match=r'classes for 10 graphs are too many to learn from.*task="numbers"'):
        objective_for("auto", PATHS, y)


def test_two_classes_are_never_too_many():
    graphs = PATHS[:3]
    assert type(objective_for("auto", graphs, [0, 1, 1])) is Classes
    with pytest.raises(ValueError, match="3 classes for 3 graphs"):
        objective_for("auto", graphs, [0, 1, 2])


@pytest.mark.parametrize("y", [["a", "b", None], [0.0, 1.0, np.nan], ["a", "b", float("nan")]])
def test_missing_classes_are_called_missing_not_one_class_more(y):
    graphs = PATHS[:3]
    with pytest.raises(ValueError, match="the class of graph 2 is missing"):
        objective_for("auto", graphs, y).encode(graphs, y)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_number_that_is_missing_is_called_so(missing):
    with pytest.raises(ValueError, match="the target of graph 0 is NaN or infinite"):
        gml.GraphMetric().fit(PATHS, [missing] + [i + 0.5 for i in range(9)])
    with pytest.raises(ValueError, match="the class of graph 0 is missing"):
        gml.GraphMetric().fit(PATHS, [missing] + [i % 2 for i in range(9)])


def test_some_graphs_without_y_are_refused_by_the_metric_too():
    graphs = [nx.path_graph(n) for n in range(3, 13)]
    for graph in graphs[2:]:
        graph.graph["y"] = len(graph) % 2
    with pytest.raises(ValueError, match="graph 0 carries no y"):
        gml.GraphMetric().fit(graphs)
    assert gml.GraphMetric(task="none", random_state=0).fit(graphs).transform(graphs).shape[0] == 10


def test_names_of_tasks():
    assert type(resolve_objective("numbers")) is Numbers
    assert type(resolve_objective("auto")) is Classes  # of models saved before there were others
    with pytest.raises(ValueError, match="unknown task 'order': use one of 'classes', 'numbers', 'labels', 'none'"):
        resolve_objective("order")
    with pytest.raises(ValueError, match="unknown task='order': use one of 'auto', 'classes'"):
        gml.GraphMetric(task="order").fit([nx.path_graph(3)] * 4, [0, 1, 0, 1])
