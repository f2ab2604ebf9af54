import numpy as np
import pytest
import torch

from graph_metric_learn.transport.engines import smallest as module


def test_equal_entries_by_name(device):
    squares = torch.tensor([[2.0, 1.0, 1.0, 1.0, 0.0], [3.0, 3.0, 3.0, 3.0, 3.0]], device=device)
    names = torch.tensor([4, 3, 0, 2, 1], device=device)
    found, which = module.smallest(squares, 3, names)
    assert found.tolist() == [[0, 1, 1], [3, 3, 3]]
    assert which.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert module.smallest(squares, 5, names)[1].tolist() == [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("k", [1, 4, 11])
def test_both_implementations_like_a_stable_sort(rng, device, k, monkeypatch):
    monkeypatch.setattr(module, "_TIED_ROWS", 3)
    block = rng.integers(0, 4, size=(10, 12)).astype(float)  # many equal ones
    names = torch.from_numpy(np.arange(12)).to(device)
    found, which = module.smallest(torch.from_numpy(block).to(device), k, names)
    wanted = np.argsort(block, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)
    np.testing.assert_array_equal(found.cpu().numpy(), np.take_along_axis(block, wanted, 1))
    found, which = module.smallest_of_block(torch.from_numpy(block).to(device), k, None)
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)


def test_a_rows_own_column_is_left_out(rng, device):
    block, own = rng.normal(size=(5, 5)), np.array([3, 1, 4, 0, 2])
    found, which = module.smallest_of_block(
        torch.from_numpy(block.copy()).to(device), 4, torch.from_numpy(own).to(device)
    )
    visible = block.copy()
    visible[np.arange(5), own] = np.inf
    wanted = np.argsort(visible, axis=1)[:, :4]
    np.testing.assert_array_equal(which.cpu().numpy(), wanted)
    np.testing.assert_array_equal(found.cpu().numpy(), np.take_along_axis(block, wanted, 1))
