import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import products
from graph_metric_learn.transport.engines.base import Run
from graph_metric_learn.transport.engines.pair_by_pair import WalkedEngine
from graph_metric_learn.transport.walks import walk_pairs
from helpers import KINDS, make_cloud, make_weights


def test_centring_moves_both_sides_alike(rng):
    u, v = gml.as_curves([rng.normal(size=(4, 2)) + 50]), gml.as_curves([rng.normal(size=(3, 2)) + 50])
    u2, v2 = products.centred(u, v)
    torch.testing.assert_close(u.values - u2.values, (v.values - v2.values)[:1].expand(4, 2, 2))
    assert abs(float(u2.values.mean())) < 1e-12
    assert products.centred(u, None)[1] is None


class Recorded:
    """Notes which entries are made, and with which grid."""

    def __init__(self, u, v):
        self.sizes = u.sizes, (u if v is None else v).sizes
        self.grid = np.zeros((len(self.sizes[0]), len(self.sizes[1])), int)

    def fill(self, n, rows, cols):
        assert (self.grid[rows, cols] == 0).all()
        self.grid[rows, cols] = n

    def result(self, rows, cols):
        return torch.from_numpy(self.grid[rows][:, cols])


class Recording(products.ProductEngine):
    def takes(self, u, v):
        return True

    def blocks(self, u, v):
        assert (np.diff(u.sizes) >= 0).all()
        return Recorded(u, v)


class Bar:
    count = 0

    def update(self, count):
        self.count += count


@pytest.mark.parametrize("within", [False, True])
def test_each_pair_is_made_once_on_the_grid_of_the_smaller_curve(rng, within):
    u, v = (gml.as_curves([make_cloud(rng, int(n), 2) for n in rng.integers(1, 6, count)]) for count in (9, 7))
    bar = Bar()
    grid = Recording().matrix(u, None if within else v, Run(bar=bar)).numpy()
    if within:
        grid = np.maximum(grid, grid.T)
        assert bar.count == 9 * 8 // 2
    else:
        assert bar.count == 9 * 7
    np.testing.assert_array_equal(grid, np.minimum.outer(u.sizes, (u if within else v).sizes))


def test_pieces_of_averages_stay_in_the_cache():
    assert products.curves_per_piece(16, 2**6) * 16 * 2**6 == 2**20
    assert products.curves_per_piece(16, 2**6, times=16) * 16 * 2**6 == 2**24
    assert products.curves_per_piece(2**30, 1) == 1


def walked(u, v):
    first, second = np.indices((len(u), len(v))).reshape(2, -1)
    return walk_pairs(u, v, first, second).view(len(u), len(v)).numpy()


@pytest.fixture
def compiled():
    return products.CompiledEngine()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("averages", [1, 100, 2**20])
@pytest.mark.parametrize("serial", [0, 2**16])
def test_the_matrix_against_walks(rng, compiled, kind, averages, serial, monkeypatch):
    monkeypatch.setattr(products, "_AVERAGES", averages)
    monkeypatch.setattr(products, "_SERIAL", serial)
    u, v = (gml.as_curves([make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 12, count)]) for count in (14, 9))
    within = compiled.matrix(*compiled.prepared(u, None), Run()).numpy()
    np.testing.assert_allclose(within, walked(u, u), atol=1e-12)
    assert (within == within.T).all()
    assert (np.diag(within) == 0).all()
    np.testing.assert_allclose(compiled.matrix(*compiled.prepared(u, v), Run()).numpy(), walked(u, v), atol=1e-12)


def test_near_pairs_keep_their_digits(rng, compiled):
    base = [make_cloud(rng, int(n), 3) + 100 for n in rng.integers(2, 12, 8)]
    curves = gml.as_curves([*base, *(x + 1e-7 for x in base)])
    squares = compiled.matrix(*compiled.prepared(curves, None), Run()).numpy()
    np.testing.assert_allclose(squares[np.arange(8), np.arange(8, 16)], 3e-14, rtol=1e-5)


def test_blocks_of_few_rows_are_walked(rng, compiled):
    curves = gml.as_curves([make_cloud(rng, 3, 2) + 100 for _ in range(9)])  # products would round
    by_walks = WalkedEngine().matrix(curves[:5], curves, Run()).numpy()
    np.testing.assert_array_equal(compiled.matrix(curves[:4], curves, Run()).numpy(), by_walks[:4])
    by_products = compiled.matrix(curves[:5], curves, Run()).numpy()
    np.testing.assert_allclose(by_products, by_walks, rtol=1e-9)
    assert (by_products != by_walks).any()


@pytest.fixture
def autograd():
    return products.AutogradEngine()


def test_norms_are_distances_to_the_origin(rng):
    clouds = [make_cloud(rng, n, 3) for n in (2, 5, 1)]
    for weights in (None, make_weights(rng, clouds)):
        walked = gml.as_curves(clouds, weights=weights)
        origin = gml.as_curves([np.zeros((1, 3))])
        wanted = gml.pairwise_distances(walked, origin, squared=True)[:, 0]
        np.testing.assert_allclose(products.squared_norms(walked).numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("averages", [1, 2**20])
def test_the_matrix_with_gradients_against_walks(rng, autograd, device, kind, averages, monkeypatch):
    monkeypatch.setattr(products, "_AVERAGES", averages)
    here = [gml.as_curves([make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 12, count)]) for count in (9, 6)]
    u, v = (side.to(device) for side in here)
    for other, wanted_of in ((None, here[0]), (v, here[1])):
        first, second = np.indices((9, len(wanted_of))).reshape(2, -1)
        wanted = walk_pairs(here[0], wanted_of, first, second).view(9, -1).numpy()
        got = autograd.matrix(*autograd.prepared(u, other), Run())
        assert got.device.type == device
        np.testing.assert_allclose(got.cpu().numpy(), wanted, atol=1e-12)


def test_gradients_by_finite_differences(rng, autograd):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 4, 3, 1)]
    near = clouds[0].detach() + 1e-7  # so near to the first that the pair is walked

    def squares(*clouds):
        curves = gml.as_curves([*clouds, near])
        return autograd.matrix(*autograd.prepared(curves, None), Run())

    assert torch.autograd.gradcheck(squares, clouds)
