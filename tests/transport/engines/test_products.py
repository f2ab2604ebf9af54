import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import products
from graph_metric_learn.transport.engines.base import Run
from helpers import make_cloud


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
