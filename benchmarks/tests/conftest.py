from conftest import device, rng  # those of the library's tests

__all__ = ["device", "rng"]
