from decimal import Decimal

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.utils.multiclass import type_of_target
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives.targets import given_targets, is_missing, target_array, task_of

PATHS = as_graphs([nx.path_graph(n) for n in (2, 3, 4)])


def carrying(*ys):
    """Paths that carry these targets; None for a path without any."""
    return as_graphs([Data(num_nodes=2, **({} if y is None else {"y": torch.tensor(y)})) for y in ys])


def test_what_is_given_comes_before_what_the_graphs_carry():
    graphs = carrying(1, 0, 1)
    assert given_targets(graphs, None).tolist() == [1, 0, 1]
    assert given_targets(graphs, ["a", "b", "b"]).tolist() == ["a", "b", "b"]
    assert given_targets(graphs, torch.tensor([2.5, 1.5, 0.5], requires_grad=True)).tolist() == [2.5, 1.5, 0.5]
    assert given_targets(PATHS, None) is None


def test_several_columns_are_several_targets():
    graphs = carrying([[1.0, 2.0]], [[3.0, 4.0]])
    np.testing.assert_array_equal(given_targets(graphs, None), [[1, 2], [3, 4]])
    assert task_of(given_targets(graphs, None)) == "numbers"


def test_only_some_graphs_with_targets_are_refused():
    graphs = carrying(1, None, 0, None)
    with pytest.raises(ValueError, match=r'graph 1 carries no y, others do \(2 of 4 without\).*task="none"'):
        given_targets(graphs, None)
    with pytest.raises(ValueError, match="graph 0 carries no y"):
        given_targets(carrying(None, [[1.0, 2.0]]), None)
    assert given_targets(graphs, [5, 6, 7, 8]).tolist() == [5, 6, 7, 8]  # what is carried does not matter then


def test_a_part_of_such_graphs_is_read_as_if_it_came_alone():
    graphs = carrying(1, None, 0, None)
    labelled = given_targets(graphs[[0, 2]], None)
    assert labelled.tolist() == [1, 0]
    assert labelled.dtype.kind == "i"
    assert given_targets(graphs[[1, 3]], None) is None
    rows = given_targets(carrying([[0.5, 1.0]], None, [[2.0, 3.0]])[[0, 2]], None)
    np.testing.assert_array_equal(rows, [[0.5, 1.0], [2.0, 3.0]])


@pytest.mark.parametrize(("y", "count"), [([0, 1], "2"), ([], "0"), ([[0, 1, 0]], "1"), (7, "one number as")])
def test_one_target_per_graph(y, count):
    with pytest.raises(ValueError, match=f"3 graphs, but {count} targets: give one per graph"):
        given_targets(PATHS, y)


def test_targets_need_an_order():
    assert given_targets(PATHS, (one for one in "aba")).tolist() == ["a", "b", "a"]
    assert target_array({2: "a", 5: "b"}.values()).tolist() == ["a", "b"]
    for y in ({0, 1, 2}, frozenset("abc"), {0: 1, 1: 0, 2: 1}):
        with pytest.raises(ValueError, match=r"targets are a (set|frozenset|dict), which has no order"):
            given_targets(PATHS, y)
        with pytest.raises(ValueError, match="targets or groups are a"):
            target_array(y)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="rows of the same length"):
        given_targets(PATHS, [[0.5], [1.0, 2.0], [3.0]])


def test_numpy_must_not_write_numbers_as_strings():
    """Alone it would make classes "nan" and "1" of them."""
    assert target_array(["a", np.nan])[1] is np.nan
    assert target_array(("a", None, "b"))[1] is None
    assert target_array(["1", 1]).tolist() == ["1", 1]
    assert target_array(["a", "b"]).dtype.kind == "U"
    assert target_array(np.array([0.5, 1.5], dtype=object)).dtype == np.float64
    assert target_array([True, False]).dtype == bool


class NotAvailable:
    """As pandas' NA: compared with anything it is itself, and is neither true nor false."""

    def __eq__(self, other):
        return self

    __hash__ = None

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


def test_what_is_missing():
    assert [is_missing(one) for one in (None, np.nan, NotAvailable(), np.datetime64("NaT"))] == [True] * 4
    assert not any(is_missing(one) for one in (0, 0.0, "", "nan", False, np.float32(1), (1, 2), np.inf))
    assert is_missing(target_array([1, NotAvailable()])[1])


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", "a"], [0, 1, 1], [0, 1, 2], [True, False, True], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0], [-1, 1, -1],
        [1e-9, 1.0, 2.0],
    ],
)  # fmt: skip
def test_the_task_is_that_of_scikit_learn(y):
    wanted = "numbers" if type_of_target(y).startswith("continuous") else "classes"
    assert task_of(np.array(y)) == wanted
    assert task_of(np.array(y)[:, None]) == wanted  # one column is one target


def test_missing_targets_do_not_change_the_task():
    assert task_of(np.array([0.5, np.nan, 1.0])) == "numbers"
    assert task_of(np.array([0.0, np.nan, 1.0])) == "classes"
    assert task_of(target_array(["a", None])) == "classes"
    assert task_of(None) == "none"
    assert task_of(np.array([[0, 1], [1, 0]])) == "labels"
    assert task_of(np.array([[0, np.nan], [1, 0]])) == task_of(target_array([[0, None], [True, 0]])) == "labels"
    assert task_of(np.array([[0, np.nan], [2, 0]])) == task_of(target_array([[0, None], ["a", 0]])) == "numbers"
    assert task_of(np.full((3, 2), np.nan)) == "numbers"


@pytest.mark.parametrize("missing", [None, np.nan, NotAvailable()])
def test_objects_are_judged_by_those_that_are_known(missing):
    assert task_of(target_array([missing, 0.5, 1])) == "numbers"
    assert task_of(target_array([missing, Decimal("0.5")])) == "numbers"
    assert task_of(target_array([[missing], [0.5]])) == "numbers"
    for whole in ([0, 1.0], [True, False], [np.inf, 1.0], [], ["0.5", "a"], ["0.5", 0.5], [0.5, 10**400], [0.5, 1j]):
        assert task_of(target_array([missing, *whole])) == "classes"


@pytest.mark.parametrize("y", [[b"a", b"b"], np.array([b"a", b"b"]), np.array([b"a", "b"], dtype=object)])
def test_bytes_are_refused(y):
    with pytest.raises(ValueError, match="targets are bytes: decode them"):
        target_array(y)


def test_short_floating_point_numbers():
    assert target_array(torch.tensor([0.5, 2.0], dtype=torch.bfloat16)).tolist() == [0.5, 2.0]
