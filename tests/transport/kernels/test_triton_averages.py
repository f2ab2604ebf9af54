"""The Triton kernel: on a GPU, and, on any machine, interpreted with torch in place of Triton's language."""

from contextlib import nullcontext
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from conftest import NEEDS_CUDA
from graph_metric_learn.transport.kernels import averages, triton_averages


class Pointer:
    """Addresses in a tensor, as Triton adds them up."""

    def __init__(self, memory, offset=0):
        self.memory, self.offset = memory, offset
        self.dtype = SimpleNamespace(element_ty=memory.dtype)

    def __add__(self, more):
        return Pointer(self.memory, self.offset + more)


def load(pointer, mask, other):
    return torch.where(mask, pointer.memory.flatten()[torch.where(mask, pointer.offset, 0)], other)


def store(pointer, values, mask):
    offset, mask = torch.broadcast_tensors(pointer.offset, mask)
    pointer.memory.view(-1)[offset[mask]] = values[mask]


class Interpreted:
    """Runs the body of the kernel once per program."""

    def __init__(self, language):
        self.language = language
        self.body = getattr(triton_averages._cell_averages, "fn", triton_averages._cell_averages)

    def __getitem__(self, grid):
        def launch(values, starts, sizes, out, *numbers, num_warps):
            for place in product(*map(range, grid)):
                self.language.program_id = lambda axis, place=place: torch.tensor(place[axis])
                self.body(*map(Pointer, (values, starts, sizes, out)), *numbers)

        return launch


@pytest.fixture(params=["interpreted", pytest.param("cuda", marks=NEEDS_CUDA)])
def device(request, monkeypatch):
    if request.param == "cuda":
        return "cuda"
    language = SimpleNamespace(
        arange=torch.arange, zeros=lambda shape, dtype: torch.zeros(shape, dtype=dtype), load=load, store=store,
        minimum=torch.minimum, max=torch.max, maximum=lambda a, b: torch.maximum(a, torch.as_tensor(b)),
        int32=torch.int32, int64=torch.int64, float32=torch.float32, float64=torch.float64,
    )  # fmt: skip
    launcher = SimpleNamespace(next_power_of_2=lambda n: 1 << (n - 1).bit_length(), cdiv=lambda a, b: -(-a // b))
    monkeypatch.setattr(triton_averages, "_cell_averages", Interpreted(language))
    monkeypatch.setattr(triton_averages, "tl", language)
    monkeypatch.setattr(triton_averages, "triton", launcher)
    monkeypatch.setattr(torch.cuda, "device", lambda where: nullcontext())
    return "cpu"


@pytest.mark.parametrize("n", [1, 3, 7, 50])
@pytest.mark.parametrize("width", [1, 5, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_like_the_compiled_twin(rng, device, n, width, dtype):
    sizes = np.array([1, 3, 7, 8, 200])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = rng.normal(size=(sizes.sum(), width)).astype(dtype)
    wanted = np.empty((5, n * width), dtype)
    averages.cell_averages(values, starts, sizes, n, wanted)
    out = torch.full((5, n * width + 3), torch.nan, dtype=torch.from_numpy(values).dtype, device=device)
    there = (torch.from_numpy(x).to(device) for x in (values, starts, sizes))
    triton_averages.cell_averages(*there, int(sizes.max()), n, out)
    np.testing.assert_allclose(out[:, : n * width].cpu().numpy(), wanted, atol=1e-6 if dtype == np.float32 else 1e-12)
    assert out[:, n * width :].isnan().all()  # the rest of the columns is left alone
