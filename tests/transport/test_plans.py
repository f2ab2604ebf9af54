import sys

import numpy as np
import ot
import pytest
import torch
from hypothesis import given

import graph_metric_learn as gml
from graph_metric_learn.transport import plans
from graph_metric_learn.transport.measures import as_measures
from graph_metric_learn.transport.plans import least_cost_distances, least_costs
from graph_metric_learn.transport.sides import PairOptions
from helpers import KINDS, cloud_lists, least_plan_by_linear_programme, make_cloud, make_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 3), (4, 4), (6, 4)])
def test_the_averaged_plan_against_pot(rng, weighted, n, m):
    x, y, directions = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), rng.normal(size=(3, 5))
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    source, target = (as_measures([z], None if w is None else [w]) for z, w in ((x, a), (y, b)))
    got = plans.averaged_plan(source, target, torch.from_numpy(directions), "canonical")
    wanted, _ = ot.sliced.expected_sliced_plan(x, y, a, b, projections=directions)
    np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_marginals_are_the_masses(rng, kind):
    x, y = make_cloud(rng, 7, 2, kind), make_cloud(rng, 5, 2, kind)
    a, b = make_weights(rng, [x, y])
    for ties in ("canonical", "first"):
        plan = plans.averaged_plan(as_measures([x], [a]), as_measures([y], [b]), None, ties).numpy()
        np.testing.assert_allclose(plan.sum(1), a, atol=1e-12)
        np.testing.assert_allclose(plan.sum(0), b, atol=1e-12)


def test_masses_without_gradient():
    uniform = as_measures([np.zeros((4, 1))])
    np.testing.assert_array_equal(plans.masses(uniform).numpy(), np.full(4, 0.25))
    a = torch.tensor([0.25, 0.75], dtype=torch.float64, requires_grad=True)
    weighted = as_measures([torch.zeros(2, 1)], [a])
    assert not plans.masses(weighted).requires_grad
    np.testing.assert_array_equal(plans.masses(weighted).numpy(), [0.25, 0.75])


def test_a_plan_too_large_to_hold_is_refused():
    plans.check_plan_size(2**15, 2**15)
    with pytest.raises(ValueError, match=r"a dense 65536 x 32768 plan would take 16 GiB: call without log=True"):
        plans.check_plan_size(2**16, 2**15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [1.0, 2.0])
def test_costs_per_direction_against_a_linear_programme(rng, kind, order):
    x, y = make_cloud(rng, 5, 2, kind), make_cloud(rng, 4, 2, kind)
    a, b = make_weights(rng, [x, y])
    costs, plan = least_costs(as_measures([x], [a]), as_measures([y], [b]), None, order)
    wanted = [least_plan_by_linear_programme(x, y, a, b, e, order) for e in np.eye(2)]
    np.testing.assert_allclose(costs.numpy(), wanted, atol=1e-5)  # the programme has slack
    np.testing.assert_allclose(plan.sum(1).numpy(), a, atol=1e-12)
    np.testing.assert_allclose(plan.sum(0).numpy(), b, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_pairs_are_the_single_ones(rng, weighted):
    clouds = [make_cloud(rng, n, 2, "grid") for n in (4, 5, 4)]
    weights = make_weights(rng, clouds) if weighted else None
    masses = weights or [None] * 3
    options = PairOptions(ties="optimal", weights=weights, progress=False)
    wanted = np.array(
        [[gml.rpw_distance(x, y, a, b, ties="optimal") for y, b in zip(clouds, masses, strict=True)]
         for x, a in zip(clouds, masses, strict=True)]
    )  # fmt: skip
    got = least_cost_distances(clouds, None, options, squared=False, out=None)
    np.testing.assert_allclose(got, wanted, atol=1e-9)
    assert (got == got.T).all()
    assert (np.diag(got) == 0).all()
    out = np.empty((1, 3), np.float32)
    other = PairOptions(ties="optimal", other_weights=weights, progress=False, weights=weights and weights[:1])
    assert least_cost_distances(clouds[:1], clouds, other, squared=True, out=out) is out
    np.testing.assert_allclose(out, wanted[:1] ** 2, atol=1e-6)


def test_gradients_go_through(rng):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 4)]
    assert torch.autograd.gradcheck(lambda *x: gml.pairwise_distances(list(x), ties="optimal", squared=True), clouds)


