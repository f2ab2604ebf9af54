"""Which choices matter: the authors' choices with one change at a time, and the tie rules on one learned metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..transport.ordering import TIES
from .records import Records
from .runner import cells
from .settings import PUBLISHED, TABLES, TASKS, Task
from .systems import RENUMBERED, grid
from .tables import Entry, Rows, best_entry, signed, table_entry

# What the comparison changes, and what SGML() does by default.
CHOICES: dict[str, dict[str, Any]] = {
    "authors' choices": {},
    "ties: canonical": {"ties": "canonical"},
    "propagation: A + I": {"propagation": "sum"},
    "NCCML: the paper's form": {"loss": "nccml-paper"},
    "no ReLU": {"activation": "none"},
    "Adam not restarted": {"restart_optimizer": False},
    "no batch of one class": {"batching": "covered"},
}
CHOICE_TASKS = ["MUTAG (degree)", "BZR (attributes)", "ENZYMES (labels)", "NCI1 (labels)"]

# More changes, where a number of the paper was missed.
SEARCH: dict[str, dict[str, Any]] = {
    **CHOICES,
    "untrained": {"n_epochs": 0},
    "learning rate 0.00999": {"learning_rate": 0.999e-2},
    "learning rate 0.000999": {"learning_rate": 0.999e-3},
    "30 epochs": {"n_epochs": 30},
    "10 outputs": {"n_components": 10},
    "canonical ties, A + I, no ReLU": {"ties": "canonical", "propagation": "sum", "activation": "none"},
}


def missed(records: Sequence[dict[str, Any]]) -> list[str]:
    """Tasks of Tables 1 and 2 whose k-NN mean is below the paper's by more than the paper's standard deviation."""
    names = []
    for name in (*TABLES["table1"], *TABLES["table2"]):
        found = _changed(records, name, {})
        mean, spread = PUBLISHED[name, "rpw", "knn"]
        if found is not None and found.mean < mean - (spread or 0.0):
            names.append(name)
    return names


def choice_cells(records: Records, runs: int) -> list[dict[str, Any]]:
    """Cells of both comparisons, and the untrained ones that say what ReLU zeroes before training."""
    plans = [(name, change) for name in CHOICE_TASKS for change in CHOICES.values()]
    plans += [(name, change) for name in missed(list(records)) for change in SEARCH.values()]
    plans += [(name, {**change, "n_epochs": 0}) for name in CHOICE_TASKS for change in _BEFORE]
    return [config for name, change in plans for config in cells(TASKS[name], "rpw", "authors", runs, **change)]


_BEFORE: list[dict[str, Any]] = [
    {},
    {"propagation": "sum"},
]  # only propagation changes what goes into an untrained ReLU


def choice_rows(records: Sequence[dict[str, Any]], tasks: Sequence[str], changes: dict[str, dict[str, Any]]) -> Rows:
    """Accuracy by change and task, with the mean difference to the authors' choices over all runs (paired)."""
    rows = [["", *tasks, "difference"]]
    base = {name: _changed(records, name, {}) for name in tasks}
    for title, change in changes.items():
        found = {
            name: None if change and _is_usual(TASKS[name], change) else _changed(records, name, change)
            for name in tasks
        }
        if not any(found.values()):
            continue
        rows.append([title, *(_with_zeros(records, name, change, found[name]) for name in tasks)])
        pairs = [(found[name], base[name]) for name in tasks]
        gaps = [a.tests - b.tests for a, b in pairs if a is not None and b is not None and a.runs == b.runs]
        rows[-1].append(_difference(np.concatenate(gaps)) if gaps and change else "")
    return rows


def _is_usual(task: Task, change: dict[str, Any]) -> bool:
    """Whether a change is none for this task."""
    return grid(task, "rpw", **change) == grid(task, "rpw")


def _changed(records: Sequence[dict[str, Any]], name: str, change: dict[str, Any]) -> Entry | None:
    found = table_entry(records, TASKS[name], "rpw", "knn", **change)
    return None if isinstance(found, str) else found


def _with_zeros(records: Sequence[dict[str, Any]], name: str, change: dict[str, Any], found: Entry | None) -> str:
    """The accuracy and the share of zeros, before training and after it."""
    if found is None:
        return ""
    if change.get("activation") == "none":
        return str(found)
    kept = {key: value for key, value in change.items() if key in ("propagation", "n_components")}
    before = _changed(records, name, {**kept, "depth": found.model["depth"], "n_epochs": 0})
    known = "" if before is None else f"{100 * before.zeros:.0f} → "
    return f"{found} ({known}{100 * found.zeros:.0f} %)"


def _difference(gaps: np.ndarray) -> str:
    error = gaps.std() / np.sqrt(max(len(gaps) - 1, 1))
    return f"{signed(gaps.mean())} ± {error:.1f}"


# --- the tie rules on one learned metric -----------------------------------------------------------------------------


TIE_RULES = (*TIES, RENUMBERED)


def tie_cells(runs: int) -> list[dict[str, Any]]:
    """One cell per task, rule and run: the same graphs, the same learned metric, another order of tied points."""
    return [
        {
            "what": "ties", "dataset": task.dataset, "features": task.features, "method": rule,
            "model": {"depth": 2, "learning_rate": task.learning_rate}, "run": run, "classifier": "knn",
        }
        for task in map(TASKS.__getitem__, CHOICE_TASKS)
        for rule in TIE_RULES
        for run in range(runs)
    ]  # fmt: skip


def tie_rows(records: Sequence[dict[str, Any]]) -> Rows:
    """Accuracy and seconds of all distances by rule and task; empty where nothing is measured."""
    rows = [["ties", *CHOICE_TASKS]]
    for rule in TIE_RULES:
        row = [rule]
        for task in map(TASKS.__getitem__, CHOICE_TASKS):
            wanted = {"what": "ties", "dataset": task.dataset, "features": task.features, "method": rule}
            found = best_entry(record for record in records if wanted.items() <= record["config"].items())
            row.append(found if isinstance(found, str) else f"{found}, {found.distances:.2g} s")
        rows.append(row)
    return rows if any(any(row[1:]) for row in rows[1:]) else []
