from itertools import permutations

import numpy as np
import ot
import pytest
from hypothesis import given

from graph_metric_learn_reproduction.baselines import W2, EntropicW2, SolverFailure
from graph_metric_learn_reproduction.baselines.wasserstein import exact_plan, uniform_cost
from helpers import cloud_lists


def cloud(x):
    """A graph without edges."""
    return np.zeros((len(x), len(x))), x


def squared(x, y):
    x, y = (np.asarray(points, dtype=np.float32).astype(float) for points in (x, y))  # as graphs keep their features
    return ((x[:, None] - y[None]) ** 2).sum(2)


@given(cloud_lists(count=2))
def test_w2_is_that_of_pot(drawn):
    (x, y), _ = drawn
    expected = ot.emd2(ot.unif(len(x)), ot.unif(len(y)), squared(x, y))
    np.testing.assert_allclose(W2().distances([cloud(x), cloud(y)])[0, 1] ** 2, expected, atol=1e-9)


def test_w2_of_equally_many_points_is_the_best_assignment(rng):
    x, y = rng.normal(size=(2, 5, 3))
    cost = squared(x, y)
    best = min(sum(cost[i, p[i]] for i in range(5)) / 5 for p in permutations(range(5)))
    np.testing.assert_allclose(W2().distances([cloud(x), cloud(y)])[0, 1], np.sqrt(best))


def test_edges_do_not_count_and_features_do(rng):
    x = rng.normal(size=(4, 2))
    full = np.ones((4, 4)) - np.eye(4)
    distances = W2().distances([cloud(x), (full, x), (full, x + 1.0)])
    assert distances[0, 1] == 0
    np.testing.assert_allclose(distances[0, 2], np.sqrt(2), rtol=1e-6)


@given(cloud_lists(count=2, kinds=("normal", "duplicates")))
def test_entropic_w2_is_that_of_pot(drawn):
    """On all points, equal ones not merged."""
    (x, y), _ = drawn
    cost = squared(x, y)
    if cost.max() == 0:
        return
    expected = ot.sinkhorn2(ot.unif(len(x)), ot.unif(len(y)), cost, 0.5 * cost.max(), stopThr=1e-6, warn=False)
    distance = EntropicW2(reg=0.5).distances([cloud(x), cloud(y)])[0, 1]
    np.testing.assert_allclose(distance, np.sqrt(expected), rtol=1e-5)


def test_entropic_w2_approaches_w2_and_has_no_units(rng):
    graphs = [cloud(rng.normal(size=(n, 2))) for n in (4, 6)]
    exact, smooth, smoother = (s.distances(graphs)[0, 1] for s in (W2(), EntropicW2(reg=0.02), EntropicW2(reg=1.0)))
    assert exact < smooth < smoother
    np.testing.assert_allclose(smooth, exact, rtol=0.05)
    larger = EntropicW2(reg=1.0).distances([(a, 8 * x) for a, x in graphs])[0, 1]
    np.testing.assert_allclose(larger, 8 * smoother, rtol=1e-6)


def test_entropic_w2_that_underflows_is_a_failure(rng):
    with pytest.raises(SolverFailure, match="returned nan"):
        EntropicW2(reg=1e-5).distances([cloud(x) for x in rng.normal(size=(2, 6, 2))])


def test_the_plan_has_the_marginals_and_the_cost(rng):
    cost = rng.random((3, 4))
    plan, value = exact_plan(cost, np.full(3, 4.0), np.full(4, 3.0))
    np.testing.assert_array_equal(plan.sum(1), 4.0)
    np.testing.assert_array_equal(plan.sum(0), 3.0)
    np.testing.assert_allclose((plan * cost).sum(), value)
    np.testing.assert_allclose(value / 12, uniform_cost(cost))


def test_an_infeasible_programme_is_a_failure():
    with pytest.raises(SolverFailure, match="infeasible"):
        exact_plan(np.ones((2, 2)), np.array([1.0, 1.0]), np.array([5.0, 1.0]))
