import numpy as np
import pytest
import torch
from scipy import sparse

from graph_metric_learn.graphs.sources.base import (
    Names,
    as_numpy,
    checked_rows,
    checked_weights,
    first_text,
    labels_and_vectors,
)


def test_names_of_node_labels():
    assert Names().labels == ("node_labels", "label")
    assert Names(label="element").labels == ("element",)


@pytest.mark.parametrize(
    "given",
    [
        [[1.0, 2.0]],
        torch.tensor([[1.0, 2.0]], requires_grad=True),
        sparse.csr_array([[1.0, 2.0]]),
        np.array([[1.0, 2.0]]),
    ],
)
def test_arrays_of_any_kind(given):
    found = as_numpy(given)
    assert type(found) is np.ndarray
    assert found.tolist() == [[1, 2]]


def test_nothing_stays_nothing():
    assert as_numpy(None) is None
    assert checked_rows(None, 3, "graph 0", "edge_attr") is None


def test_the_first_text_that_says_something():
    assert first_text(None, "  ", 3, "one", "two") == "one"
    assert type(first_text(np.str_("one"))) is str
    assert first_text(np.zeros(2), ["one"]) is first_text() is None


def test_vectors_of_whole_numbers_are_labels_if_there_are_no_others():
    whole, real = np.array([1, 2]), np.array([1.0, 2.0])
    assert labels_and_vectors(None, whole) == (whole, None)
    assert labels_and_vectors(None, real) == (None, real)
    assert labels_and_vectors(real, whole) == (real, whole)
    assert labels_and_vectors(None, None) == (None, None)


def test_rows_of_edges():
    assert checked_rows(np.arange(3), 3, "graph 0", "edge_attr").tolist() == [[0], [1], [2]]
    assert checked_rows(np.zeros((0, 4)), 0, "graph 0", "edge_attr").shape == (0, 4)
    assert checked_rows(np.zeros(0), 0, "graph 0", "edge_attr").shape == (0, 1)
    for bad in (np.zeros(2), np.zeros((2, 3)), np.zeros((3, 1, 1)), np.float64(1)):
        with pytest.raises(ValueError, match=r"graph 4 has edge_attr of shape .* for 3 edges"):
            checked_rows(bad, 3, "graph 4", "edge_attr")


def test_weights_of_edges():
    found = checked_weights(np.array([[1], [-2]]), 2, "graph 0")
    assert found.tolist() == [1.0, -2.0]
    assert found.dtype == np.float64
    for bad in ([1.0], [1.0, np.nan], [1.0, np.inf], [[1.0, 2.0], [3.0, 4.0]]):
        with pytest.raises(ValueError, match="graph 4 has edge weights that are not one finite number per edge"):
            checked_weights(bad, 2, "graph 4")
    with pytest.raises(ValueError, match="graph 4 has edge weights that are not numbers"):
        checked_weights(["heavy", "light"], 2, "graph 4")


def test_weights_of_hundreds_of_digits_are_refused():
    with pytest.raises(ValueError, match="edge weights beyond"):
        checked_weights([1, 10**400], 2, "graph 0")
