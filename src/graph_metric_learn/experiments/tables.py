"""From records to tables: the setting with the best mean validation accuracy, its test accuracy over the runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .settings import PUBLISHED, variant


@dataclass(frozen=True)
class Entry:
    """One number of a table, in percent.

    Attributes
    ----------
    mean, std : float
        Test accuracy over the runs.
    validation : float
        Mean validation accuracy of the chosen setting.
    runs : int
        How many runs.
    model : dict
        The chosen setting.
    training, distances : float
        Mean seconds.
    zeros : float
        Share of the node features that are exactly 0.
    """

    mean: float
    std: float
    validation: float
    runs: int
    model: dict[str, Any]
    training: float
    distances: float
    zeros: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.std:.1f}"


def matches(record: dict[str, Any], **wanted: Any) -> bool:
    """Whether the configuration of a record, or the model in it, has the wanted values."""
    config = record["config"]
    return all(config.get(name, config["model"].get(name)) == value for name, value in wanted.items())


def entry(records: Iterable[dict[str, Any]], **wanted: Any) -> Entry | None:
    """The entry for records whose configuration (or model) has the wanted values; None where there are none.

    Only settings with as many runs as the fullest one take part in the choice: half-finished ones are not comparable.
    """
    settings: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if matches(record, **wanted):
            settings.setdefault(json.dumps(record["config"]["model"], sort_keys=True), []).append(record)
    if not settings:
        return None
    runs = max(map(len, settings.values()))
    full = [found for found in settings.values() if len(found) == runs]
    best = max(full, key=lambda found: _mean(found, "validation"))
    test = 100 * np.array([record["result"]["test"] for record in best])
    return Entry(
        float(test.mean()),
        float(test.std()),
        100 * _mean(best, "validation"),
        runs,
        best[0]["config"]["model"],
        float(np.mean([record["result"]["seconds"]["training"] for record in best])),
        float(np.mean([record["result"]["seconds"]["distances"] for record in best])),
        _mean(best, "zeros"),
    )


def _mean(records: list[dict[str, Any]], what: str) -> float:
    return float(np.mean([record["result"][what] for record in records]))


def task_entry(
    records: Iterable[dict[str, Any]], name: str, method: str, classifier: str, **model: Any
) -> Entry | None:
    """The entry for a task by its name, "MUTAG (degree)"."""
    dataset, features = name.rstrip(")").split(" (")
    return entry(records, dataset=dataset, features=features, method=method, classifier=classifier, **model)


def accuracy_table(
    records: Iterable[dict[str, Any]], tasks: Sequence[str], rows: Sequence[tuple[str, str]], preset: str = "authors"
) -> str:
    """A Markdown table: for each (method, classifier) what was published and what was measured, by task."""
    records = list(records)
    lines = ["| method | " + " | ".join(tasks) + " |", "|---|" + "---:|" * len(tasks)]
    for method, classifier in rows:
        published, measured = [], []
        for name in tasks:
            number = PUBLISHED.get((name, method, classifier))
            spread = f" ± {number[1]:.1f}" if number is not None and number[1] is not None else ""
            published.append("" if number is None else f"{number[0]:.1f}{spread}")
            found = task_entry(records, name, method, classifier, **variant(method, preset))
            measured.append("" if found is None else f"{found}" + ("" if found.runs == 10 else f" ({found.runs} runs)"))
        lines.append(f"| {method}, {classifier}, published | " + " | ".join(published) + " |")
        lines.append(f"| {method}, {classifier}, measured | " + " | ".join(measured) + " |")
    return "\n".join(lines)
