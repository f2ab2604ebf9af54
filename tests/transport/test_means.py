import numpy as np
import pytest

import graph_metric_learn as gml
from helpers import make_cloud, make_weights


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
