import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic import mixture as module
from graph_metric_learn.metrics.automatic.mixture import Describer, Mixture, family_kernels
from graph_metric_learn.metrics.automatic.recipes import Carried, recipes_for

WEIGHTS = {"trees": 0.5, "pairs": 0.3, "nodes, mean": 0.2, "size": 0.0}


@pytest.fixture(scope="module")
def graphs():
    return gml.as_graphs(element_graphs(30)[0], label="element")


@pytest.fixture(scope="module")
def fitted(graphs):
    return Describer.fit(recipes_for(Carried.of(graphs)), graphs, np.random.default_rng(0))


def test_the_kernel_is_the_weighted_mean_of_families(graphs, fitted):
    describer, described = fitted
    mixture = Mixture.of(describer, WEIGHTS, described)
    kernels = family_kernels(describer, described)
    wanted = sum(weight * kernels[name] for name, weight in WEIGHTS.items())
    np.testing.assert_allclose(mixture.kernel(), wanted, atol=1e-6)
    np.testing.assert_allclose(mixture.kernel(described)[4:7], wanted[4:7], atol=1e-6)
    assert mixture.weights == {name: weight for name, weight in WEIGHTS.items() if weight}


def test_what_has_no_weight_is_not_computed(graphs, fitted, monkeypatch):
    describer, described = fitted
    mixture = Mixture.of(describer, WEIGHTS, described)
    assert mixture.describer.families.keys() == mixture.weights.keys() == mixture.describer.describe(graphs[:2]).keys()
    assert all(name.startswith(("trees", "labels")) for name in mixture.describer.blocks.names_)
    pairs = Mixture.of(describer, {"pairs": 1.0}, described)
    assert pairs.describer.blocks is None  # they are counted without blocks
    np.testing.assert_allclose(pairs.kernel(pairs.describer.describe(graphs)), pairs.kernel(), atol=1e-6)


def test_some_graphs_are_landmarks(graphs, fitted):
    describer, described = fitted
    rows = np.array([3, 8, 20])
    few = Mixture.of(describer, WEIGHTS, {name: one.part(rows) for name, one in described.items()})
    whole = Mixture.of(describer, WEIGHTS, described).kernel()
    np.testing.assert_allclose(few.kernel(described), whole[:, rows], atol=1e-6)
    back = Mixture.of(describer, WEIGHTS, few.landmarks())
    np.testing.assert_array_equal(back.kernel(described), few.kernel(described))


@pytest.mark.parametrize("at_once", [1, 40])
def test_graphs_are_described_in_pieces(graphs, fitted, monkeypatch, at_once):
    describer, described = fitted
    mixture = Mixture.of(describer, WEIGHTS, described)
    wanted = mixture.kernel(mixture.describer.describe(graphs))
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    np.testing.assert_array_equal(mixture.kernel(mixture.describer.describe(graphs)), wanted)


def test_families_that_tell_no_graphs_apart_are_left_out():
    graphs = gml.as_graphs([nx.random_regular_graph(3, 10, seed=seed) for seed in range(8)])
    describer, described = Describer.fit(recipes_for(Carried.of(graphs)), graphs, np.random.default_rng(0))
    found = family_kernels(describer, described)
    assert "pairs" in found
    assert not {"size", "trees", "nodes, mean"} & found.keys()  # as many nodes, edges, and neighbours
    same = gml.as_graphs([nx.cycle_graph(5)] * 4)
    describer, described = Describer.fit(recipes_for(Carried.of(same)), same, np.random.default_rng(0))
    with pytest.raises(ValueError, match="all graphs look the same: no block of node features tells any two apart"):
        family_kernels(describer, described)


def test_one_seed_one_description(graphs, fitted):
    """Whichever thread a family is fitted in."""
    describer, described = fitted
    again, others = Describer.fit(recipes_for(Carried.of(graphs)), graphs, np.random.default_rng(0))
    one, two = family_kernels(describer, described), family_kernels(again, others)
    for name, kernel in one.items():
        np.testing.assert_array_equal(kernel, two[name])
