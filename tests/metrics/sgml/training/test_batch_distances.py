"""Distances within a batch, by compiled loops and by products, against those of `transport` under autograd."""

import numpy as np
import pytest
import torch

from graph_metric_learn.metrics.sgml.encoders import softmax_within
from graph_metric_learn.metrics.sgml.training import batch_distances
from graph_metric_learn.metrics.sgml.training.batch_distances import (
    CurveRule,
    LoopDistances,
    ProductDistances,
    inverse_permutation,
)
from graph_metric_learn.transport.curves import resolve
from graph_metric_learn.transport.engines.allpairs import squared_distances
from helpers import make_cloud, make_weights, rpw_by_definition


def ragged_clouds(rng, count, dtype=torch.float64):
    """Sizes and points [R, 3] with many equal coordinates, as ReLU makes them."""
    sizes = rng.integers(1, 12, count)
    return sizes, torch.from_numpy(rng.normal(size=(sizes.sum(), 3))).relu().to(dtype)


def rule_of(metric, ties):
    directions, carry = resolve(metric, 3, 6, None, 0, torch.empty(0))
    return CurveRule(directions, carry, ties)


def assert_values_and_gradient(form, rule, sizes, points, grad_d2, device):
    one, two = (points.clone().to(where).requires_grad_() for where in ("cpu", device))
    wanted, got = squared_distances(rule.curves(one, sizes)), form.apply(two, sizes, rule)
    (wanted * grad_d2).sum().backward()
    (got * grad_d2.to(device)).sum().backward()
    np.testing.assert_allclose(got.detach().cpu(), wanted.detach(), atol=1e-10)
    np.testing.assert_allclose(two.grad.cpu(), one.grad, atol=1e-10)
    assert one.grad.abs().sum() > 0
    assert (got == got.T).all()
    assert (got.diagonal() == 0).all()


@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("ties", ["canonical", "first"])
@pytest.mark.parametrize("limit", [1, 300, 2**27])
def test_products(metric, ties, limit, rng, device, monkeypatch):
    monkeypatch.setattr(batch_distances, "_MAX_SUMS", limit)
    sizes, points = ragged_clouds(rng, 25)
    grad_d2 = torch.from_numpy(rng.normal(size=(25, 25)))
    assert_values_and_gradient(ProductDistances, rule_of(metric, ties), sizes, points, grad_d2, device)


@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("ties", ["canonical", "first"])
def test_loops(metric, ties, rng):
    sizes, points = ragged_clouds(rng, 25)
    grad_d2 = torch.from_numpy(rng.normal(size=(25, 25)))
    assert_values_and_gradient(LoopDistances, rule_of(metric, ties), sizes, points, grad_d2, "cpu")


@pytest.mark.parametrize("kind", ["normal", "relu", "duplicates"])
def test_nodes_with_masses_by_definition(kind, rng):
    clouds = [make_cloud(rng, n, 3, kind) for n in (4, 6, 1, 6)]
    masses = make_weights(rng, clouds)
    sizes = np.array([len(x) for x in clouds])
    got = rule_of("rpw", "canonical").squared_distances(
        torch.from_numpy(np.concatenate(clouds)), sizes, torch.from_numpy(np.concatenate(masses))
    )
    wanted = [
        [rpw_by_definition(x, z, a, b) ** 2 for z, b in zip(clouds, masses, strict=True)]
        for x, a in zip(clouds, masses, strict=True)
    ]
    np.testing.assert_allclose(got, wanted, atol=1e-12)
    assert (got == got.T).all()
    assert (got.diagonal() == 0).all()


@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
def test_gradients_in_masses_and_features(metric, rng):
    """Finite differences in float64, through the softmax that makes the masses."""
    sizes = np.array([3, 5, 4, 3])
    points = torch.from_numpy(rng.normal(size=(sizes.sum(), 3))).requires_grad_()
    scores = torch.from_numpy(rng.normal(size=sizes.sum())).requires_grad_()
    grad_d2, rule = torch.from_numpy(rng.normal(size=(4, 4))), rule_of(metric, "canonical")

    def value(points, scores):
        return (rule.squared_distances(points, sizes, softmax_within(scores, sizes)) * grad_d2).sum()

    assert torch.autograd.gradcheck(value, (points, scores), eps=1e-5)
    value(points, scores).backward()
    assert scores.grad.abs().min() > 0


def test_uniform_masses_give_the_same_distances(rng):
    sizes, points = ragged_clouds(rng, 6)
    rule = rule_of("rpw", "canonical")
    masses = torch.from_numpy(np.repeat(1 / sizes, sizes))
    wanted = rule.squared_distances(points, sizes)
    np.testing.assert_allclose(rule.squared_distances(points, sizes, masses), wanted, atol=1e-12)


def test_products_take_some_grids_at_a_time(rng, monkeypatch):
    """As many as fit into the limit, and one that is too large for it alone: distances stay the same."""
    sizes, points = np.array([2, 3, 3, 5, 9]), torch.from_numpy(rng.normal(size=(22, 3)))
    rule = CurveRule(None, "points", "canonical")
    wanted = ProductDistances.apply(points, sizes, rule)
    monkeypatch.setattr(batch_distances, "_MAX_SUMS", 8 * 5 * 9)  # room for grids with 8 ends of cells in all
    torch.testing.assert_close(ProductDistances.apply(points, sizes, rule), wanted)


def test_loops_on_the_cpu_and_products_elsewhere(rng, device):
    sizes, points = ragged_clouds(rng, 4)
    squared = rule_of("rpw", "canonical").squared_distances(points.to(device).requires_grad_(), sizes)
    form = LoopDistances if device == "cpu" else ProductDistances
    assert type(squared.grad_fn).__name__ == f"{form.__name__}Backward"


def test_the_same_every_time(rng, device):
    sizes, points = ragged_clouds(rng, 40, torch.float32)
    grads = []
    for _ in range(2):
        x = points.clone().to(device).requires_grad_()
        ProductDistances.apply(x, sizes, CurveRule(None, "points", "canonical")).sum().backward()
        grads.append(x.grad)
    assert torch.equal(*grads)


def test_inverse_permutation(rng):
    order = torch.from_numpy(np.argsort(rng.normal(size=(2, 5, 3)), axis=1))
    inverse = inverse_permutation(order, 1)
    wanted = torch.arange(5).view(1, 5, 1).expand(2, 5, 3)
    assert torch.equal(torch.gather(inverse, 1, order), wanted)
