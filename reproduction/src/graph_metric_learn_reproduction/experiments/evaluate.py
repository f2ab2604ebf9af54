"""Results of cells that share their distances: fit a metric or compute a baseline once, then score each classifier."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graph_metric_learn.datasets import load_tu
from graph_metric_learn.features.blocks import parse_name
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.metrics.automatic.estimator import GraphMetric
from graph_metric_learn.metrics.sgml.encoders import encode
from graph_metric_learn.metrics.sgml.estimator import SGML
from graph_metric_learn.transport import pairwise_distances

from . import protocol
from .heads import head_results
from .methods import baseline, grid
from .records import Config, Records, Result
from .settings import is_learned, task_for

RENUMBERED = "first, nodes renumbered"
TIE_GRAPHS = 200  # the optimal rule solves a transport problem for every pair and direction
PATIENCE = 2 * 3600.0  # seconds of one core: an hour on two

Split = tuple[np.ndarray, np.ndarray]  # training and test indices

_CHOOSERS: dict[str, Callable[..., protocol.Outcome]] = {
    "knn": protocol.choose_knn,
    "1-nn": partial(protocol.choose_knn, ks=(1,)),
    "knn-loo": protocol.choose_knn_loo,
    "knn-weighted": partial(protocol.choose_knn_loo, weighted=True),
    "svm": protocol.choose_svm,
}


def evaluate_sgml(configs: list[Config], root: str | None) -> list[Result]:
    """Trains SGML on the training part of a run, computes all distances, and scores each classifier."""
    first = configs[0]
    graphs, y = dataset(first["dataset"], first["features"], root)
    train, test = protocol.split(y, first["run"])
    start = time.perf_counter()
    metric = SGML(**first["model"], random_state=first["run"], device="cpu", progress=False).fit(
        graphs[train], y[train]
    )
    trained = time.perf_counter()
    curves = metric.embed(graphs)
    distances = metric.pairwise_distances(graphs)
    seconds = {"training": trained - start, "distances": time.perf_counter() - trained}
    extra = {"loss": metric.history_.loss, "zeros": float(np.mean(curves.values.numpy() == 0))}
    results = [_score(config["classifier"], y, (train, test), seconds, distances=distances) for config in configs]
    return [{**result, **extra} for result in results]


def evaluate_graph_metric(configs: list[Config], root: str | None) -> list[Result]:
    """The same for GraphMetric, which gets all node labels and attributes; on tasks with labels, no attributes."""
    first = configs[0]
    graphs, y = dataset(first["dataset"], None, root)
    if first["features"] == "labels":
        graphs = replace(graphs, x=None)
    return _graph_metric_results(configs, graphs, y)[1]


def evaluate_edge_data(configs: list[Config], root: str | None) -> list[Result]:
    """GraphMetric on whole graphs, along with what these carry and the weight of the families that see it.

    Or a baseline with a classifier of its own, on the same graphs.
    """
    first = configs[0]
    graphs, y, described = whole_dataset(first["dataset"], root)
    if not is_learned(first["method"]):
        system = baseline(first["method"])[0](**first["model"])
        return [_fit_and_score(system, graphs, y, config["run"]) for config in configs]
    metric, results = _graph_metric_results(configs, graphs, y)
    families = metric.mixture_.describer.families
    seeing = [
        name for name, family in families.items() if any("edges" in parse_name(b).views for b in family.recipe.names)
    ]
    largest = _fit_and_score(baseline("largest-class")[0](), graphs, y, first["run"])["test"]
    extra = {
        "data": described, "largest_class": largest,
        "edge_share": float(sum(metric.weights_[name] for name in seeing)),
    }  # fmt: skip
    return [{**result, **extra} for result in results]


def _graph_metric_results(configs: list[Config], graphs: Graphs, y: np.ndarray) -> tuple[GraphMetric, list[Result]]:
    """GraphMetric fitted to the training part of a run, and the result of each head on it."""
    first = configs[0]
    train, test = protocol.split(y, first["run"])
    metric = GraphMetric(**first["model"], task="classes", random_state=first["run"])
    heads = [config["classifier"] for config in configs]
    return head_results(metric, heads, (graphs[train], y[train]), (graphs[test], y[test]))


def evaluate_baseline(configs: list[Config], root: str | None, checkpoint: Path) -> list[Result]:
    """Computes all distances (or the kernel) once, and scores each classifier in each run.

    If all settings of the grid would take more than an hour on two cores, the result is that estimate. If the solver
    fails, the result is its message.
    """
    from ..baselines import SolverFailure

    first = configs[0]
    system = baseline(first["method"])[0](**first["model"])
    graphs, y = dataset(first["dataset"], first["features"], root, "auto" if system.edges else False)
    if hasattr(system, "fit"):
        return [_fit_and_score(system, graphs, y, config["run"]) for config in configs]
    start = time.perf_counter()
    distances = kernel = None
    try:
        expected = system.estimate_seconds(graphs)
        settings = len(grid(task_for(first["dataset"], first["features"]), first["method"]))
        if expected is not None and expected * settings > PATIENCE:
            return [{"estimated_seconds": expected * settings} for _ in configs]
        start = time.perf_counter()
        if hasattr(system, "kernel"):
            kernel = system.kernel(graphs, progress=False)
        else:
            distances = system.distances(graphs, progress=False, checkpoint=checkpoint)
    except SolverFailure as error:
        return [{"failure": str(error)} for _ in configs]
    seconds = {"training": 0.0, "distances": time.perf_counter() - start}
    finished = Records(checkpoint.with_suffix(""))  # an SVM on many graphs takes minutes a run
    for config in configs:
        if config not in finished:
            parts = protocol.split(y, config["run"])
            finished.add(config, _score(config["classifier"], y, parts, seconds, distances=distances, kernel=kernel))
    checkpoint.unlink(missing_ok=True)
    shutil.rmtree(finished.folder)
    return [finished[config] for config in configs]


def evaluate_tie_rule(configs: list[Config], root: str | None) -> list[Result]:
    """Learns with canonical ties on at most 200 graphs, then scores k-NN on distances with another tie rule."""
    (config,) = configs
    graphs, y = dataset(config["dataset"], config["features"], root)
    some = np.sort(np.random.default_rng(config["run"]).permutation(len(graphs))[:TIE_GRAPHS])
    graphs, y = graphs[some], y[some]
    train, test = protocol.split(y, config["run"])
    start = time.perf_counter()
    metric = SGML(**config["model"], ties="canonical", random_state=config["run"], device="cpu", progress=False)
    metric.fit(graphs[train], y[train])
    trained = time.perf_counter()
    with torch.no_grad():
        points = encode(metric.module_, graphs).numpy()
    clouds = np.split(points, np.cumsum(graphs.sizes)[:-1])
    if config["method"] == RENUMBERED:
        rng = np.random.default_rng(config["run"])
        clouds = [rng.permutation(cloud) for cloud in clouds]
    distances = pairwise_distances(clouds, ties="first" if config["method"] == RENUMBERED else config["method"])
    seconds = {"training": trained - start, "distances": time.perf_counter() - trained}
    return [_score("knn", y, (train, test), seconds, distances=distances)]


def _fit_and_score(system: Any, graphs: Graphs, y: np.ndarray, run: int) -> Result:
    """The result of a baseline that is a classifier itself, and makes its own choices on the training graphs."""
    from ..baselines import TooLong

    train, test = protocol.split(y, run)
    start = time.perf_counter()
    try:
        system.fit(graphs[train], y[train])
    except TooLong as error:
        return {"estimated_seconds": error.estimated, "limit_seconds": error.limit}
    trained = time.perf_counter()
    score = float(np.mean(system.predict(graphs[test]) == y[test]))
    seconds = {"training": trained - start, "distances": 0.0, "classifier": time.perf_counter() - trained}
    chosen, validation = getattr(system, "chosen_", {}), getattr(system, "validation_", None)
    return {"chosen": chosen, "validation": validation, "test": score, "seconds": seconds}


def _score(
    classifier: str,
    y: np.ndarray,
    parts: Split,
    seconds: dict[str, float],
    *,
    distances: np.ndarray | None = None,
    kernel: np.ndarray | None = None,
) -> Result:
    """The result of a classifier on distances or a kernel [N, N]; its own seconds are added to those so far."""
    start = time.perf_counter()
    if classifier == "svm" and kernel is not None:
        outcome = protocol.choose_kernel_svm(kernel, y, *parts)
    else:
        if distances is None:
            from ..baselines import kernel_distances

            assert kernel is not None
            distances = kernel_distances(kernel)
        outcome = _CHOOSERS[classifier](distances, y, *parts)
    return {**outcome._asdict(), "seconds": {**seconds, "classifier": time.perf_counter() - start}}


@lru_cache(maxsize=2)
def dataset(name: str, features: str | None, root: str | None, edges: Any = False) -> tuple[Graphs, np.ndarray]:
    """Graphs and classes of a dataset, read once per process; without what edges carry, as the paper reads them."""
    loaded = load_tu(name, features=features, root=root, edges=edges, min_nodes=2)
    return as_graphs(loaded.graphs), loaded.y


@lru_cache(maxsize=2)
def all_graphs(name: str, root: str | None) -> tuple[Graphs, np.ndarray]:
    """All graphs of a dataset in the order of its files, graphs of a single node among them, edges without data."""
    loaded = load_tu(name, features=None, root=root, edges=False)
    return as_graphs(loaded.graphs), loaded.y


@lru_cache(maxsize=2)
def whole_dataset(name: str, root: str | None) -> tuple[Graphs, np.ndarray, dict[str, Any]]:
    """Graphs with all that nodes and edges carry, graphs of a single node among them, their classes, and what there is.

    Classes with fewer members than the protocol has folds are left out, unless all are that small: then the folds do
    not look at classes, see :func:`protocol.split`.
    """
    loaded = load_tu(name, features=None, root=root)
    _, codes, counts = np.unique(loaded.y, return_inverse=True, return_counts=True)
    large = counts >= protocol.FOLDS
    kept = np.flatnonzero(large[codes]) if large.any() else np.arange(len(codes))
    graphs, y = as_graphs(loaded.graphs)[kept], loaded.y[kept]
    classes, data = len(np.unique(y)), graphs.edge_data
    described = {
        "graphs": len(y), "classes": classes, "single_nodes": int(np.sum(graphs.sizes == 1)),
        "left_out": {
            "no_nodes": loaded.dropped, "small_classes": len(codes) - len(y), "classes": len(counts) - classes,
        },
        "edges": {} if data is None else {
            "labels": 0 if data.labels is None else len(np.unique(data.labels, axis=0)),
            "vectors": 0 if data.x is None else data.x.shape[1],
            "weights": data.weights is not None, "directions": data.directed,
        },
    }  # fmt: skip
    return graphs, y, described
