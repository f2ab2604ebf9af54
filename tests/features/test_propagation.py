from dataclasses import replace

import numpy as np
import pytest

from graph_metric_learn.features.propagation import hop_by_hop, propagate
from graph_metric_learn.graphs import as_graphs
from graph_zoo import zoo
from small_graphs import random_graphs, renumbered


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_propagation_against_dense_powers(rng, depth):
    pairs = [*zoo(rng, 4)[0], *random_graphs(rng, 20)]
    plain, normalised = [], []
    for a, x in pairs:
        mixing = a + np.eye(len(a))
        plain.append(np.linalg.matrix_power(mixing, depth) @ x)
        root = np.diag(1 / np.sqrt(mixing.sum(1)))
        normalised.append(np.linalg.matrix_power(root @ mixing @ root, depth) @ x)
    graphs = as_graphs(pairs)
    for found, wanted in (
        (propagate(graphs, depth, "sum"), plain),
        (propagate(graphs, depth), normalised),
        (hop_by_hop(graphs, depth + 1)[depth], normalised),
    ):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("propagation", ["symmetric", "sum"])
@pytest.mark.parametrize("kind", ["attributes", "labels"])
def test_the_order_of_the_neighbours_changes_not_one_bit(rng, kind, propagation):
    for graph in random_graphs(rng, 30, kind=kind, smallest=10, largest=40):
        marked = np.c_[graph[1], np.arange(len(graph[1]))]  # the last column tells the nodes apart
        other = renumbered((graph[0], marked), rng)
        order = other[1][:, -1].astype(int)
        for depth in (2, 4):
            mine = propagate(as_graphs([graph]), depth, propagation)
            theirs = propagate(as_graphs([(other[0], other[1][:, :-1])]), depth, propagation)
            np.testing.assert_array_equal(theirs, mine[order])


def test_the_order_of_the_edges_does_not_matter(rng):
    graphs = as_graphs(random_graphs(rng, 20))
    shuffled = replace(graphs, edges=graphs.edges[:, rng.permutation(graphs.edges.shape[1])])
    np.testing.assert_array_equal(propagate(shuffled, 2), propagate(graphs, 2))


def test_no_graph_and_no_edge():
    alone = as_graphs([(np.zeros((2, 2)), np.array([[1.0], [2.0]]))])
    np.testing.assert_array_equal(hop_by_hop(alone, 2)[:, :, 0], [[1, 2]] * 3)
    assert propagate(alone[:0], 2).shape == (0, 1)


def test_bad_choices(rng):
    graphs = as_graphs(zoo(rng, 2)[0])
    with pytest.raises(ValueError, match="'mean'"):
        propagate(graphs, 1, "mean")
    with pytest.raises(ValueError, match="depth"):
        propagate(graphs, -1)
    with pytest.raises(ValueError, match="depth"):
        propagate(graphs, 1.5)


@pytest.mark.parametrize("propagation", ["symmetric", "sum"])
def test_weights_are_those_of_the_dense_formula(propagation, rng):
    """A holds the weights, of mean 1 in absolute value; D sums their absolute values; signs stay."""
    weights = np.triu(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.7), 1)
    weights = weights + weights.T
    x = rng.normal(size=(6, 2))
    scaled = weights / np.abs(weights[weights != 0]).mean() + np.eye(6)
    if propagation == "symmetric":
        root = 1 / np.sqrt(np.abs(scaled).sum(1))
        scaled = root[:, None] * scaled * root
    found = propagate(as_graphs([(weights, x)]), 2, propagation)
    np.testing.assert_allclose(found, scaled @ scaled @ x, rtol=1e-5, atol=1e-6)
