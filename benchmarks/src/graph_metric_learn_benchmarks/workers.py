"""How embedding fares on workers of Dask: one and two of them, against this process and processes of loky."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from graph_metric_learn.graphs import Graphs
from graph_metric_learn.metrics.automatic import GraphMetric

from .measure import Report
from .streams import labelled_graphs

_SHIPPED = 40_000  # graphs that workers embed


def measure_workers(report: Report, *, quick: bool) -> None:
    """Embedding by one and two workers of Dask, against two of loky; all of one thread."""
    from distributed import Client
    from joblib import parallel_config

    graphs = labelled_graphs(np.random.default_rng(1), 600 if quick else _SHIPPED)
    metric = GraphMetric(random_state=0).fit(graphs[:300], np.arange(300) % 2)
    taken: dict[str, list[float]] = {"here": [], "one": [], "two": [], "loky": []}
    with dask_workers(1) as alone, dask_workers(2) as both:
        for attempt in range(4):  # in the first one, workers start and load compiled loops
            for name, cluster in (("here", None), ("one", alone), ("two", both), ("loky", None)):
                if cluster is not None:
                    with Client(scheduler_file=cluster) as client, parallel_config("dask"):
                        client.wait_for_workers(1 if name == "one" else 2)
                        spent = _embedding(metric, graphs)
                elif name == "loky":
                    with parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
                        spent = _embedding(metric, graphs)
                else:
                    with one_thread():
                        spent = _embedding(metric, graphs)
                if attempt:
                    taken[name].append(spent)
    best = {name: min(values) for name, values in taken.items()}
    report.numbers["workers"] = taken
    report.target("embedding on two Dask workers: faster than on one", best["one"] / best["two"], 1.6, at_most=False)
    report.target("one Dask worker / this process with one thread", best["one"] / best["here"], 1.25, at_most=True)
    report.target("two Dask workers / two of loky", best["two"] / best["loky"], 1.25, at_most=True)


@contextmanager
def dask_workers(count: int) -> Iterator[str]:
    """A file with the address of a scheduler, and workers of it, processes as docs/many_graphs.md starts them."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as started:
        file = f"{folder}/scheduler.json"
        here = ["--host", "127.0.0.1", "--port", "0"]
        work = ["--nthreads", "1", "--no-nanny", "--local-directory", folder]
        for kind, options in (("scheduler", here), *[("worker", work)] * count):
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", "--scheduler-file", file]
            started.callback(_end, subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL, env=settings))
        yield file


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compiled loops and matrix products of this process use one thread."""
    import numba
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)


def _embedding(metric: GraphMetric, graphs: Graphs) -> float:
    start = time.perf_counter()
    metric.transform(graphs)
    return time.perf_counter() - start
