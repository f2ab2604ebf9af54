from conftest import blas_threads, device, rng  # those of the library's tests

__all__ = ["blas_threads", "device", "rng"]
