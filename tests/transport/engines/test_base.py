"""What follows from `takes` and `matrix` alone, and the smallest entries of a block."""

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import base
from graph_metric_learn.transport.engines.base import Engine, Run, pieces
from graph_metric_learn.transport.walks import walk_pairs
from helpers import make_cloud


class PairByPair(Engine):
    """Nothing but the matrix."""

    def takes(self, u, v):
        return True

    def matrix(self, u, v, run):
        second = u if v is None else v
        i, j = np.indices((len(u), len(second))).reshape(2, -1)
        run.bar.update(len(i))
        return walk_pairs(u, second, i, j).view(len(u), len(second))


class Bar:
    count = 0

    def update(self, count=1):
        self.count += count


@pytest.fixture
def sides(rng):
    return [gml.as_curves([make_cloud(rng, int(n), 2) for n in rng.integers(1, 6, count)]) for count in (7, 4)]


def both(sides):
    """(u, v, the matrix), within one side and between two."""
    for v in (None, sides[1]):
        yield sides[0], v, PairByPair().matrix(sides[0], v, Run()).numpy()


BLOCKS = pytest.mark.parametrize("block_bytes", [1, 60, 10**6])


@BLOCKS
def test_blocks_of_rows(sides, block_bytes):
    for u, v, whole in both(sides):
        seen = np.full(whole.shape, np.nan)
        for rows, block in PairByPair().row_blocks(u, v, Run(block_bytes=block_bytes)):
            assert block.numel() * 8 <= max(block_bytes, whole.shape[1] * 8)
            seen[rows] = block.numpy()
        np.testing.assert_allclose(seen, whole, atol=1e-12)


@BLOCKS
def test_blocks_of_pairs_hold_each_pair_once(sides, block_bytes):
    for u, v, whole in both(sides):
        times = np.zeros(whole.shape, int)
        for rows, cols, block in PairByPair().pair_blocks(u, v, Run(block_bytes=block_bytes)):
            np.testing.assert_allclose(block.numpy(), whole[np.ix_(rows, cols)], atol=1e-12)
            times[np.ix_(rows, cols)] += 1
            if v is None:
                assert cols[: len(rows)].tolist() == rows.tolist()
        assert (np.maximum(times, times.T) if v is None else times).min() == 1
        assert times.max() == 1


@BLOCKS
def test_a_host_array_is_filled(sides, block_bytes):
    for u, v, whole in both(sides):
        out = np.full(whole.shape, np.nan)
        PairByPair().fill(u, v, out, torch.sqrt, Run(block_bytes=block_bytes))
        np.testing.assert_allclose(out, np.sqrt(whole), atol=1e-12)


@BLOCKS
def test_the_nearest(sides, block_bytes):
    for u, v, whole in both(sides):
        if v is None:
            np.fill_diagonal(whole, np.inf)
        best, where = PairByPair().nearest(u, v, 3, Run(block_bytes=block_bytes))
        np.testing.assert_array_equal(where.numpy(), np.argsort(whole, axis=1, kind="stable")[:, :3])
        np.testing.assert_allclose(best.numpy(), np.take_along_axis(whole, where.numpy(), 1), atol=1e-12)


def test_progress_is_passed_on(sides):
    bar = Bar()
    list(PairByPair().row_blocks(*sides, Run(block_bytes=1, bar=bar)))
    assert bar.count == 7 * 4


def test_an_engine_without_a_matrix_is_none():
    with pytest.raises(TypeError, match="matrix"):
        type("Half", (Engine,), {"takes": lambda self, u, v: True})()


def test_pieces_of_a_slice():
    assert list(pieces(slice(2, 2), 3)) == []
    assert [range(9)[piece] for piece in pieces(slice(2, 9), 3)] == [range(2, 5), range(5, 8), range(8, 9)]


def test_equal_entries_by_name(device):
    squares = torch.tensor([[2.0, 1.0, 1.0, 1.0, 0.0], [3.0, 3.0, 3.0, 3.0, 3.0]], device=device)
    names = torch.tensor([4, 3, 0, 2, 1], device=device)
    found, which = base.smallest(squares, 3, names)
    assert found.tolist() == [[0, 1, 1], [3, 3, 3]]
    assert which.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert base.smallest(squares, 5, names)[1].tolist() == [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("k", [1, 4, 11])
def test_both_implementations_like_a_stable_sort(rng, device, k, monkeypatch):
    monkeypatch.setattr(base, "_TIED_ROWS", 3)
    block = rng.integers(0, 4, size=(10, 12)).astype(float)  # many equal ones
    names = torch.from_numpy(np.arange(12)).to(device)
    found, which = base.smallest(torch.from_numpy(block).to(device), k, names)
    wanted = np.argsort(block, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)
    np.testing.assert_array_equal(found.cpu().numpy(), np.take_along_axis(block, wanted, 1))
    found, which = base.smallest_of_block(torch.from_numpy(block).to(device), k, None)
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)


def test_a_rows_own_column_is_left_out(rng, device):
    block, own = rng.normal(size=(5, 5)), np.array([3, 1, 4, 0, 2])
    found, which = base.smallest_of_block(
        torch.from_numpy(block.copy()).to(device), 4, torch.from_numpy(own).to(device)
    )
    visible = block.copy()
    visible[np.arange(5), own] = np.inf
    wanted = np.argsort(visible, axis=1)[:, :4]
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)
    np.testing.assert_array_equal(found.cpu().numpy(), np.take_along_axis(block, wanted, 1))
