"""Base class of baselines that solve a problem per pair of graphs: tasks, workers, progress, checkpoints."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from graph_metric_learn._core.progress import progress_bar
from graph_metric_learn.graphs import Graphs

from .base import SolverFailure, System, rounding_to_zero
from .checkpoint import Checkpoint, fingerprint

PAIRS_PER_TASK = 4000  # 0.1 to 10 s of work: longer than sending it to a worker, shorter than between checkpoints


class PairwiseSystem(System):
    """A distance that is computed pair by pair, from an item prepared once per graph."""

    def prepare(self, graphs: Graphs) -> list[Any]:
        """What :meth:`pair` needs of each graph, one item per graph."""
        raise NotImplementedError

    def pair(self, one: Any, other: Any) -> float:
        """The distance of two prepared graphs. May warn or raise `SolverFailure`; :meth:`distances` names the pair."""
        raise NotImplementedError

    def closed_form(self, graphs: Graphs) -> np.ndarray | None:
        """All distances [N, N] without solving pairs, if there is such a way; else None."""
        return None

    def distances(
        self, graphs: Any, *, progress: bool | None = None, checkpoint: str | Path | None = None, jobs: int | None = 1
    ) -> np.ndarray:
        """All distances [N, N], float64, exactly symmetric, zeros on the diagonal.

        Parameters
        ----------
        graphs : anything that `as_graphs` takes
        progress : bool, optional
            Whether to show how many pairs are done and the time left; by default on a terminal.
        checkpoint : path, optional
            A .npz file for finished rows, written every 30 seconds and when the call ends, also by an error. Rows found
            there are not computed again if the file was written for the same graphs and parameters; otherwise it is
            replaced.
        jobs : int or None
            As joblib takes them: any of its backends with processes, also one set by `joblib.parallel_config` around
            this call.

        Raises
        ------
        SolverFailure
            If the solver warns or returns NaN or infinity for a pair, which the message names.
        """
        graphs = self.read(graphs)
        if (distances := self.closed_form(graphs)) is not None:
            return distances
        self.require()
        items = self.prepare(graphs)
        rows_on_disk = Checkpoint(checkpoint, fingerprint(self, graphs), len(items))
        tasks = list(_tasks(np.flatnonzero(~rows_on_disk.done), len(items)))
        total = len(items) * (len(items) - 1) // 2
        left = sum(len(items) - 1 - row for task in tasks for row in task)
        with progress_bar(progress, self.name, total=total, unit="pair", initial=total - left) as bar:
            try:
                for rows, values in zip(tasks, self._run(items, tasks, jobs), strict=True):
                    for row, value in zip(rows, values, strict=True):
                        rows_on_disk.upper[row, row + 1 :] = value
                        bar.update(len(value))
                    rows_on_disk.finish(rows)
            finally:
                rows_on_disk.save()
        return rounding_to_zero(rows_on_disk.upper + rows_on_disk.upper.T)

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0, limit: float = 60.0) -> float | None:
        """Seconds that all distances will take with one job, from a sample of pairs, timed for `limit` seconds."""
        self.require()
        graphs = self.read(graphs)
        began = time.perf_counter()
        items = self.prepare(graphs)
        preparation = time.perf_counter() - began
        n = len(items)
        if n < 2:
            return preparation
        rng = np.random.default_rng(seed)
        first = rng.integers(n, size=max(1, pairs))
        second = (first + rng.integers(1, n, size=len(first))) % n
        spent, count = 0.0, 0
        with _warnings_as_errors():
            _value(self, items, int(first[0]), int(second[0]))  # warm-up: imports, compilation
            for i, j in zip(first.tolist(), second.tolist(), strict=True):
                began = time.perf_counter()
                _value(self, items, min(i, j), max(i, j))
                spent += time.perf_counter() - began
                count += 1
                if spent > limit:
                    break
        return preparation + spent / count * n * (n - 1) / 2

    def _run(self, items: list[Any], tasks: list[list[int]], jobs: int | None) -> Iterator[list[np.ndarray]]:
        """The distances of each task, row by row, in the order of the tasks."""
        if jobs == 1 or len(tasks) < 2:
            yield from (_rows(self, items, rows, 0) for rows in tasks)
            return
        from joblib import Parallel, delayed

        # Only the graphs that a task compares are sent to its worker.
        calls: Iterable[Any] = (delayed(_rows)(self, items[rows[0] :], rows, rows[0]) for rows in tasks)
        yield from Parallel(n_jobs=jobs, return_as="generator")(calls)


def _tasks(rows: np.ndarray, n: int) -> Iterator[list[int]]:
    """The rows to compute, grouped into tasks of about `PAIRS_PER_TASK` pairs, at least one row each."""
    task: list[int] = []
    pairs = 0
    for row in rows.tolist():
        task.append(row)
        pairs += n - 1 - row
        if pairs >= PAIRS_PER_TASK:
            yield task
            task, pairs = [], 0
    if task:
        yield task


def _rows(system: PairwiseSystem, items: list[Any], rows: list[int], start: int) -> list[np.ndarray]:
    """Distances of each row's graph to all later ones; the first of `items` is graph number `start`."""
    end = start + len(items)
    with _warnings_as_errors():
        return [np.array([_value(system, items, i, j, start) for j in range(i + 1, end)]) for i in rows]


def _value(system: PairwiseSystem, items: list[Any], i: int, j: int, start: int = 0) -> float:
    """The distance of graphs i and j, or a `SolverFailure` that names them."""
    try:
        value = float(system.pair(items[i - start], items[j - start]))
    except (SolverFailure, UserWarning, RuntimeWarning) as error:
        raise SolverFailure(f"{system.name} failed on graphs {i} and {j}: {error}") from None
    if not np.isfinite(value):
        raise SolverFailure(f"{system.name} failed on graphs {i} and {j}: the solver returned {value}")
    return value


@contextmanager
def _warnings_as_errors() -> Iterator[None]:
    """Makes solvers' warnings errors, and uses one thread, because more slow down products of small matrices."""
    if threading.current_thread() is not threading.main_thread():  # both settings hold for the whole process
        yield
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        yield
