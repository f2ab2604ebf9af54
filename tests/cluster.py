"""A Dask scheduler and its workers as processes of this machine, over TCP, for tests."""

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def cluster(folder, n_workers=2, environment=None):
    """The scheduler's address and the worker processes; all are ended afterwards."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", **(environment or {})}
    settings["PYTHONPATH"] = os.pathsep.join([*(str(parent) for parent in Path(__file__).parents[:2]), *sys.path])
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
         "--no-dashboard", "--no-jupyter"],
        stderr=subprocess.PIPE, text=True, env=settings, cwd=folder,
    )  # fmt: skip
    workers = []
    try:
        address = _said(scheduler, r"(tcp://127\.0\.0\.1:\d+)")
        for _ in range(n_workers):
            worker = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny",
                 "--no-dashboard", "--local-directory", str(folder)],
                stderr=subprocess.PIPE, text=True, env=settings, cwd=folder,
            )  # fmt: skip
            workers.append(worker)
        for worker in workers:
            _said(worker, "Registered to")
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def _said(process, pattern):
    """Waits for a line of the process's log; the rest is read and forgotten, so that it never blocks."""
    for line in process.stderr:
        match = re.search(pattern, line)
        if match:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return match.group(0)
    raise RuntimeError(f"the process ended without saying {pattern}")
