import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.least_cost import least_cost_distances, least_costs
from graph_metric_learn.transport.measures import as_measures
from graph_metric_learn.transport.options import PairOptions
from helpers import KINDS, least_plan_by_linear_programme, make_cloud, make_weights


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
