import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport import grids
from helpers import curve_at, integrate, make_cloud, make_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 3, 4, 9])
@pytest.mark.parametrize("engine", ["compiled", "torch"])
def test_averages_are_integrals(rng, weighted, n, engine):
    clouds = [make_cloud(rng, m, 2, "relu") for m in (1, 3, 4, 7, 8)]
    weights = make_weights(rng, clouds) if weighted else [np.full(len(x), 1 / len(x)) for x in clouds]
    walked = gml.as_curves(clouds, weights=weights)
    cells = (grids.cell_averages if engine == "compiled" else grids._cell_averages_torch)(walked, n)
    assert tuple(cells.shape) == (5, n, 2, 2)
    for g, x in enumerate(clouds):
        for k, e in enumerate(np.eye(2)):
            breaks = np.concatenate([walked[g : g + 1].ends[:, k].numpy(), np.arange(n) / n])
            for i in range(n):
                inside = integrate(
                    lambda t, i=i, g=g, x=x, e=e: curve_at(x, weights[g], e, t) * (i <= t * n < i + 1), breaks
                )
                np.testing.assert_allclose(cells[g, i, k].numpy(), n * inside, atol=1e-12)


def test_many_steps_in_one_cell_keep_their_digits():
    x = (np.arange(200_000) % 1000).astype(np.float32)[:, None] + 1000
    walked = gml.as_curves([x])
    for cells in (grids.cell_averages(walked, 2), grids._cell_averages_torch(walked, 2)):
        exact = np.sort(x[:, 0].astype(float)).reshape(2, -1).mean(1)
        np.testing.assert_allclose(cells.flatten().numpy(), exact, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_by_finite_differences(rng, weighted):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 5)]
    weights = [torch.from_numpy(w).requires_grad_() for w in make_weights(rng, clouds)] if weighted else []

    def averages(*inputs):
        masses = [w / w.sum() for w in inputs[2:]] or None
        return grids.cell_averages(gml.as_curves(list(inputs[:2]), weights=masses), 4)

    assert torch.autograd.gradcheck(averages, (*clouds, *weights))


def test_averages_on_a_device_are_those_of_the_cpu(rng, device):
    clouds = [make_cloud(rng, int(n), 3, "grid").astype(np.float32) for n in rng.integers(1, 100, 30)]
    for n in (1, 7, 16, 130):
        got = grids.cell_averages(gml.as_curves(clouds, device=device), n)
        np.testing.assert_allclose(got.cpu().numpy(), grids.cell_averages(gml.as_curves(clouds), n).numpy(), atol=1e-5)


def test_triton_is_for_gpus_only():
    assert not grids.has_kernels(torch.device("cpu"))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_samples_are_values_at_the_middles_of_the_cells(rng, weighted, n):
    clouds = [make_cloud(rng, m, 2) for m in (1, 5, 4)]
    weights = make_weights(rng, clouds) if weighted else [np.full(len(x), 1 / len(x)) for x in clouds]
    samples = grids.cell_samples(gml.as_curves(clouds, weights=weights), n)
    for g, x in enumerate(clouds):
        for k, e in enumerate(np.eye(2)):
            for i in range(n):
                wanted = curve_at(x, weights[g], e, (i + 0.5) / n + 1e-12)  # a step begins where the one before ends
                np.testing.assert_array_equal(samples[g, i, k].numpy(), wanted)


def test_running_sums(rng):
    values = rng.normal(size=(6, 2, 3)).astype(np.float32)
    sums = grids.running_sums(torch.from_numpy(values))
    wanted = np.concatenate([np.zeros((1, 2, 3)), np.cumsum(values.astype(float), axis=0)])
    np.testing.assert_allclose(sums.numpy(), wanted, atol=1e-14)
