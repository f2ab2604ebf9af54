"""How fast learning is: training and all distances on the paper's datasets, scaling, prediction, memory, import."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from graph_metric_learn.datasets import load_tu
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.metrics.automatic.estimator import GraphMetric
from graph_metric_learn.metrics.sgml.estimator import SGML
from graph_metric_learn.predictors import GraphKNNClassifier
from graph_metric_learn_reproduction.experiments.published import PUBLISHED_SECONDS
from graph_metric_learn_reproduction.experiments.timing import seconds
from graph_metric_learn_reproduction.pages.plots import as_png, times_against_paper

from .inputs import rings_with_chords
from .measure import Report


def run(*, root: Path | None = None, quick: bool = False) -> Report:
    """All measurements.

    root: folder with the datasets. quick: two small datasets and small sizes, for a look in seconds.
    """
    report = Report("training")
    report.numbers["quick"] = quick
    _datasets(report, root, ["MUTAG", "BZR"] if quick else list(PUBLISHED_SECONDS))
    _nci1(report, root, quick)
    _graph_metric(report, root, ["MUTAG", "BZR"] if quick else [*PUBLISHED_SECONDS, "Cuneiform"])
    _scaling(report, [30, 300] if quick else [30, 100, 300, 1000, 3000])
    _import(report)
    return report


def _datasets(report: Report, root: Path | None, names: list[str]) -> None:
    """Seconds of training and of all distances, beside the paper's."""
    rows: dict[str, Any] = {}
    for name in names:
        paper = PUBLISHED_SECONDS[name]
        dataset = load_tu(name, features=paper.features, root=root, edges=False, min_nodes=2)
        graphs = as_graphs(dataset.graphs)
        metric = SGML(depth=4, random_state=0)
        training = seconds(lambda m=metric, g=graphs, y=dataset.y: m.fit(g, y), budget=1.0, at_least=1)  # type: ignore[misc]
        distances = seconds(lambda m=metric, g=graphs: m.pairwise_distances(g), at_least=2)  # type: ignore[misc]
        rows[name] = {
            "graphs": len(graphs), "training": training, "distances": distances,
            "paper_training": paper.training, "paper_distances": paper.distances,
        }  # fmt: skip
        report.target(f"{name}: training faster than the paper's", paper.training / training, 50, at_most=False)
        report.target(f"{name}: distances faster than the paper's", paper.distances / distances, 50, at_most=False)
    report.numbers["datasets"] = rows


def _graph_metric(report: Report, root: Path | None, names: list[str]) -> None:
    """Seconds of fitting GraphMetric, with all its choices, on nine tenths of a dataset."""
    spent: dict[str, float] = {}
    for name in names:
        dataset = load_tu(name, features=None, root=root, edges=False, min_nodes=2)
        graphs, some = as_graphs(dataset.graphs), np.flatnonzero(np.arange(len(dataset)) % 10)
        if not spent:
            GraphMetric(random_state=0).fit(graphs[some], dataset.y[some])  # compiles
        start = time.perf_counter()
        GraphMetric(random_state=0).fit(graphs[some], dataset.y[some])
        spent[name] = time.perf_counter() - start
        limit = 60 if name == "NCI1" else 15
        report.target(f"GraphMetric, {name}: all choices", spent[name], limit, at_most=True, unit="s")
    report.numbers["graph_metric"] = spent


