import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_metric_learn.transport.kernels.simplex import plan_of, solve, start_tree


def tree_for(cost):
    nodes = sum(cost.shape)
    parent, flow = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    start_tree(cost, parent, flow)
    return parent, flow


def solved(cost, parent, flow):
    assert solve(cost, parent, flow, 100_000) >= 0
    plan = np.empty(cost.shape)
    plan_of(parent, flow, plan)
    return plan


def some_costs(seed, steps):
    """Few different ones, so that there are many solutions, or all different; each step close to the one before."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 25, size=2)
    cost = rng.integers(0, 3, size=(n, m)).astype(float) if seed % 2 else rng.normal(size=(n, m))
    for _ in range(steps):
        yield cost.copy()
        cost += 0.2 * rng.normal(size=(n, m)) if seed % 3 else rng.integers(0, 2, size=(n, m))


@given(seed=st.integers(0, 100_000))
@settings(max_examples=60, deadline=None)
def test_optimal_from_the_start_and_from_the_last_solution(seed):
    tree = None
    for cost in some_costs(seed, 4):
        n, m = cost.shape
        tree = tree or tree_for(cost)
        plan = solved(cost, *tree)
        np.testing.assert_allclose(plan.sum(1), 1 / n, atol=1e-12)
        np.testing.assert_allclose(plan.sum(0), 1 / m, atol=1e-12)
        assert plan.min() >= 0
        wanted = ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), cost)
        assert (plan * cost).sum() == pytest.approx(wanted, abs=1e-9)


@given(seed=st.integers(0, 100_000))
@settings(max_examples=30, deadline=None)
def test_the_first_tree_is_a_tree_with_flows_of_the_right_sums(seed):
    (cost,) = some_costs(seed, 1)
    n, m = cost.shape
    parent, flow = tree_for(cost)
    assert np.sum(parent < 0) == 1
    for v in range(n + m):  # every way up ends at the root
        for _ in range(n + m):
            v = parent[v] if parent[v] >= 0 else v
        assert parent[v] < 0
    plan = np.empty((n, m))
    plan_of(parent, flow, plan)
    np.testing.assert_allclose(plan.sum(1), 1 / n, atol=1e-12)
    np.testing.assert_allclose(plan.sum(0), 1 / m, atol=1e-12)
    assert (flow[parent >= 0] > 0).all()  # none is degenerate


def test_the_last_solution_saves_pivots():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    cost = ((x[:, None] - z) ** 2).sum(2)
    parent, flow = tree_for(cost)
    first = solve(cost, parent, flow, 100_000)
    assert solve(cost, parent, flow, 100_000) == 0
    again = solve(cost + 0.01 * rng.normal(size=cost.shape), parent, flow, 100_000)
    assert 0 < again < first / 2


def test_too_many_pivots_are_said():
    rng = np.random.default_rng(0)
    cost = rng.normal(size=(20, 20))
    assert solve(cost, *tree_for(cost), 1) == -1
