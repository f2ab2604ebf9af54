"""Runs cells, several at a time, resumably: a cell is a method with one setting, one split and one classifier."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from graph_metric_learn._core.progress import progress_bar

from .evaluate import evaluate_baseline, evaluate_edge_data, evaluate_graph_metric, evaluate_sgml, evaluate_tie_rule
from .fair import evaluate_fair
from .methods import grid, has_own_classifier, task_read_by
from .molecules import evaluate_molecules
from .outlook import evaluate_outlook
from .records import Config, Records, Result, key_of
from .settings import GRAPHMETRIC_VARIANTS, SGML_VARIANTS, Task, is_learned
from .unlabelled import evaluate_unlabelled

# What computes the cells of each experiment beside the paper's tables, from folders with datasets and other files.
EXPERIMENTS: dict[str, Callable[[list[Config], str | None, str], list[Result]]] = {
    "edges": lambda configs, root, _: evaluate_edge_data(configs, root),
    "fair": evaluate_fair,
    "molecules": lambda configs, _, files: evaluate_molecules(configs, files),
    "outlook": evaluate_outlook,
    "ties": lambda configs, root, _: evaluate_tie_rule(configs, root),
    "unlabelled": lambda configs, root, _: evaluate_unlabelled(configs, root),
}
Folders = tuple[str | None, ...]  # folders with the TU datasets, and with molecules or splits


def cells(
    task: Task, method: str, preset: str, runs: int, classifiers: Sequence[str] = ("knn",), **changes: Any
) -> list[Config]:
    """Configurations of all settings, runs and classifiers of a method on a task."""
    task = task_read_by(method, task)
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
    folder: str | Path | None = None,
    jobs: int | None = None,
    backend: str | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Computes what is not recorded yet and records it as it arrives; returns the failures, one line each.

    `root` is the folder with the datasets, `folder` that with molecules or splits. `jobs` and `backend` are as joblib
    takes them: any of its backends, also one set by `joblib.parallel_config` around this call.
    """
    from joblib import Parallel, delayed, parallel_config

    groups: dict[str, list[Config]] = {}
    for config in {key_of(config): config for config in wanted}.values():  # tables share cells
        if config not in records:
            groups.setdefault(_group_key(config), []).append(config)
    failures = []
    folders = tuple(None if one is None else str(one) for one in (root, folder))
    with (
        progress_bar(progress, total=sum(map(len, groups.values())), unit="cell") as bar,
        nullcontext() if backend is None else parallel_config(backend),
    ):
        for configs, results in Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(_run_or_report)(configs, folders, str(records.folder)) for configs in groups.values()
        ):
            if isinstance(results, str):
                failures.append(results)
                bar.write(f"failed: {results}", file=sys.stderr)
            else:
                for config, result in zip(configs, results, strict=True):
                    records.add(config, result)
            bar.update(len(configs))
    return failures


def _group_key(config: Config) -> str:
    """Equal for cells that share their distances: all but the classifier agree, for baselines all but the run too.

    Baselines with a classifier of their own share nothing between runs.
    """
    fitted = "what" in config or is_learned(config["method"]) or has_own_classifier(config["method"])
    ignored = {"classifier"} if fitted else {"classifier", "run"}
    return key_of({name: value for name, value in config.items() if name not in ignored})


def _run_or_report(configs: list[Config], folders: Folders, folder: str) -> tuple[list[Config], list[Result] | str]:
    """The cells of a group with their results, or with one line that says which cells failed and why."""
    first = configs[0]
    try:
        return configs, run_group(configs, folders, folder)
    except Exception as error:  # one cell must not stop the others
        runs = ", ".join(map(str, sorted({config["run"] for config in configs})))
        where = f"{first['dataset']} ({first['features']}), {first['method']}, {first['model']}, run {runs}"
        return configs, f"{where}: {type(error).__name__}: {error}"


def run_group(configs: list[Config], folders: Folders, folder: str) -> list[Result]:
    """The results of cells that share their distances; `folder` holds the checkpoints."""
    root, files = folders
    method, experiment = configs[0]["method"], configs[0].get("what")
    if experiment is not None:
        return EXPERIMENTS[experiment](configs, root, files or "")
    if method in SGML_VARIANTS:
        return evaluate_sgml(configs, root)
    if method in GRAPHMETRIC_VARIANTS:
        return evaluate_graph_metric(configs, root)
    return evaluate_baseline(configs, root, Path(folder) / "unfinished" / f"{_group_key(configs[0])}.npz")
