import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import tiles
from graph_metric_learn.transport.engines.products import centred
from graph_metric_learn.transport.walks import walk_pairs
from helpers import KINDS, make_cloud


def curves_of(rng, kind, count, dtype=np.float32):
    return gml.as_curves([make_cloud(rng, int(n), 3, kind).astype(dtype) for n in rng.integers(1, 12, count)])


def walked(u, v):
    """Squared distances of curves in order of size, pair by pair in float64."""
    u, v = (gml.Curves(side.values.double().cpu(), side.sizes) for side in (u, v))
    first, second = np.indices((len(u), len(v))).reshape(2, -1)
    return walk_pairs(u, v, first, second).view(len(u), len(v)).numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("within", [False, True])
def test_tiles_against_walks(rng, device, kind, dtype, within):
    u, v = curves_of(rng, kind, 13, dtype).to(device), curves_of(rng, kind, 8, dtype).to(device)
    made = tiles.Tiles(*centred(u, None if within else v), "float32")
    wanted = walked(made.rows.curves, made.cols.curves)
    if within:
        np.fill_diagonal(wanted, np.inf)
    for at, start in ((np.arange(13), 0), (np.array([3, 4, 7]), 3), (np.array([12]), 7)):
        tile = made.tile(at, start)
        np.testing.assert_allclose(tile.finish().cpu().numpy(), wanted[at, start:], atol=1e-5)
        if within:
            tile.set_own(0.0)
            assert (tile.squares.cpu().numpy()[np.arange(len(at)), at - start] == 0).all()


def test_places_are_in_order_of_size(rng):
    curves = curves_of(rng, "normal", 9)
    side = tiles.Side(curves, 1)
    assert side.sizes.tolist() == sorted(curves.sizes)
    assert curves.sizes[side.order].tolist() == side.sizes.tolist()
    lengths = [float((curves[g : g + 1].values.double() ** 2).sum() / (n * 3)) for g, n in enumerate(curves.sizes)]
    np.testing.assert_allclose(side.norms.numpy(), np.array(lengths)[side.order], rtol=1e-6)


def test_norms_in_parts_that_tf32_can_hold():
    numbers = torch.rand(100, dtype=torch.float32, generator=torch.Generator().manual_seed(0)) * 1e3
    parts = tiles._split(numbers, 3)
    assert torch.equal(parts[0].double() + parts[1].double() + parts[2].double(), numbers.double())
    for part in parts:
        assert torch.equal(part.view(torch.int32) & 0x1FFF, torch.zeros(100, dtype=torch.int32))


def test_averages_are_kept_while_memory_allows(rng, monkeypatch):
    curves = curves_of(rng, "relu", 20)
    sizes = np.unique(curves.sizes)
    for budget, kept in ((2**28, len(sizes)), (0, 1)):
        monkeypatch.setattr(tiles, "_AVERAGES_BYTES", budget)
        made = tiles.Tiles(curves, None, "float32")
        made.tile(np.arange(20))
        assert len(made.rows._operands) == kept
