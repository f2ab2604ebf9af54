"""Distances within many padded batches against those of each batch alone."""

import pytest
import torch

from graph_metric_learn.metrics.sgml.training.batch_distances import CurveRule
from graph_metric_learn.metrics.sgml.training.padded_distances import PaddedBatches

SIZES = torch.tensor([[4, 7, 1, 7], [3, 6, 0, 0], [5, 0, 0, 0], [2, 6, 3, 0]])  # 0: no graph


@pytest.fixture
def points(rng):
    """[4, 4, 7, 3] with many zeros, as ReLU makes them; the padding holds other numbers, which must not matter."""
    return torch.from_numpy(rng.normal(size=(4, 4, 7, 3))).relu()


@pytest.mark.parametrize(("carry", "on_axes"), [("points", True), ("points", False), ("projections", False)])
@pytest.mark.parametrize("ties", ["canonical", "first"])
def test_as_each_batch_alone(rng, points, carry, on_axes, ties, device):
    directions = None if on_axes else torch.from_numpy(rng.normal(size=(4, 3, 6)))
    grad_d2 = torch.from_numpy(rng.normal(size=(4, 4, 4)))
    real = SIZES > 0
    grad_d2 *= real.unsqueeze(1) & real.unsqueeze(2)  # as the batched losses leave it
    got = PaddedBatches(
        points.to(device),
        SIZES.to(device),
        None if directions is None else directions.to(device),
        carry_points=carry == "points",
        canonical=ties == "canonical",
    )
    squared, grad = got.squared_distances().cpu(), got.backward(grad_d2.to(device)).cpu()
    for k, sizes in enumerate(SIZES):
        count = int((sizes > 0).sum())
        clouds = torch.cat([points[k, b, :n] for b, n in enumerate(sizes.tolist())]).requires_grad_()
        rule = CurveRule(None if directions is None else directions[k], carry, ties)
        wanted = rule.squared_distances(clouds, sizes[:count].numpy())
        (wanted * grad_d2[k, :count, :count]).sum().backward()
        torch.testing.assert_close(squared[k, :count, :count], wanted.detach())
        torch.testing.assert_close(torch.cat([grad[k, b, :n] for b, n in enumerate(sizes.tolist())]), clouds.grad)
    assert (squared == squared.mT).all()
    assert (squared.diagonal(dim1=1, dim2=2) == 0).all()


def test_graphs_that_coincide_have_no_gradient_at_all(rng):
    """Not even rounding noise, which Adam would scale up to full steps."""
    cloud = torch.from_numpy(rng.normal(size=(1, 1, 6, 3))).float()
    points = cloud.expand(1, 2, 6, 3).contiguous()
    batches = PaddedBatches(points, torch.tensor([[6, 6]]), None, carry_points=True, canonical=True)
    assert (batches.squared_distances() == 0).all()
    assert (batches.backward(torch.ones(1, 2, 2)) == 0).all()
