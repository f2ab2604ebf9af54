"""Tiles and what is made of them, on every device; on the CPU the compiled engine is put aside for it."""

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport import pairwise, walks
from graph_metric_learn.transport.engines import streaming, tiles
from helpers import KINDS, make_cloud, make_weights

FRESH = np.random.default_rng()


@pytest.fixture
def tiled(device, monkeypatch):
    if device == "cpu":
        monkeypatch.setattr(gml.Curves, "compiled", False)
    return device


def clouds_of(kind, count=40, most=15, p=3):
    return [make_cloud(FRESH, int(n), p, kind).astype(np.float32) for n in FRESH.integers(1, most, count)]


def exactly(clouds, others=None):
    """Every pair walked in float64, no products."""
    u, v = (gml.as_curves([x.astype(float) for x in side]) for side in (clouds, others or clouds))
    first, second = np.indices((len(u), len(v))).reshape(2, -1)
    return walks.walk_pairs(u, v, first, second).sqrt().view(len(u), len(v)).numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 1000, 10**9])
def test_every_way_to_the_matrix(tiled, kind, block, monkeypatch, tmp_path):
    monkeypatch.setattr(streaming, "_ROWS_BYTES", block)
    monkeypatch.setattr(streaming, "_BUFFER_BYTES", block)
    monkeypatch.setattr(pairwise, "_CUDA_BLOCK_BYTES", block)
    clouds, others = clouds_of(kind), clouds_of(kind, 23)
    for other in (None, others):
        wanted = exactly(clouds, other)
        got = gml.pairwise_distances(clouds, other, device=tiled)
        assert isinstance(got, np.ndarray)
        np.testing.assert_allclose(got, wanted, atol=1e-4)
        for fits in (True, False):  # the matrix on the card
            monkeypatch.setattr(streaming, "_fits", lambda *args, fits=fits: fits)
            file = np.lib.format.open_memmap(tmp_path / "d.npy", mode="w+", dtype=np.float64, shape=wanted.shape)
            gml.pairwise_distances(clouds, other, device=tiled, out=file)
            np.testing.assert_allclose(file, wanted, atol=1e-4)
            if other is None:
                assert (file == file.T).all()
                assert (np.diag(file) == 0).all()
        seen = np.full(wanted.shape, np.nan)
        for rows, part in gml.iter_distances(clouds, other, device=tiled, block_bytes=block):
            seen[rows] = part
        np.testing.assert_allclose(seen, wanted, atol=1e-4)
        times = np.zeros(wanted.shape, int)
        for rows, cols, part in gml.iter_pairs(clouds, other, device=tiled, block_bytes=block):
            np.testing.assert_allclose(part, wanted[np.ix_(rows, cols)], atol=1e-4)
            times[np.ix_(rows, cols)] += 1
        if other is None:
            times = np.maximum(times, times.T)
        assert (times == 1).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_with_ties(tiled, kind, weighted):
    clouds, others = clouds_of(kind), clouds_of(kind, 30)
    others += others[:7] + others[:7]  # equally near
    a, b = (make_weights(FRESH, clouds), make_weights(FRESH, others)) if weighted else (None, None)
    wide = gml.pairwise_distances(clouds, others, weights=a, other_weights=b, device=tiled)
    d, i = gml.kneighbors(clouds, others, weights=a, other_weights=b, n_neighbors=9, device=tiled, block_bytes=2000)
    np.testing.assert_allclose(d, np.sort(wide, axis=1)[:, :9], atol=1e-5)
    np.testing.assert_allclose(d, np.take_along_axis(wide, i, 1), atol=1e-5)
    assert all(len(set(row)) == 9 for row in i.tolist())


def test_equal_entries_by_name(device):
    squares = torch.tensor([[2.0, 1.0, 1.0, 1.0, 0.0], [3.0, 3.0, 3.0, 3.0, 3.0]], device=device)
    names = torch.tensor([4, 3, 0, 2, 1], device=device)
    found, which = streaming.smallest(squares, 3, names)
    assert found.tolist() == [[0, 1, 1], [3, 3, 3]]
    assert which.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert streaming.smallest(squares, 5, names)[1].tolist() == [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]


def test_averages_need_not_be_kept(tiled, monkeypatch):
    clouds = clouds_of("relu")
    wanted = exactly(clouds)
    monkeypatch.setattr(tiles, "_SHARE", 0.0)
    monkeypatch.setattr(tiles, "_HOST_BYTES", 0)
    np.testing.assert_allclose(gml.pairwise_distances(clouds, device=tiled), wanted, atol=1e-4)


def test_norms_in_parts_that_tf32_can_hold():
    numbers = torch.rand(100, dtype=torch.float32) * 1e3
    parts = tiles._split(numbers, 3)
    assert torch.equal(parts[0].double() + parts[1].double() + parts[2].double(), numbers.double())
    for part in parts:
        assert torch.equal(part.view(torch.int32) & 0x1FFF, torch.zeros(100, dtype=torch.int32))


def test_walks_listed_on_the_device(device, monkeypatch):
    monkeypatch.setattr(walks, "_CHUNK", 1000)
    curves = gml.as_curves(clouds_of("relu", 12, most=30))
    first, second = FRESH.integers(0, 12, (2, 50))
    wanted = walks.walk_pairs(curves, curves, first, second)
    there = curves.to(device)
    got = walks.walk_uniform(there, there, *(torch.from_numpy(side).to(device) for side in (first, second)))
    np.testing.assert_allclose(got.cpu().numpy(), wanted.numpy(), rtol=1e-5, atol=1e-9)


def test_vectors_and_curves_are_those_of_the_cpu(device):
    clouds = clouds_of("grid", 30, most=100)
    here, there = gml.as_curves(clouds), gml.as_curves(clouds, device=device)
    assert there.device.type == device
    np.testing.assert_array_equal(there.values.cpu().numpy(), here.values.numpy())
    for n in (1, 7, 16, 130):
        vectors = gml.curve_vectors(clouds, n, device=device)
        np.testing.assert_allclose(vectors, gml.curve_vectors(clouds, n), atol=1e-6)
    chosen = FRESH.permutation(30)[:11]
    np.testing.assert_array_equal(there[chosen].values.cpu().numpy(), here[chosen].values.numpy())
