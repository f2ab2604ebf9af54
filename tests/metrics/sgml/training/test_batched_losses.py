import numpy as np
import pytest
import torch

from graph_metric_learn.metrics.sgml.losses import LOSSES
from graph_metric_learn.metrics.sgml.training.batched_losses import loss_and_slopes


@pytest.mark.parametrize("name", LOSSES)
def test_many_batches_of_unequal_length(rng, name):
    lengths, most = (6, 5, 2, 1, 7), 7
    squared, y = torch.full((5, most, most), 1e6, dtype=torch.float64), torch.full((5, most), -1)
    values, slopes = [], torch.zeros_like(squared)
    for k, size in enumerate(lengths):
        points = rng.normal(size=(size, 2))
        d2 = torch.from_numpy(((points[:, None] - points[None]) ** 2).sum(2))
        own = torch.from_numpy(rng.integers(0, 3 if k else 1, size))
        squared[k, :size, :size], y[k, :size] = d2, own
        d2.requires_grad_()
        value = LOSSES[name](d2, own)
        value.backward()
        values.append(value.item())
        slopes[k, :size, :size] = d2.grad
    got, got_slopes = loss_and_slopes(squared, y, 4, name)
    np.testing.assert_allclose(got, values, atol=1e-12)
    np.testing.assert_allclose(got_slopes, slopes, atol=1e-12)
