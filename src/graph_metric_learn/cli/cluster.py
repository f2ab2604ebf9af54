"""Where a command computes: here, or on the workers of a Dask scheduler."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager


def scheduler_option(parser: argparse.ArgumentParser) -> None:
    """The address of a scheduler."""
    parser.add_argument("--scheduler", metavar="tcp://…", help="compute on the workers of this Dask scheduler")


@contextmanager
def workers(address: str) -> Iterator[None]:
    """Inside, joblib sends its work to a scheduler."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install graph-metric-learn[dask]") from None
    from joblib import parallel_config

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TypeError) as error:  # a timeout is an OSError
        raise ValueError(f"no scheduler answers at {address}: {error}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise ValueError(f"the scheduler at {address} has no workers")
        with parallel_config("dask"):
            yield
