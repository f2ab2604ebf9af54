from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.features.onehot import code_columns, without_codes
from graph_metric_learn.graphs import as_graphs


def with_x(x, labels=None):
    graphs = as_graphs([nx.path_graph(len(x))])
    return replace(graphs, x=np.array(x, dtype=np.float32), labels=labels)


def test_one_hot_columns_are_labels():
    mixed = with_x([[0.5, 1, 0, 0], [1.0, 0, 1, 0], [0.0, 1, 0, 0]])
    codes = code_columns(mixed)
    assert codes.tolist() == [False, True, True, True]
    found = without_codes(mixed, codes, labelled=False)
    assert found.x.tolist() == [[0.5], [1.0], [0.0]]
    assert found.labels.tolist() == [[1], [2], [1]]
    # Another graph: its first column is 0 and 1 by accident, and two of its rows are no code.
    other = with_x([[1.0, 0, 1, 0], [0.0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0], [0, 2, 0, 0]], np.arange(5)[:, None])
    found = without_codes(other, codes, labelled=False)
    assert found.x.shape == (5, 1)
    assert found.labels.ravel().tolist() == [2, 3, 0, -1, -1]
    assert without_codes(with_x(np.eye(3)), np.ones(3, dtype=bool), labelled=False).x is None


def test_names_of_columns_are_not_those_of_what_is_left():
    named = replace(with_x([[0.5, 1], [1.0, 0], [0.0, 1]]), columns=("charge", "metal"))
    assert without_codes(named, code_columns(named), labelled=False).columns is None


def test_one_hot_columns_that_say_what_labels_say_are_left_out():
    labels = np.array([["b"], ["a"], ["b"]])
    told = with_x([[1, 0], [0, 1], [1, 0]], labels)
    assert code_columns(told).all()
    found = without_codes(told, code_columns(told), labelled=True)
    assert found.x is None
    assert found.labels is labels
    bare = as_graphs([nx.path_graph(3)])
    assert without_codes(bare, np.ones(2, dtype=bool), labelled=True) is bare
    assert not code_columns(with_x([[1, 0], [0, 1], [0, 1]], labels)).any()


def test_what_is_no_code_of_labels():
    for x in ([[1.0], [1.0]], [[1, 1], [0, 1]], [[0.5], [1.0]], np.zeros((2, 0))):
        assert not code_columns(with_x(x)).any()
    assert not code_columns(with_x([[1.0], [1.0]], np.array([[1], [2]]))).any()
    assert code_columns(as_graphs([nx.path_graph(3)])).shape == (0,)
    assert code_columns(with_x(np.eye(600))).all()
    with pytest.raises(ValueError, match="nodes carry 2 features, those that were fitted 3"):
        without_codes(with_x([[1, 0], [0, 1]]), np.ones(3, dtype=bool), labelled=False)
