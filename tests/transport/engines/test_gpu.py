"""Everything made of tiles, on every device; on the CPU the engine is registered again, so that it is asked first."""

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from conftest import NEEDS_CUDA
from graph_metric_learn.transport import pairwise, walks
from graph_metric_learn.transport.engines import ENGINES, choose_engine, tiles
from graph_metric_learn.transport.engines import gpu as tiled
from helpers import KINDS, make_cloud, make_weights


@pytest.fixture
def where(device, monkeypatch):
    if device == "cpu":
        monkeypatch.setitem(ENGINES, "tiled on the CPU", ENGINES["tiled"])
    return device


def clouds_of(rng, kind, count=40, most=15, p=3):
    return [make_cloud(rng, int(n), p, kind).astype(np.float32) for n in rng.integers(1, most, count)]


def exactly(clouds, others=None):
    """Every pair walked in float64, no products."""
    u, v = (gml.as_curves([x.astype(float) for x in side]) for side in (clouds, others or clouds))
    first, second = np.indices((len(u), len(v))).reshape(2, -1)
    return walks.walk_pairs(u, v, first, second).sqrt().view(len(u), len(v)).numpy()


def test_the_engine_is_chosen(rng, where):
    curves = gml.as_curves(clouds_of(rng, "normal")).to(where)
    assert choose_engine(curves) is choose_engine(curves[:1], curves) is ENGINES["tiled"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 1000, 10**9])
def test_every_way_to_the_matrix(rng, where, kind, block, monkeypatch, tmp_path):
    monkeypatch.setattr(tiled, "_ROWS_BYTES", block)
    monkeypatch.setattr(tiled, "_BUFFER_BYTES", block)
    monkeypatch.setattr(pairwise, "_CUDA_BLOCK_BYTES", block)
    clouds, others = clouds_of(rng, kind), clouds_of(rng, kind, 23)
    for other in (None, others):
        wanted = exactly(clouds, other)
        got = gml.pairwise_distances(clouds, other, device=where)
        assert isinstance(got, np.ndarray)
        np.testing.assert_allclose(got, wanted, atol=1e-4)
        for fits in (True, False):  # the matrix into the memory of the device
            monkeypatch.setattr(tiled, "_fits", lambda *args, fits=fits: fits)
            file = np.lib.format.open_memmap(tmp_path / "d.npy", mode="w+", dtype=np.float64, shape=wanted.shape)
            gml.pairwise_distances(clouds, other, device=where, out=file)
            np.testing.assert_allclose(file, wanted, atol=1e-4)
            if other is None:
                assert (file == file.T).all()
                assert (np.diag(file) == 0).all()
        seen = np.full(wanted.shape, np.nan)
        for rows, part in gml.iter_distances(clouds, other, device=where, block_bytes=block):
            seen[rows] = part
        np.testing.assert_allclose(seen, wanted, atol=1e-4)
        times = np.zeros(wanted.shape, int)
        for rows, cols, part in gml.iter_pairs(clouds, other, device=where, block_bytes=block):
            np.testing.assert_allclose(part, wanted[np.ix_(rows, cols)], atol=1e-4)
            times[np.ix_(rows, cols)] += 1
        if other is None:
            times = np.maximum(times, times.T)
        assert (times == 1).all()


@pytest.mark.parametrize("fits", [True, False])
def test_the_bar_counts_each_pair_once(rng, where, fits, monkeypatch, capsys):
    monkeypatch.setattr(tiled, "_ROWS_BYTES", 1000)
    monkeypatch.setattr(tiled, "_fits", lambda *args: fits)
    clouds = clouds_of(rng, "normal")
    for other in (None, clouds[:23]):
        gml.pairwise_distances(clouds, other, device=where, progress=True)
        count = 40 * 39 // 2 if other is None else 40 * 23
        assert f" {count}/{count} " in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_with_ties(rng, where, kind, weighted):
    clouds, others = clouds_of(rng, kind), clouds_of(rng, kind, 30)
    others += others[:7] + others[:7]  # equally near
    a, b = (make_weights(rng, clouds), make_weights(rng, others)) if weighted else (None, None)
    wide = gml.pairwise_distances(clouds, others, weights=a, other_weights=b, device=where)
    d, i = gml.kneighbors(clouds, others, weights=a, other_weights=b, n_neighbors=9, device=where, block_bytes=2000)
    np.testing.assert_allclose(d, np.sort(wide, axis=1)[:, :9], atol=1e-5)
    np.testing.assert_allclose(d, np.take_along_axis(wide, i, 1), atol=1e-5)
    assert all(len(set(row)) == 9 for row in i.tolist())


def test_averages_need_not_be_kept(rng, where, monkeypatch):
    clouds = clouds_of(rng, "relu")
    wanted = exactly(clouds)
    monkeypatch.setattr(tiles, "_AVERAGES_SHARE", 0.0)
    monkeypatch.setattr(tiles, "_AVERAGES_BYTES", 0)
    np.testing.assert_allclose(gml.pairwise_distances(clouds, device=where), wanted, atol=1e-4)


class Queued:
    def __init__(self, count):
        self.squares = torch.empty(count, dtype=torch.uint8)


def test_tiles_are_queued_before_earlier_ones_are_used():
    queued = []

    def tiles_of(sizes):
        for number, size in enumerate(sizes):
            queued.append(number)
            yield number, Queued(size)

    ahead = [len(queued) - 1 - number for number, _ in tiled._prefetch(tiles_of([4] * 6), 10)]
    assert ahead == [3, 3, 3, 2, 1, 0]  # three tiles of 4 bytes make 10 bytes
    queued.clear()
    assert [number for number, _ in tiled._prefetch(tiles_of([100, 1, 1]), 0)] == [0, 1, 2]


@pytest.mark.parametrize("buffer", [1, 100, 2**26])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_arrive_where_they_belong(rng, device, buffer, dtype, monkeypatch):
    monkeypatch.setattr(tiled, "_BUFFER_BYTES", buffer)
    wanted = rng.normal(size=(9, 7)).astype(np.float32)
    there = torch.from_numpy(wanted).to(device)
    out = np.full((9, 7), np.nan, dtype)
    copy = tiled.HostCopy(out, there)
    for rows in (slice(0, 4), slice(4, 9)):
        for cols in (slice(0, 3), slice(3, 7)):
            copy.write(rows, cols, there[rows, cols].contiguous())
    copy.flush()
    np.testing.assert_array_equal(out, wanted)


@NEEDS_CUDA
def test_pinned_rows_are_copied_to_directly(rng):
    wanted = torch.from_numpy(rng.normal(size=(6, 5)).astype(np.float32))
    out = torch.zeros(6, 5, pin_memory=True).numpy()
    copy = tiled.HostCopy(out, wanted.cuda())
    assert copy.pinned
    copy.write(slice(0, 6), slice(0, 5), wanted.cuda())
    assert not copy.under_way
    copy.flush()
    np.testing.assert_array_equal(out, wanted.numpy())
