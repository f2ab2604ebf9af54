import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from conftest import NEEDS_CUDA
from graph_metric_learn.linalg.precision import PRECISIONS
from graph_metric_learn.transport import devices
from helpers import make_cloud


@pytest.mark.parametrize("name", ["tpu", "cuda:99", "meta", 3.5, None])
def test_devices_that_are_not_there_are_said(name):
    with pytest.raises(ValueError, match="device"):
        devices.resolve_device(name)


def test_numpy_goes_where_it_is_sent_and_tensors_stay_where_they_are(rng):
    clouds = [make_cloud(rng, n, 2) for n in (3, 4)]
    assert isinstance(gml.pairwise_distances(clouds, device="cpu"), np.ndarray)
    assert gml.as_curves(clouds, device="cpu").device.type == "cpu"
    nowhere = torch.zeros(1, device="meta")
    assert devices.chosen_device("auto", nowhere, numpy=False, work=1e30) == nowhere.device
    with pytest.raises(ValueError, match=r"move them with \.to\(\)"):
        devices.chosen_device("cpu", nowhere, numpy=False)


def test_unknown_precision(rng):
    with pytest.raises(ValueError, match="'bf16'"):
        gml.pairwise_distances([np.zeros((2, 2))], precision="bf16")


@NEEDS_CUDA
def test_sides_on_two_devices_are_an_error(rng):
    here, there = ([torch.zeros(3, 2, device=where)] for where in ("cpu", "cuda"))
    with pytest.raises(ValueError, match="use one device"):
        gml.pairwise_distances(here, there)
    with pytest.raises(ValueError, match="move them to one device"):
        gml.pairwise_distances(here + there)
    curves = gml.as_curves(here)
    with pytest.raises(ValueError, match=r"\.to\(\)"):
        gml.pairwise_distances(curves, gml.as_curves(there))
    with pytest.raises(ValueError, match=r"\.to\(\)"):
        gml.pairwise_distances(here, device="cuda")
    assert gml.pairwise_distances(curves.to("cuda")).device.type == "cuda"


def test_a_flag_from_the_device(device):
    for answer in (True, False):
        assert devices.DeviceFlag(torch.tensor(answer, device=device)).get() is answer


@NEEDS_CUDA
def test_tf32_only_by_name():
    rng = np.random.default_rng(0)
    clouds = [make_cloud(rng, int(n), 5).astype(np.float32) for n in rng.integers(3, 40, 60)]
    exact = gml.pairwise_distances([x.astype(float) for x in clouds])
    kept = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        plain, fast = (gml.pairwise_distances(clouds, device="cuda", precision=p) for p in PRECISIONS)
    finally:
        torch.set_float32_matmul_precision(kept)
    assert np.abs(plain - exact).max() < 2e-5
    assert np.abs(plain - exact).max() < np.abs(fast - exact).max() < 5e-3
