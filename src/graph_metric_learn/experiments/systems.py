"""What is compared: SGML and its variants, learned anew in each run, and other systems, whose distances stay."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..datasets import load_tu
from ..graphs import Graphs, as_graphs
from ..metrics.automatic.estimator import GraphMetric
from ..metrics.sgml.encoders import encode
from ..metrics.sgml.estimator import SGML
from ..transport import pairwise_distances
from .protocol import (
    Outcome,
    choose_kernel_svm,
    choose_knn,
    choose_knn_left_out,
    choose_knn_weighted,
    choose_nearest,
    choose_svm,
    split,
)
from .records import Records
from .settings import CHOSEN, METHODS, Task, task_for, variant

RENUMBERED = "first, nodes renumbered"
TIE_GRAPHS = 200  # the optimal rule solves a transport problem for every pair and direction
PATIENCE = 2 * 3600.0  # seconds of one core: an hour on two


def grid(task: Task, method: str, preset: str = "authors", **changes: Any) -> list[dict[str, Any]]:
    """All settings of a method that are searched on a task; what the method or the caller fixes is not searched.

    >>> [setting["depth"] for setting in grid(Task("MUTAG", "degree"), "rpw")]
    [1, 2, 3, 4]
    >>> [setting["n_epochs"] for setting in grid(Task("MUTAG", "degree"), "random", depth=2)]
    [0]
    """
    if method in METHODS:
        fixed = {**METHODS[method], **changes}
        settings = [{"n_components": 5, **variant(method, preset), **point, **fixed} for point in task.settings()]
    elif method in CHOSEN:
        settings = [{**CHOSEN[method], **changes}]
    else:
        kind, fixed = baseline(method)
        settings = [{**point, **fixed, **changes} for point in kind.grid(task.features, task.dataset)]
    return list({json.dumps(setting, sort_keys=True): setting for setting in settings}.values())


def read_by(method: str, task: Task) -> Task:
    """The task as a method reads it: systems that compare labels take those, where a task has numbers.

    >>> read_by("wl-oa", Task("ENZYMES", "fuse")).name, read_by("wl-oa", Task("MUTAG", "degree")).name
    ('ENZYMES (labels)', 'MUTAG (degree)')
    """
    if method in METHODS or method in CHOSEN or not baseline(method)[0].discrete:
        return task
    return replace(task, features="labels") if task.features in ("attributes", "fuse") else task


def baseline(method: str) -> tuple[Any, dict[str, Any]]:
    """The class of another system by its name, and parameters that are not searched."""
    from ..baselines import BASELINES

    if method == "wwl-last":  # the paper's ablation
        return BASELINES["wwl"], {"last_only": True}
    if method not in BASELINES:
        raise ValueError(f"unknown method {method!r}: use some of {', '.join(method_names())}")
    return BASELINES[method], {}


def own_classifier(method: str) -> bool:
    """Whether a method classifies by itself, without distances or a kernel."""
    return method not in METHODS and method not in CHOSEN and hasattr(baseline(method)[0], "fit")


def method_names() -> list[str]:
    """All names that `--methods` takes."""
    from ..baselines import BASELINES

    return [*METHODS, *CHOSEN, *BASELINES, "wwl-last"]


def missing_packages(method: str) -> list[str]:
    """Packages that a method needs and that are not installed."""
    return [] if method in METHODS or method in CHOSEN else baseline(method)[0].missing()


def run_sgml(configs: list[dict[str, Any]], root: str | None) -> list[dict[str, Any]]:
    """Trains on the training part of a run, computes all distances, and lets each classifier choose and score."""
    first = configs[0]
    graphs, y = dataset(first["dataset"], first["features"], root)
    train, test = split(y, first["run"])
    start = time.perf_counter()
    metric = SGML(**first["model"], random_state=first["run"], device="cpu", progress=False).fit(
        graphs[train], y[train]
    )
    trained = time.perf_counter()
    curves = metric.embed(graphs)
    distances = metric.pairwise_distances(graphs)
    seconds = {"training": trained - start, "distances": time.perf_counter() - trained}
    known = {"loss": metric.history_.loss, "zeros": float(np.mean(curves.values.numpy() == 0))}
    chosen = [_choose(config["classifier"], distances, None, y, train, test) for config in configs]
    return [{**choice._asdict(), **known, "seconds": {**seconds, "classifier": spent}} for choice, spent in chosen]


def run_graph_metric(configs: list[dict[str, Any]], root: str | None) -> list[dict[str, Any]]:
    """The same with a GraphMetric, which gets all that nodes carry; for tasks with labels, all but the attributes."""
    first = configs[0]
    graphs, y = dataset(first["dataset"], None, root)
    if first["features"] == "labels":
        graphs = replace(graphs, x=None)
    train, test = split(y, first["run"])
    start = time.perf_counter()
    metric = GraphMetric(**first["model"], random_state=first["run"]).fit(graphs[train], y[train])
    trained = time.perf_counter()
    distances = metric.pairwise_distances(graphs)
    seconds = {"training": trained - start, "distances": time.perf_counter() - trained}
    known = {
        "weights": metric.choice_.weights, "accuracy": metric.choice_.accuracy,
        "learning": [{"name": s.name, "gain": s.learned - s.unlearned, "kept": s.kept} for s in metric.history_],
    }  # fmt: skip
    chosen = [_choose(config["classifier"], distances, None, y, train, test) for config in configs]
    return [{**choice._asdict(), **known, "seconds": {**seconds, "classifier": spent}} for choice, spent in chosen]


def run_baseline(configs: list[dict[str, Any]], root: str | None, checkpoint: Path) -> list[dict[str, Any]]:
    """Computes all distances (or the kernel) once, and lets each classifier choose and score in each run.

    What would take more than an hour on two cores, for all settings that are searched, is not waited for: the result
    is the estimate. A solver that fails is a result too.
    """
    from ..baselines import SolverFailure

    first = configs[0]
    graphs, y = dataset(first["dataset"], first["features"], root)
    system = baseline(first["method"])[0](**first["model"])
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
    book = Records(checkpoint.with_suffix(""))  # an SVM on many graphs takes minutes a run: what is done stays done
    for config in configs:
        if config not in book:
            train, test = split(y, config["run"])
            choice, spent = _choose(config["classifier"], distances, kernel, y, train, test)
            book.add(config, {**choice._asdict(), "seconds": {**seconds, "classifier": spent}})
    checkpoint.unlink(missing_ok=True)
    shutil.rmtree(book.folder)
    return [book[config] for config in configs]


def run_ties(configs: list[dict[str, Any]], root: str | None) -> list[dict[str, Any]]:
    """Learns with canonical ties on at most 200 graphs, then measures by another rule of ties, and classifies."""
    (config,) = configs
    graphs, y = dataset(config["dataset"], config["features"], root)
    some = np.sort(np.random.default_rng(config["run"]).permutation(len(graphs))[:TIE_GRAPHS])
    graphs, y = graphs[some], y[some]
    train, test = split(y, config["run"])
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
    choice, spent = _choose("knn", distances, None, y, train, test)
    return [{**choice._asdict(), "seconds": {**seconds, "classifier": spent}}]


def _fit_and_score(system: Any, graphs: Graphs, y: np.ndarray, run: int) -> dict[str, Any]:
    """A classifier with nothing to choose: trained on the training part, scored on the test part."""
    train, test = split(y, run)
    start = time.perf_counter()
    system.fit(graphs[train], y[train])
    trained = time.perf_counter()
    score = float(np.mean(system.predict(graphs[test]) == y[test]))
    seconds = {"training": trained - start, "distances": 0.0, "classifier": time.perf_counter() - trained}
    return {"chosen": {}, "validation": None, "test": score, "seconds": seconds}


def _choose(
    classifier: str,
    distances: np.ndarray | None,
    kernel: np.ndarray | None,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> tuple[Outcome, float]:
    """What a classifier reached and its seconds, from distances or from a kernel."""
    begun = time.perf_counter()
    if classifier == "svm" and kernel is not None:
        choice = choose_kernel_svm(kernel, y, train, test)
    else:
        if distances is None:
            from ..baselines import kernel_distances

            assert kernel is not None
            distances = kernel_distances(kernel)
        choose = {
            "knn": choose_knn, "1-nn": choose_nearest, "svm": choose_svm,
            "knn-loo": choose_knn_left_out, "knn-weighted": choose_knn_weighted,
        }[classifier]  # fmt: skip
        choice = choose(distances, y, train, test)
    return choice, time.perf_counter() - begun


@lru_cache(maxsize=2)
def dataset(name: str, features: str | None, root: str | None) -> tuple[Graphs, np.ndarray]:
    """A dataset, read once per process."""
    found = load_tu(name, features=features, root=root)
    return as_graphs(found.graphs), found.y
