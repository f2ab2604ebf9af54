"""From records to tables: the setting with the best mean validation accuracy, its test accuracy over the runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .settings import PUBLISHED, TITLES, Task, title
from .systems import grid, read_by

Rows = list[list[str]]


@dataclass(frozen=True)
class Entry:
    """One number of a table, in percent.

    Attributes
    ----------
    tests : ndarray [runs]
        Test accuracy of each run, in the order of the runs.
    splits : ndarray [runs]
        Which runs these are.
    model : dict
        The chosen setting.
    training, distances : float
        Seconds, the median over the runs: a run that had to compile first does not count more than others.
    zeros : float
        Share of the node features that are exactly 0; nan where that is not recorded.
    unfinished : str
        How many of the settings that are searched took part, where not all did.
    """

    tests: np.ndarray
    splits: np.ndarray
    model: dict[str, Any]
    training: float
    distances: float
    zeros: float
    unfinished: str = ""

    @property
    def runs(self) -> int:
        return len(self.tests)

    @property
    def mean(self) -> float:
        return float(self.tests.mean())

    @property
    def std(self) -> float:
        return float(self.tests.std())

    def __str__(self) -> str:
        notes = [f"{self.runs} {'run' if self.runs == 1 else 'runs'}"] * (self.runs != 10) + [self.unfinished] * bool(
            self.unfinished
        )
        return f"{self.mean:.1f} ± {self.std:.1f}" + (f" ({', '.join(notes)})" if notes else "")


def table_entry(
    records: Iterable[dict[str, Any]], task: Task, method: str, classifier: str, preset: str = "authors", **changes: Any
) -> Entry | str:
    """What was measured for a method on a task, or why there is no number: "> 1 h", "solver failed", or nothing ("").

    Of the settings that the method searches, the one with the best mean validation accuracy counts, over the runs that
    all settings have that were begun: others are not comparable.
    """
    task = read_by(method, task)
    settings = [json.dumps(setting, sort_keys=True) for setting in grid(task, method, preset, **changes)]
    place = {"dataset": task.dataset, "features": task.features, "method": method, "classifier": classifier}
    return best_entry((record for record in records if _is_at(record, place)), settings)


def best_entry(records: Iterable[dict[str, Any]], settings: Sequence[str] | None = None) -> Entry | str:
    """The best of some settings (all by default) by validation, from records of one method and task."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    failed: set[str] = set()
    long: dict[str, float] = {}  # hours on two cores that all settings would take
    for record in records:
        setting, result = json.dumps(record["config"]["model"], sort_keys=True), record["result"]
        if settings is not None and setting not in settings:
            continue
        if "test" in result:
            found.setdefault(setting, {})[record["config"]["run"]] = record
        elif "failure" in result:
            failed.add(setting)
        else:
            long[setting] = result["estimated_seconds"] / 7200
    too_long = f"> 1 h ({np.mean(list(long.values())):.1f} h)" if long else ""
    if not found:
        return too_long or ("solver failed" if failed else "")
    shared = sorted(set.intersection(*map(set, found.values())))
    if not shared:  # not even one: the fullest alone
        fullest = max(found, key=lambda setting: len(found[setting]))
        shared, found = sorted(found[fullest]), {fullest: found[fullest]}
    complete = [[by_run[run] for run in shared] for by_run in found.values()]
    best = max(complete, key=_validation) if len(complete) > 1 else complete[0]
    parts = [f"{len(found)} of {len(settings)} settings"] if settings and len(found) < len(settings) else []
    parts += [f"{len(failed)} failed"] * bool(failed) + [f"{len(long)} {too_long}"] * bool(long)
    return Entry(
        100 * np.array([record["result"]["test"] for record in best]),
        np.array([record["config"]["run"] for record in best]),
        best[0]["config"]["model"],
        float(np.median([record["result"]["seconds"]["training"] for record in best])),
        float(np.median([record["result"]["seconds"]["distances"] for record in best])),
        float(np.mean([record["result"].get("zeros", np.nan) for record in best])),
        ", ".join(parts),
    )


def _is_at(record: dict[str, Any], place: dict[str, Any]) -> bool:
    config = record["config"]
    return "what" not in config and all(config.get(name) == value for name, value in place.items())


def _validation(records: list[dict[str, Any]]) -> float:
    return float(np.mean([record["result"]["validation"] for record in records]))


def accuracy_rows(
    records: Sequence[dict[str, Any]], tasks: Sequence[Task], rows: Sequence[tuple[str, str]], preset: str = "authors"
) -> Rows:
    """A table: for each (method, classifier) what was measured and below it what was published, by task."""
    lines = [["", *(task.name for task in tasks)]]
    for method, classifier in rows:
        published = [PUBLISHED.get((task.name, method, classifier)) for task in tasks]
        lines.append(
            [title(method, classifier)]
            + [str(table_entry(records, task, method, classifier, preset)) for task in tasks]
        )
        if any(published):
            lines.append(["— published", *(_shown(number) for number in published)])
    return lines


def seconds_rows(
    records: Sequence[dict[str, Any]], tasks: Sequence[Task], rows: Sequence[tuple[str, str]], preset: str = "authors"
) -> Rows:
    """A table: seconds for learning and all distances (or the kernel) with the chosen setting, by method and task."""
    lines = [["seconds", *(task.name for task in tasks)]]
    for method, classifier in rows:
        cells = []
        for task in tasks:
            found = table_entry(records, task, method, classifier, preset)
            cells.append(found if isinstance(found, str) else shown_seconds(found.training + found.distances))
        lines.append([TITLES.get(method, method), *cells])
    return lines


def _shown(number: tuple[float, float | None] | None) -> str:
    if number is None:
        return ""
    return f"{number[0]:.1f}" + ("" if number[1] is None else f" ± {number[1]:.1f}")


def signed(points: float | np.floating) -> str:
    """A difference with its sign and one digit; no minus before 0.

    >>> signed(1.26), signed(-0.04)
    ('+1.3', '+0.0')
    """
    return f"{round(float(points), 1) + 0.0:+.1f}"


def shown_seconds(number: float) -> str:
    """Three digits; nothing for nan.

    >>> shown_seconds(0.01234), shown_seconds(17500.4), shown_seconds(float("nan"))
    ('0.0123', '17,500', '')
    """
    if np.isnan(number):
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def markdown(rows: Rows) -> str:
    """A table as Markdown, the first row its head; columns with numbers are set to the right.

    >>> print(markdown([["method", "MUTAG", "features"], ["SGML", "86.3", "degree"]]))
    | method | MUTAG | features |
    |---|---:|---|
    | SGML | 86.3 | degree |
    """
    head, *rest = ("| " + " | ".join(row) + " |" for row in rows)
    columns = zip(*rows[1:], strict=True)
    sides = ["---:" if any(cell[:1] in tuple("+-0123456789") for cell in column) else "---" for column in columns]
    return "\n".join([head, f"|{'|'.join(sides)}|", *rest])
