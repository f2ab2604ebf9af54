import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import autograd, products
from graph_metric_learn.transport.engines.base import Run
from graph_metric_learn.transport.walks import walk_pairs
from helpers import KINDS, make_cloud, make_weights


@pytest.fixture
def engine():
    return autograd.AutogradEngine()


def test_norms_are_distances_to_the_origin(rng):
    clouds = [make_cloud(rng, n, 3) for n in (2, 5, 1)]
    for weights in (None, make_weights(rng, clouds)):
        walked = gml.as_curves(clouds, weights=weights)
        origin = gml.as_curves([np.zeros((1, 3))])
        wanted = gml.pairwise_distances(walked, origin, squared=True)[:, 0]
        np.testing.assert_allclose(autograd.squared_norms(walked).numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("averages", [1, 2**20])
def test_the_matrix_against_walks(rng, engine, device, kind, averages, monkeypatch):
    monkeypatch.setattr(products, "_AVERAGES", averages)
    here = [gml.as_curves([make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 12, count)]) for count in (9, 6)]
    u, v = (side.to(device) for side in here)
    for other, wanted_of in ((None, here[0]), (v, here[1])):
        first, second = np.indices((9, len(wanted_of))).reshape(2, -1)
        wanted = walk_pairs(here[0], wanted_of, first, second).view(9, -1).numpy()
        got = engine.matrix(*engine.prepared(u, other), Run())
        assert got.device.type == device
        np.testing.assert_allclose(got.cpu().numpy(), wanted, atol=1e-12)


def test_gradients_by_finite_differences(rng, engine):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 4, 3, 1)]
    near = clouds[0].detach() + 1e-7  # so near to the first that the pair is walked

    def squares(*clouds):
        curves = gml.as_curves([*clouds, near])
        return engine.matrix(*engine.prepared(curves, None), Run())

    assert torch.autograd.gradcheck(squares, clouds)
