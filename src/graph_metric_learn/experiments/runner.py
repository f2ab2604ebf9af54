"""Runs cells, several at a time, resumably: a cell is a method with one setting, one split and one classifier."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .._core.progress import progress_bar
from .records import Records, key_of
from .settings import CHOSEN, METHODS, Task
from .systems import grid, read_by, run_baseline, run_graph_metric, run_sgml, run_ties

Config = dict[str, Any]


def cells(
    task: Task, method: str, preset: str, runs: int, classifiers: Sequence[str] = ("knn",), **changes: Any
) -> list[Config]:
    """Configurations of all settings, runs and classifiers of a method on a task."""
    task = read_by(method, task)
    return [
        {
            "dataset": task.dataset, "features": task.features, "method": method,
            "model": setting, "run": run, "classifier": classifier,
        }
        for setting in grid(task, method, preset, **changes)
        for run in range(runs)
        for classifier in classifiers
    ]  # fmt: skip


def run_cells(
    wanted: Iterable[Config],
    records: Records,
    *,
    root: str | Path | None = None,
    jobs: int | None = None,
    backend: str | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Computes what is not recorded yet and records it as it arrives; returns what failed, in one line each.

    Parameters
    ----------
    wanted : iterable of dict
        From :func:`cells`.
    records : Records
        What is known already; grows.
    root : path, optional
        Folder with the datasets.
    jobs, backend : optional
        As joblib takes them: any of its backends, also one set by `joblib.parallel_config` around this call.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    """
    from joblib import Parallel, delayed, parallel_config

    groups: dict[str, list[Config]] = {}
    for config in {key_of(config): config for config in wanted}.values():  # tables share cells
        if config not in records:
            groups.setdefault(_shared(config), []).append(config)
    failures = []
    place = None if root is None else str(root)
    with (
        progress_bar(progress, total=sum(map(len, groups.values())), unit="cell") as bar,
        nullcontext() if backend is None else parallel_config(backend),
    ):
        for configs, results in Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(_guarded)(configs, place, str(records.folder)) for configs in groups.values()
        ):
            if isinstance(results, str):
                failures.append(results)
                bar.write(f"failed: {results}", file=sys.stderr)
            else:
                for config, result in zip(configs, results, strict=True):
                    records.add(config, result)
            bar.update(len(configs))
    return failures


def _shared(config: Config) -> str:
    """What cells that need the same distances have in common: all but the classifier, without learning also the run."""
    learned = config["method"] in METHODS or config["method"] in CHOSEN or "what" in config
    different = {"classifier"} if learned else {"classifier", "run"}
    return key_of({name: value for name, value in config.items() if name not in different})


def _guarded(configs: list[Config], root: str | None, folder: str) -> tuple[list[Config], list[Config] | str]:
    """Cells that share their distances; an error becomes a line that says where it happened."""
    first = configs[0]
    try:
        return configs, run_group(configs, root, folder)
    except Exception as error:  # one cell must not stop the others
        runs = ", ".join(map(str, sorted({config["run"] for config in configs})))
        where = f"{first['dataset']} ({first['features']}), {first['method']}, {first['model']}, run {runs}"
        return configs, f"{where}: {type(error).__name__}: {error}"


def run_group(configs: list[Config], root: str | None, folder: str) -> list[Config]:
    """The results of cells that share their distances."""
    if configs[0].get("what") == "ties":
        return run_ties(configs, root)
    if configs[0]["method"] in METHODS:
        return run_sgml(configs, root)
    if configs[0]["method"] in CHOSEN:
        return run_graph_metric(configs, root)
    return run_baseline(configs, root, Path(folder) / "unfinished" / f"{_shared(configs[0])}.npz")
