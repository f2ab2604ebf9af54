"""The compiled training step against torch: encoder, transport and losses by autograd, and torch's Adam."""

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import SGCN, encode
from graph_metric_learn.metrics.sgml.losses import LOSSES
from graph_metric_learn.metrics.sgml.training import compiled_step as compiled
from graph_metric_learn.metrics.sgml.training.batch_distances import CurveRule
from graph_metric_learn.metrics.sgml.training.loop import TrainingOptions, _CompiledEngine
from graph_metric_learn.transport.curves import resolve
from graph_metric_learn.transport.engines.allpairs import squared_distances
from graph_zoo import zoo


def rule(distance, p, ties="canonical"):
    directions, carry = resolve(distance, p, 6, None, 0, torch.empty(0))
    return CurveRule(directions, carry, ties)


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.compiled is not None])
def test_losses_and_their_gradient(rng, name):
    for size, classes in ((6, 3), (5, 1), (2, 2), (1, 1)):
        points = rng.normal(size=(size, 2))
        d2 = ((points[:, None] - points[None]) ** 2).sum(2)
        y = rng.integers(0, classes, size)
        wanted = torch.from_numpy(d2).requires_grad_()
        value = LOSSES[name].autograd(wanted, torch.from_numpy(y))
        value.backward()
        grad_d2 = np.empty((size, size))
        got = compiled.loss_and_grad(d2, y, classes, LOSSES[name].compiled, grad_d2)
        assert got == pytest.approx(value.item(), abs=1e-12)
        np.testing.assert_allclose(grad_d2, wanted.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("distance", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("relu", [True, False])
def test_distances_and_their_gradient_within_a_batch(rng, distance, relu):
    sizes = np.array([3, 7, 1, 7, 5])
    points = torch.from_numpy(rng.normal(size=(sizes.sum(), 3)))
    points = points.relu() if relu else points
    chosen = rule(distance, 3)
    values = []
    for form in (lambda x: squared_distances(chosen.curves(x, sizes)), lambda x: chosen.squared_distances(x, sizes)):
        x = points.clone().requires_grad_()
        d2 = form(x)
        (d2 * torch.arange(25.0).view(5, 5)).sum().backward()
        values.append((d2.detach(), x.grad))
    torch.testing.assert_close(values[0], values[1])
    assert values[0][1].abs().sum() > 0


@pytest.mark.parametrize("distance", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("loss", ["nccml", "nca-paper"])
@pytest.mark.parametrize("activation", ["relu", "none"])
@pytest.mark.parametrize("ties", ["canonical", "first"])
def test_many_steps_against_torch(rng, distance, loss, activation, ties):
    pairs, y = zoo(rng, 24)
    graphs = as_graphs(pairs)
    one, two = (SGCN(3, 2, depth=1, activation=activation, seed=0) for _ in range(2))
    chosen = rule(distance, 2, ties)
    order = rng.permutation(24)
    batches = [order[:5], order[5:10], order[10:12], order[12:]]

    adam = torch.optim.Adam(two.parameters(), lr=0.01, eps=1e-7)
    wanted = []
    for batch in batches:
        some = graphs[batch]
        value = LOSSES[loss].autograd(
            squared_distances(chosen.curves(encode(two, some), some.sizes)), torch.from_numpy(y[batch])
        )
        adam.zero_grad()
        value.backward()
        adam.step()
        wanted.append(value.item())

    engine = _CompiledEngine(one, graphs, y, chosen, TrainingOptions(loss, 1, 5, 0.01, True, "shuffled", 4))
    total = engine.epoch(batches, restart=True)
    assert total == pytest.approx(sum(wanted), rel=1e-4)
    torch.testing.assert_close(one.theta, two.theta, rtol=1e-3, atol=1e-5)
    assert engine.step == 4


def test_the_loop_by_torch_and_the_compiled_one_learn_the_same(rng):
    pairs, y = zoo(rng, 30)
    options = {"depth": 1, "n_epochs": 3, "random_state": 0}
    one = gml.SGML(loss="nccml", **options).fit(pairs, y)
    two = gml.SGML(loss=gml.nccml, **options).fit(pairs, y)  # a function goes through torch
    torch.testing.assert_close(one.module_.theta, two.module_.theta, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(one.history_.loss, two.history_.loss, rtol=1e-3)
