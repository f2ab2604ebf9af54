import pytest
import torch

from graph_metric_learn.linalg import precision as module

SETTINGS = torch.backends.cuda.matmul


@pytest.mark.parametrize("before", ["highest", "high", "medium"])
@pytest.mark.parametrize("precision", module.PRECISIONS)
def test_settings_of_torch_are_set_aside_and_put_back(before, precision):
    kept = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(before)
        seen = SETTINGS.allow_tf32
        with module.products(precision):
            if hasattr(SETTINGS, "fp32_precision"):
                assert SETTINGS.fp32_precision == ("tf32" if precision == "tf32" else "ieee")
            else:
                assert SETTINGS.allow_tf32 == (precision == "tf32")
        assert torch.get_float32_matmul_precision() == before
        assert SETTINGS.allow_tf32 == seen
    finally:
        torch.set_float32_matmul_precision(kept)
