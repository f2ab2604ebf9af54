"""Distances within large batches, by products, against the walks."""

import numpy as np
import pytest
import torch

from graph_metric_learn.metrics.sgml.training import batch_distances as distances
from graph_metric_learn.metrics.sgml.training.batch_distances import CurveRule, Gridded
from graph_metric_learn.transport.curves import resolve
from graph_metric_learn.transport.engines.allpairs import squared_distances

FRESH = np.random.default_rng()


@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("ties", ["canonical", "first"])
@pytest.mark.parametrize("limit", [1, 300, 2**27])
def test_values_and_gradient(metric, ties, limit, device, monkeypatch):
    monkeypatch.setattr(distances, "_NUMBERS", limit)
    directions, carry = resolve(metric, 3, 6, None, 0, torch.empty(0))
    rule = CurveRule(directions, carry, ties)
    sizes = FRESH.integers(1, 12, 25)
    points = torch.from_numpy(FRESH.normal(size=(sizes.sum(), 3))).relu()
    slopes = torch.from_numpy(FRESH.normal(size=(25, 25)))
    one, two = (points.clone().to(where).requires_grad_() for where in ("cpu", device))
    wanted, got = squared_distances(rule.curves(one, sizes)), Gridded.apply(two, sizes, rule)
    (wanted * slopes).sum().backward()
    (got * slopes.to(device)).sum().backward()
    np.testing.assert_allclose(got.detach().cpu(), wanted.detach(), atol=1e-10)
    np.testing.assert_allclose(two.grad.cpu(), one.grad, atol=1e-10)
    assert (got == got.T).all()
    assert (got.diagonal() == 0).all()


def test_the_same_every_time(device):
    sizes = FRESH.integers(1, 12, 40)
    points = torch.from_numpy(FRESH.normal(size=(sizes.sum(), 4))).float().relu().to(device)
    grads = []
    for _ in range(2):
        x = points.clone().requires_grad_()
        Gridded.apply(x, sizes, CurveRule(None, "points", "canonical")).sum().backward()
        grads.append(x.grad)
    assert torch.equal(*grads)
