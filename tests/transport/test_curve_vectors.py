import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from helpers import cloud_lists, make_cloud, make_weights


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
