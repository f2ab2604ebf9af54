"""Runs cells, several at a time, resumably: a cell is one variant of the model, one point of the grid, one split."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from ..datasets import load_tu
from ..graphs import Graphs, as_graphs
from ..learner import SGML
from .protocol import choose_knn, choose_svm, split
from .records import Records, key_of
from .settings import Task, variant

CLASSIFIERS = {"knn": choose_knn, "svm": choose_svm}


def cells(
    task: Task, method: str, preset: str, runs: int, classifiers: Sequence[str] = ("knn",), **changes: Any
) -> list[dict[str, Any]]:
    """Configurations of all settings, runs and classifiers of a task."""
    model = variant(method, preset, **changes)
    grid = task.settings()
    if "n_epochs" in model:  # untrained: the number of epochs is not searched
        epochs = model.pop("n_epochs")
        grid = list({setting["depth"]: {**setting, "n_epochs": epochs} for setting in grid}.values())
    return [
        {
            "dataset": task.dataset, "features": task.features, "method": method,
            "model": {"n_components": 5, **model, **setting}, "run": run, "classifier": classifier,
        }
        for setting in grid
        for run in range(runs)
        for classifier in classifiers
    ]  # fmt: skip


def run_cells(
    wanted: Iterable[dict[str, Any]],
    records: Records,
    *,
    root: str | Path | None = None,
    jobs: int = 1,
    progress: bool | None = None,
) -> list[str]:
    """Computes what is not recorded yet and records it as it arrives; returns what failed, in one line each."""
    from joblib import Parallel, delayed, parallel_config

    groups: dict[str, list[dict[str, Any]]] = {}
    for config in {key_of(config): config for config in wanted}.values():  # tables share cells
        if config not in records:
            shared = {name: value for name, value in config.items() if name != "classifier"}
            groups.setdefault(repr(sorted(shared.items(), key=str)), []).append(config)
    failures = []
    place = None if root is None else str(root)
    with (
        tqdm(
            total=len(groups), unit="cell", disable=None if progress is None else not progress, file=sys.stderr
        ) as bar,
        parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1 if jobs > 1 else None),
    ):
        for configs, results in Parallel(return_as="generator_unordered")(
            delayed(_guarded)(configs, place) for configs in groups.values()
        ):
            if isinstance(results, str):
                failures.append(results)
                bar.write(f"failed: {results}", file=sys.stderr)
            else:
                for config, result in zip(configs, results, strict=True):
                    records.add(config, result)
            bar.update()
    return failures


def _guarded(configs: list[dict[str, Any]], root: str | None) -> tuple[list[dict[str, Any]], Any]:
    """One cell; an error becomes a line that says where it happened."""
    first = configs[0]
    try:
        return configs, run_cell(first, [config["classifier"] for config in configs], root)
    except Exception as error:  # one cell must not stop the others
        where = f"{first['dataset']} ({first['features']}), {first['method']}, {first['model']}, run {first['run']}"
        return configs, f"{where}: {type(error).__name__}: {error}"


def run_cell(config: dict[str, Any], classifiers: Sequence[str], root: str | None = None) -> list[dict[str, Any]]:
    """Trains on the training part, computes all distances, and lets each classifier choose and score."""
    graphs, y = _dataset(config["dataset"], config["features"], root)
    train, test = split(y, config["run"])
    start = time.perf_counter()
    metric = SGML(**config["model"], random_state=config["run"], device="cpu", progress=False).fit(
        graphs[train], y[train]
    )
    trained = time.perf_counter()
    curves = metric.embed(graphs)
    distances = metric.pairwise_distances(graphs)
    measured = time.perf_counter()
    results = []
    for classifier in classifiers:
        begun = time.perf_counter()
        choice = CLASSIFIERS[classifier](distances, y, train, test)
        results.append(
            {
                **choice._asdict(),
                "loss": metric.history_.loss,
                "zeros": float(np.mean(curves.values.numpy() == 0)),
                "seconds": {
                    "training": trained - start,
                    "distances": measured - trained,
                    "classifier": time.perf_counter() - begun,
                },
            }
        )
    return results


@lru_cache(maxsize=2)
def _dataset(name: str, features: str, root: str | None) -> tuple[Graphs, np.ndarray]:
    """A dataset, read once per process."""
    dataset = load_tu(name, features=features, root=root)
    return as_graphs(dataset.graphs), dataset.y
