"""How fast a GPU trains: many models at once, large batches, and the batch size from which it beats the CPU."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graph_metric_learn.datasets import load_tu
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.metrics.sgml.estimator import SGML
from graph_metric_learn.metrics.sgml.fit_many import fit_many

from .inputs import labelled_rings
from .measure import Report, print_rows, synchronize

DEPTHS = (1, 2, 3, 4)


def training_graphs(rng: np.random.Generator, root: Path | None, count: int) -> tuple[Graphs, np.ndarray, str]:
    """Graphs and classes spread over NCI1 if it is on disk, else random ones of its sizes; and what they are."""
    try:
        dataset = load_tu("NCI1", features="labels", root=root, download=False)
    except (ValueError, OSError):
        return labelled_rings(rng, count), np.arange(count) % 2, "random graphs of NCI1's sizes"
    count = min(count, len(dataset))
    some = np.arange(count) * len(dataset) // count  # the first 1,650 of NCI1 are of one class
    return as_graphs(dataset.graphs)[some], dataset.y[some], "NCI1"


def many_models(
    report: Report, graphs: Graphs, y: np.ndarray, name: str, device: torch.device, *, runs: int, epochs: int
) -> None:
    """SGML of four depths on each of `runs` splits: on the CPU a thread per model, on the GPU all at once."""
    splits = [np.random.default_rng(s).permutation(len(graphs))[: round(0.9 * len(graphs))] for s in range(runs)]
    jobs = [(depth, run) for run in range(runs) for depth in DEPTHS]
    subsets = [splits[run] for _, run in jobs]

    def fit(where: Any, only: slice = slice(None)) -> list[SGML]:
        models = [
            SGML(depth=depth, n_epochs=epochs, random_state=run, progress=False, device="cpu") for depth, run in jobs
        ]
        return fit_many(models[only], graphs, y, subsets=subsets[only], device=where)

    alone = fit("cpu", slice(0, 1))  # compiles
    times, fitted = {}, {}
    for where in ("cpu", device):
        if where == device:
            fit(device, slice(0, 2))
        synchronize(device)
        start = time.perf_counter()
        fitted[str(where)] = fit(where)
        times[torch.device(where).type] = time.perf_counter() - start
    pairs = list(zip(fitted["cpu"], fitted[str(device)], strict=True))
    apart = max(float((_theta(a) - _theta(b)).abs().max()) for a, b in pairs)
    losses = [[abs(a.history_.loss[e] / b.history_.loss[e] - 1) for a, b in pairs] for e in (0, -1)]
    same = torch.equal(_theta(alone[0]), _theta(fitted["cpu"][0]))
    report.numbers["many_models"] = {
        "data": name, "models": len(jobs), "seconds": times, "largest_difference_of_theta": apart,
        "relative_difference_of_first_loss": {"median": float(np.median(losses[0])), "largest": max(losses[0])},
        "relative_difference_of_last_loss": {"median": float(np.median(losses[1])), "largest": max(losses[1])},
        "cpu_as_one_by_one": same,
    }  # fmt: skip
    # The median, because some models diverge, as they do on the CPU after a change of their initial weights by 1e-7
    # (by up to 0.003 after an epoch): where a parameter has hardly any gradient, Adam's step depends on rounding.
    what = "loss of the first epoch, models trained together on the GPU and alone on the CPU, median"
    report.target(what, float(np.median(losses[0])), 1e-3, at_most=True, unit="apart")
    for where, taken in times.items():
        report.target(f"{len(jobs)} models of {name}, {epochs} epochs, on {where}", taken, 30, at_most=True, unit="s")


def _theta(metric: SGML) -> torch.Tensor:
    return metric.module_.state_dict()["theta"]


def large_batches(report: Report, rng: np.random.Generator, device: torch.device, *, count: int, batch: int) -> None:
    """Seconds of one epoch over many graphs in large batches."""
    graphs = labelled_rings(rng, count)
    y = rng.integers(0, 2, count)

    def fit(some: Graphs) -> SGML:
        metric = SGML(n_epochs=1, batch_size=batch, device=str(device), random_state=0, progress=False)
        return metric.fit(some, y[: len(some)])

    fit(graphs[: 4 * batch])  # compiles
    synchronize(device)
    start = time.perf_counter()
    metric = fit(graphs)
    synchronize(device)
    taken = time.perf_counter() - start
    report.numbers["large_batches"] = {
        "graphs": count, "batch_size": batch, "seconds": taken, "training_seconds": metric.history_.seconds[0],
    }  # fmt: skip
    report.target(f"one epoch of {count:,} graphs, batches of {batch}", taken, 10, at_most=True, unit="s")


def step_by_batch(
    report: Report, rng: np.random.Generator, device: torch.device, *, count: int, batches: tuple[int, ...]
) -> None:
    """Milliseconds of a training step by batch size, on CPU and GPU: the numbers behind device="auto"."""
    rows: dict[int, dict[str, float]] = {}
    for batch in batches:
        graphs = labelled_rings(rng, max(count, 4 * batch) if batch < 256 else 2 * batch)
        y = np.arange(len(graphs)) % 2
        rows[batch] = {}
        for name in ("cpu", str(device)):
            metric = SGML(n_epochs=2, batch_size=batch, device=name, random_state=0, progress=False).fit(graphs, y)
            steps = len(graphs) / batch
            rows[batch][torch.device(name).type] = 1000 * min(metric.history_.seconds) / steps
    report.numbers["step_ms_by_batch"] = rows
    print_rows("ms per step by batch", rows)
