from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.transport.means import Means
from helpers import cloud_lists, curve_at, make_cloud, make_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shares", [None, [0.5, 0.1, 0.3, 0.1]])
def test_distance_to_the_mean_follows_huygens(rng, weighted, shares):
    """Σ w |Φ_g − Ψ|² = Σ w |Φ_g − mean|² + |mean − Ψ|² for every Ψ: the mean is the minimiser, and only it."""
    clouds = [make_cloud(rng, n, 3, "relu") for n in (3, 6, 1, 4)]
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds) if weighted else None)
    mean = gml.mean_curve(walked, shares)
    other = gml.as_curves([make_cloud(rng, 5, 3)])
    w = np.full(4, 0.25) if shares is None else np.array(shares)
    to_other = gml.pairwise_distances(walked, other, squared=True)[:, 0]
    to_mean = gml.pairwise_distances(walked, mean, squared=True)[:, 0]
    between = gml.pairwise_distances(mean, other, squared=True)[0, 0]
    assert w @ to_other == pytest.approx(w @ to_mean + between, rel=1e-9)


def test_mean_of_equal_sizes_is_the_plain_mean(rng):
    clouds = [make_cloud(rng, 4, 2) for _ in range(3)]
    walked = gml.as_curves(clouds)
    mean = gml.mean_curve(walked)
    assert mean.steps is None
    np.testing.assert_allclose(mean.values.numpy(), walked.values.view(3, 4, 2, 2).mean(0).numpy())


def test_mean_of_copies_is_the_copy(rng):
    x = make_cloud(rng, 7, 2, "relu")
    walked = gml.as_curves([x, x[rng.permutation(7)]])
    assert gml.pairwise_distances(gml.mean_curve(walked), walked).max() < 1e-12


@pytest.mark.parametrize("bad", [[1.0], [0.5, 0.6], [1.5, -0.5]])
def test_bad_shares(rng, bad):
    with pytest.raises(ValueError, match="2 numbers"):
        gml.mean_curve(gml.as_curves([np.ones((2, 1)), np.ones((3, 1))]), bad)


def test_a_mean_of_nothing():
    with pytest.raises(ValueError, match="at least one"):
        gml.mean_curve(gml.as_curves([np.ones((2, 1))])[:0])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_is_the_mean_of_the_values_at_every_time(rng, weighted):
    clouds = [make_cloud(rng, n, 2, "relu") for n in (2, 3, 3, 7)]
    masses = make_weights(rng, clouds) if weighted else [np.full(len(x), 1 / len(x)) for x in clouds]
    mean = gml.mean_curve(gml.as_curves(clouds, weights=masses if weighted else None))
    for k, direction in enumerate(np.eye(2)):
        ends = mean.ends[:, k].numpy()
        middles = ends - np.diff(ends, prepend=0.0) / 2
        long = np.diff(ends, prepend=0.0) > 1e-9  # weights may end at times that differ by rounding
        wanted = [np.mean([curve_at(x, a, direction, t) for x, a in zip(clouds, masses, strict=True)], 0)
                  for t in middles[long]]  # fmt: skip
        np.testing.assert_allclose(mean.values[torch.from_numpy(long), k].numpy(), wanted, atol=1e-12)


def test_means_have_gradients():
    values = torch.randn(5, 2, 2, dtype=torch.float64, generator=torch.manual_seed(0)).requires_grad_()
    sizes = np.array([2, 3])
    assert torch.autograd.gradcheck(lambda v: gml.mean_curve(gml.Curves(v, sizes), [0.3, 0.7]).values, values)


# --- distances to the means of groups --------------------------------------------------------------------------------


def by_members(items, codes, count, others):
    """Oracle: d²(x, mean) = mean_i d²(x, x_i) − ½ mean_ij d²(x_i, x_j), from distances between pairs alone."""
    found = []
    for group in range(count):
        members = items[np.flatnonzero(codes == group)]
        within = gml.pairwise_distances(members, squared=True).mean() / 2
        found.append(gml.pairwise_distances(others, members, squared=True).mean(1) - within)
    return np.stack(found, 1)


