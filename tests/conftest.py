import os

if "PYTEST_XDIST_WORKER" in os.environ:  # several workers share the cores: threads of each would wait for the others
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

# Workers of pytest-xdist share the cores: a thread that spins while it waits would hold up the others.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_info, threadpool_limits

collect_ignore = ["toy_metrics.py"]  # not for doctests: a second import would register its metrics again

settings.register_profile(
    "default", max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("default")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=NEEDS_CUDA)])
def device(request):
    return request.param


@pytest.fixture
def blas_threads():
    """How many threads matrix products have, as a function; three now. Skips where they cannot be set."""

    def count():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(3, user_api="blas"):
        if count() != {3}:
            pytest.skip("the threads of this BLAS cannot be set")
        yield count
