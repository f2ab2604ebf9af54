import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.transport import grids
from helpers import cloud_lists, curve_at, integrate, make_cloud, make_weights


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


def gap(vectors):
    return np.linalg.norm(vectors[0] - vectors[1])


@given(cloud_lists(), st.integers(1, 12), st.sampled_from(["rpw", "pw", "sw"]), st.booleans())
def test_averages_are_a_lower_bound(drawn, cells, metric, weighted):
    clouds, rng = drawn
    weights = make_weights(rng, clouds) if weighted else None
    walked = gml.as_curves(clouds, metric=metric, weights=weights, seed=0, n_projections=5)
    exact = gml.pairwise_distances(walked)[0, 1]
    assert gap(gml.curve_vectors(walked, cells)) <= exact + 1e-9


@pytest.mark.parametrize("kind", ["average", "sample"])
def test_both_kinds_are_exact_on_a_common_multiple(rng, kind):
    clouds = [make_cloud(rng, n, 3, "relu") for n in (4, 6)]
    assert gap(gml.curve_vectors(clouds, 12, kind=kind)) == pytest.approx(gml.rpw_distance(*clouds), rel=1e-12)
    assert gap(gml.curve_vectors(clouds, 5, kind=kind)) != pytest.approx(gml.rpw_distance(*clouds), rel=1e-3)


def test_samples_are_values_at_the_middles(rng):
    x, a = make_cloud(rng, 5, 2), np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    for weights in (None, [a]):
        walked = gml.as_curves([x], weights=weights)
        got = gml.curve_vectors(walked, 3, kind="sample").reshape(3, 2, 2) * np.sqrt(6)
        for i, t in enumerate((1 / 6, 3 / 6, 5 / 6)):
            for k in range(2):
                step = int(np.searchsorted(walked.ends[:, k].numpy(), t, side="right"))
                np.testing.assert_allclose(got[i, k], walked.values[step, k].numpy())


def test_samples_are_closer_but_no_bound(rng):
    clouds = [make_cloud(rng, int(n), 3) for n in rng.integers(5, 40, 40)]
    exact = gml.pairwise_distances(clouds)
    gaps = {}
    for kind in ("average", "sample"):
        v = gml.curve_vectors(clouds, 16, kind=kind)
        gaps[kind] = np.linalg.norm(v[:, None] - v[None], axis=2) - exact
    assert gaps["average"].max() <= 1e-9
    assert gaps["sample"].max() > 0.01
    assert abs(gaps["sample"].mean()) < abs(gaps["average"].mean())


def test_kind_and_gradient_go_through(rng):
    clouds = [rng.normal(size=(n, 2)).astype(np.float32) for n in (3, 5)]
    assert gml.curve_vectors(clouds, 4).dtype == np.float32
    assert gml.curve_vectors(clouds, 4, metric="pw", n_projections=7).shape == (2, 4 * 7 * 2)
    tensors = [torch.from_numpy(x).double().requires_grad_() for x in clouds]
    for kind in ("average", "sample"):
        assert torch.autograd.gradcheck(lambda *t, kind=kind: gml.curve_vectors(list(t), 4, kind=kind), tensors)


def test_bad_choices(rng):
    x = [rng.normal(size=(3, 2))]
    with pytest.raises(ValueError, match="'mean'"):
        gml.curve_vectors(x, kind="mean")
    with pytest.raises(ValueError, match="n_cells"):
        gml.curve_vectors(x, 0)
    with pytest.raises(ValueError, match="metric"):
        gml.curve_vectors(gml.as_curves(x), metric="sw")