@given(cloud_lists(count=12, max_points=7), st.booleans())
def test_distances_to_means_follow_from_those_to_the_members(drawn, weighted):
    clouds, rng = drawn
    weights = make_weights(rng, clouds) if weighted else None
    walked = gml.as_curves(clouds, weights=weights)
    items, others = walked[:9], walked[6:]  # some of the graphs were averaged, others have sizes of their own
    codes = np.concatenate([np.arange(3), rng.integers(3, size=6)])
    found = Means(items, codes, 3).squared_distances(others)
    scale = max(1.0, float(walked.values.abs().max())) ** 2
    np.testing.assert_allclose(found, by_members(items, codes, 3, others), atol=1e-9 * scale)
    assert (found >= 0).all()


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4, 4, 4), (3, 8, 5, 3, 1, 8)])
@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
def test_distances_to_means_are_those_to_the_mean_curves(rng, sizes, metric):
    walked = gml.as_curves([make_cloud(rng, n, 3, "relu") for n in sizes], metric=metric, seed=0)
    codes = np.array([0, 0, 1, 1, 0, 1])
    means = Means(walked, codes, 2)
    wanted = [
        gml.pairwise_distances(walked, gml.mean_curve(walked[np.flatnonzero(codes == k)]), squared=True)[:, 0]
        for k in (0, 1)
    ]
    np.testing.assert_allclose(means.squared_distances(walked), np.stack(wanted, 1), rtol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_means_of_vectors(rng, dtype, device):
    x = torch.from_numpy(rng.normal(size=(30, 5)) + 100).to(dtype)
    codes = np.arange(30) % 4
    found = Means(gml.Vectors(x.to(device)), codes, 4).squared_distances(gml.Vectors(x.to(device)))
    plain = x.double().numpy()
    centres = np.stack([plain[codes == k].mean(0) for k in range(4)])
    np.testing.assert_allclose(found, ((plain[:, None] - centres) ** 2).sum(2), rtol=1e-8)
    np.testing.assert_allclose(found, by_members(gml.Vectors(x.double(), numpy=True), codes, 4,
                                                 gml.Vectors(x.double(), numpy=True)), rtol=1e-8)  # fmt: skip


def test_groups_are_cut_into_pieces(rng, monkeypatch):
    walked = gml.as_curves([make_cloud(rng, n, 2) for n in (4, 6, 4, 6, 4, 5)])
    codes = np.array([0, 1, 0, 1, 1, 0])
    whole = Means(walked, codes, 2).squared_distances(walked)
    monkeypatch.setattr("graph_metric_learn.transport.means._NUMBERS", 1)
    np.testing.assert_allclose(Means(walked, codes, 2).squared_distances(walked), whole, rtol=1e-12)


def test_curves_on_a_device(rng, device):
    walked = gml.as_curves([make_cloud(rng, n, 2) for n in (4, 6, 3, 6)])
    codes = np.array([0, 1, 1, 0])
    wanted = Means(walked, codes, 2).squared_distances(walked)
    there = walked.to(device)
    np.testing.assert_allclose(Means(there, codes, 2).squared_distances(there), wanted, rtol=1e-10)
    np.testing.assert_allclose(Means(there, codes, 2).squared_distances(walked), wanted, rtol=1e-10)


def test_an_item_that_is_its_own_mean_is_at_distance_zero(rng):
    far = gml.as_curves([make_cloud(rng, n, 2).astype(np.float32) + 1000 for n in (3, 5, 5)])
    means = Means(far, np.arange(3), 3)
    assert (np.diag(means.squared_distances(far)) == 0).all()
    moved = replace(far, values=far.values + 0.0001)  # one or two of the last digits of float32 near 1000
    exact = (moved.values - far.values).double().square().sum(2).mean(1)
    wanted = [float(exact[lo:hi].mean()) for lo, hi in zip(far.offsets, far.offsets[1:], strict=False)]
    np.testing.assert_allclose(np.diag(means.squared_distances(moved)), wanted, rtol=1e-6)


def test_a_group_without_members():
    with pytest.raises(ValueError, match="group 1 of 2 is empty"):
        Means(gml.Vectors(torch.zeros(2, 1)), np.array([0, 0]), 2)
