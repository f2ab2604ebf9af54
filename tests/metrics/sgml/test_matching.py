import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml.matching import share_among_equals, sliced_costs
from graph_zoo import zoo


def test_explanations_add_up(rng):
    pairs, y = zoo(rng)
    for distance in ("rpw", "pw", "sw"):
        metric = gml.SGML(n_epochs=2, distance=distance, n_projections=6, random_state=0).fit(pairs, y)
        told = metric.explain(pairs[0], pairs[1])
        n, m = len(pairs[0][0]), len(pairs[1][0])
        assert told.distance == pytest.approx(metric.pairwise_distances(pairs[:1], pairs[1:2])[0, 0], rel=1e-4)
        np.testing.assert_allclose(told.plan.sum(1), 1 / n, atol=1e-6)
        np.testing.assert_allclose(told.plan.sum(0), 1 / m, atol=1e-6)
        assert told.source_share.sum() == pytest.approx(1, abs=1e-5)
        assert told.target_share.sum() == pytest.approx(1, abs=1e-5)
    same = metric.explain(pairs[0], pairs[0])
    assert same.distance == 0
    assert (same.source_share == 0).all()


def test_nodes_that_nothing_tells_apart_share_alike():
    graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    metric = gml.SGML(random_state=0).fit(graphs, [0] * 6 + [1] * 6)
    told = metric.explain(nx.cycle_graph(6), nx.star_graph(5))
    np.testing.assert_allclose(told.source_share, 1 / 6, atol=1e-6)
    np.testing.assert_allclose(told.plan.sum(1), 1 / 6, atol=1e-6)
    np.testing.assert_allclose(told.target_share[1:], told.target_share[1], atol=1e-6)


def test_equal_points_share_their_row_and_column(rng):
    matrix = rng.random((3, 2))
    x, z = np.array([[0.0], [1.0], [0.0]]), np.array([[2.0], [2.0]])
    shared = share_among_equals(matrix, x, z)
    np.testing.assert_allclose(shared[0], shared[2])
    np.testing.assert_allclose(shared[:, 0], shared[:, 1])
    assert shared.sum() == pytest.approx(matrix.sum())


def test_equal_points_share_in_proportion_to_their_masses(rng):
    x, z = np.array([[0.0], [1.0], [0.0]]), np.array([[2.0], [2.0]])
    a, b = np.array([0.1, 0.3, 0.6]), np.array([0.25, 0.75])
    shared = share_among_equals(np.outer(a[[2, 1, 0]], b[::-1]), x, z, a, b)  # masses of equal points exchanged
    np.testing.assert_allclose(shared, np.outer(a, b))


@pytest.mark.parametrize("distance", ["rpw", "pw", "sw"])
def test_explanations_with_learned_masses_add_up(rng, distance):
    pairs, y = zoo(rng)
    options = {"distance": distance, "n_projections": 6, "masses": "learned"}
    metric = gml.SGML(n_epochs=3, random_state=0, **options).fit(pairs, y)
    told = metric.explain(pairs[0], pairs[1])
    masses = [np.sort(curve.steps[:, 0].numpy()) for curve in metric.embed(pairs[:2])]
    np.testing.assert_allclose(np.sort(told.plan.sum(1)), masses[0], atol=1e-6)
    np.testing.assert_allclose(np.sort(told.plan.sum(0)), masses[1], atol=1e-6)
    assert np.ptp(masses[0]) > 0.005
    assert told.distance == pytest.approx(metric.pairwise_distances(pairs[:1], pairs[1:2])[0, 0], rel=1e-4)
    assert told.source_share.sum() == pytest.approx(1, abs=1e-5)


def test_sliced_costs_add_up_to_the_sliced_distance(rng):
    x, z, directions = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), np.eye(3)
    squared = gml.sw_distance(x, z, projections=directions, squared=True)
    assert sliced_costs(x, z, directions).sum() == pytest.approx(squared)
    a, b = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(7))
    squared = gml.sw_distance(x, z, a, b, projections=directions, squared=True)
    assert sliced_costs(x, z, directions, a, b).sum() == pytest.approx(squared)