def test_what_it_refuses(rng):
    clouds = [make_cloud(rng, n, 2) for n in (3, 4)]
    with pytest.raises(ValueError, match='metric="sw" carries projections only'):
        gml.pairwise_distances(clouds, metric="sw", ties="optimal")
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        gml.pairwise_distances(clouds, ties="optimal", out=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="both sides"):
        gml.pairwise_distances(clouds, gml.as_curves(clouds), ties="optimal")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1.5, 2.0])
def test_least_cost_against_a_linear_programme(rng, kind, weighted, order):
    for n, m in ((4, 4), (6, 4), (5, 7), (1, 3)):
        x, y = make_cloud(rng, n, 3, kind), make_cloud(rng, m, 3, kind)
        a, b = make_weights(rng, [x, y]) if weighted else (np.full(n, 1 / n), np.full(m, 1 / m))
        wanted = np.mean([least_plan_by_linear_programme(x, y, a, b, e, order) for e in np.eye(3)])
        got, log = gml.rpw_distance(x, y, a, b, ties="optimal", order=order, log=True)
        assert got**order == pytest.approx(wanted, abs=1e-5)  # the programme has slack
        np.testing.assert_allclose(log["plan"].sum(1), a, atol=1e-12)
        np.testing.assert_allclose(log["plan"].sum(0), b, atol=1e-12)


@given(cloud_lists())
def test_canonical_is_never_below_optimal_nor_optimal_below_w2(drawn):
    (x, y), _ = drawn
    w2 = np.sqrt(max(0.0, ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), ot.dist(x, y))))
    optimal = gml.rpw_distance(x, y, ties="optimal")
    assert gml.rpw_distance(x, y) >= optimal - 1e-9
    assert optimal >= w2 - 1e-7


@given(cloud_lists(count=3, kinds=("relu", "grid")))
def test_optimal_ties_make_a_metric(drawn):
    (x, y, z), rng = drawn
    d = lambda u, v: gml.rpw_distance(u, v, ties="optimal")  # noqa: E731
    assert d(x, x[rng.permutation(len(x))]) == pytest.approx(0, abs=1e-7)
    assert d(x, y) == pytest.approx(d(y, x), abs=1e-9)
    assert d(x, z) <= d(x, y) + d(y, z) + 1e-7


def test_without_ties_all_rules_agree(rng):
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))
    values = [gml.rpw_distance(x, y, ties=rule) for rule in ("canonical", "optimal", "first")]
    np.testing.assert_allclose(values, values[0])


def test_first_depends_on_the_numbering_and_the_others_do_not(rng):
    x, y = make_cloud(rng, 12, 3, "relu"), make_cloud(rng, 12, 3, "relu")
    shuffled = x[rng.permutation(12)]
    assert gml.rpw_distance(x, y, ties="first") != pytest.approx(gml.rpw_distance(shuffled, y, ties="first"))
    for rule in ("canonical", "optimal"):
        assert gml.rpw_distance(x, y, ties=rule) == pytest.approx(gml.rpw_distance(shuffled, y, ties=rule))


def test_first_is_the_order_of_the_rows():
    x, y = np.array([[0.0, 5.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 5.0]])
    along_first_axis = gml.pw_distance(x, y, projections=[[1.0], [0.0]], ties="first", squared=True)
    assert along_first_axis == pytest.approx(16.0)
    assert gml.pw_distance(x, y, projections=[[1.0], [0.0]], squared=True) == 0.0


def test_gradient_with_optimal_ties(rng):
    x, y = (torch.from_numpy(make_cloud(rng, n, 2)).requires_grad_() for n in (4, 5))
    assert torch.autograd.gradcheck(lambda x, y: gml.rpw_distance(x, y, ties="optimal"), (x, y))


def test_no_gradient_to_weights_is_said_clearly(rng):
    x = torch.from_numpy(rng.normal(size=(2, 2)))
    a = torch.tensor([0.4, 0.6], dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match="no gradient with respect to the weights"):
        gml.rpw_distance(x, x, a, ties="optimal")


def test_without_pot_it_is_said_what_to_install(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)  # as where it is not installed
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    for call in (gml.rpw_distance, lambda x, y, **options: gml.pairwise_distances([x, y], **options)):
        with pytest.raises(ImportError, match=r'ties="optimal" needs POT: pip install graph-metric-learn\[optimal\]'):
            call(x, y, ties="optimal")
    assert gml.rpw_distance(x, y) > 0