def _nci1(report: Report, root: Path | None, quick: bool) -> None:
    """Training on nine tenths of NCI1, in this process and in a fresh one, and prediction of one graph."""
    name = "MUTAG" if quick else "NCI1"
    features = PUBLISHED_SECONDS[name].features
    dataset = load_tu(name, features=features, root=root, edges=False, min_nodes=2)
    graphs = as_graphs(dataset.graphs)
    train = np.random.default_rng(0).permutation(len(graphs))[: round(0.9 * len(graphs))]
    some, y = graphs[train], dataset.y[train]
    warm = seconds(lambda: SGML(random_state=0).fit(some, y), budget=4.0, at_least=2)
    first, memory = _fresh_process(name, features, root)
    clf = GraphKNNClassifier(SGML(random_state=0)).fit(graphs, dataset.y)
    one = dataset.graphs[:1]
    predict = 1000 * seconds(lambda: clf.predict(one), budget=1.0, at_least=10)
    report.numbers["nci1"] = {
        "dataset": name, "graphs": len(some), "warm": warm, "first_call": first,
        "memory_MB": memory, "predict_ms": predict,
    }  # fmt: skip
    report.target(f"{name}, 10 epochs, {len(some)} graphs", warm, 3, at_most=True, unit="s")
    report.target(f"{name}, first call in a fresh process, kernels not compiled yet", first, 12, at_most=True, unit="s")
    report.target(f"{name}, memory while training", memory, 1000, at_most=True, unit="MB")
    report.target(f"predict one graph against {len(graphs)}", predict, 20, at_most=True, unit="ms")


# Prints the seconds and the MB of a first fit.
_FIRST_FIT = """
import sys, time
import graph_metric_learn as gml
from graph_metric_learn_benchmarks.measure import extra_memory
name, features, root = sys.argv[1:]
dataset = gml.datasets.load_tu(name, features, root=root or None, edges=False, min_nodes=2)
graphs = gml.as_graphs(dataset.graphs)
start = time.perf_counter()
memory = extra_memory(lambda: gml.SGML(random_state=0).fit(graphs, dataset.y))
print(time.perf_counter() - start, memory or float("nan"))
"""


def _fresh_process(name: str, features: str, root: Path | None) -> tuple[float, float | None]:
    """Seconds and MB of the first fit after the import, with an empty cache of compiled kernels."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", _FIRST_FIT, name, features, "" if root is None else str(root)],
            check=True, capture_output=True, text=True, env={**os.environ, "NUMBA_CACHE_DIR": cache},
        )  # fmt: skip
    first, memory = map(float, done.stdout.split())
    return first, None if math.isnan(memory) else memory


def _scaling(report: Report, sizes: list[int]) -> None:
    """Seconds of a training step, by nodes per graph (64 graphs) and by graphs (30 nodes each)."""
    rng = np.random.default_rng(0)
    by_nodes = {n: _seconds_per_step(rings_with_chords(rng, 64, n)) for n in sizes}
    by_graphs = {g: _seconds_per_step(rings_with_chords(rng, g, 30)) for g in (100, 1000, 10_000)}
    report.numbers["step_by_nodes"], report.numbers["step_by_graphs"] = by_nodes, by_graphs
    exponent = math.log(by_nodes[sizes[-1]] / by_nodes[sizes[0]]) / math.log(sizes[-1] / sizes[0])
    what = f"slope of the time per step from {sizes[0]} to {sizes[-1]} nodes"
    report.target(what, exponent, 1.2, at_most=True, unit="")
    ratio = by_graphs[10_000] / by_graphs[1000]
    report.target("time per step with 10,000 graphs / with 1,000", ratio, 1.25, at_most=True)


def _seconds_per_step(graphs: Graphs) -> float:
    """Seconds for one batch of 8, in the fastest of 5 epochs."""
    y = np.arange(len(graphs)) % 2
    metric = SGML(n_epochs=5, random_state=0).fit(graphs, y)
    return min(metric.history_.seconds) / math.ceil(len(graphs) / 8)


def _import(report: Report) -> None:
    """Importing the package, against importing torch."""

    def fresh(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    times = {code: min(fresh(code) for _ in range(3)) for code in ("import torch", "import graph_metric_learn")}
    report.numbers["import"] = times
    report.target(
        "import / import torch", times["import graph_metric_learn"] / times["import torch"], 1.3, at_most=True
    )


def draw(report: Report) -> bytes:
    """Training and distance times against the paper's, as PNG."""
    return as_png(times_against_paper(report.numbers["datasets"]))
