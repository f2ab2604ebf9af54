import numpy as np
import pytest
import torch

from conftest import NEEDS_CUDA
from graph_metric_learn.transport.engines import host_copy


@pytest.mark.parametrize("buffer", [1, 100, 2**26])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_arrive_where_they_belong(rng, device, buffer, dtype, monkeypatch):
    monkeypatch.setattr(host_copy, "_BUFFER_BYTES", buffer)
    wanted = rng.normal(size=(9, 7)).astype(np.float32)
    there = torch.from_numpy(wanted).to(device)
    out = np.full((9, 7), np.nan, dtype)
    copy = host_copy.HostCopy(out, there)
    for rows in (slice(0, 4), slice(4, 9)):
        for cols in (slice(0, 3), slice(3, 7)):
            copy.write(rows, cols, there[rows, cols].contiguous())
    copy.flush()
    np.testing.assert_array_equal(out, wanted)


@NEEDS_CUDA
def test_pinned_rows_are_copied_to_directly(rng):
    wanted = torch.from_numpy(rng.normal(size=(6, 5)).astype(np.float32))
    out = torch.zeros(6, 5, pin_memory=True).numpy()
    copy = host_copy.HostCopy(out, wanted.cuda())
    assert copy.pinned
    copy.write(slice(0, 6), slice(0, 5), wanted.cuda())
    assert not copy.under_way
    copy.flush()
    np.testing.assert_array_equal(out, wanted.numpy())
