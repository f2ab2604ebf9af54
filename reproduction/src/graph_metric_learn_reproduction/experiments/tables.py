"""From records to tables: of each method the setting with the best mean validation accuracy, and its test accuracy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .methods import grid, task_read_by
from .published import PUBLISHED
from .records import Record, matching
from .settings import TITLES, Task, title
from .statistics import p_text

Rows = list[list[str]]

SPLITS = 10  # of a full cell; where there are fewer, the cell says so


@dataclass(frozen=True)
class Entry:
    """One cell of a table: the chosen setting and what it reached."""

    tests: np.ndarray  # test accuracy in percent, run by run [runs]
    splits: np.ndarray  # which splits these runs are [runs]
    model: dict[str, Any]  # the chosen setting
    training: float  # median seconds over the runs, so that a run that compiled first does not count more
    distances: float  # the same
    zeros: float  # share of the node features that are exactly 0; nan where that is not recorded
    unfinished: str = ""  # how many of the searched settings have results, and why others have none; empty if all have

    @property
    def runs(self) -> int:
        return len(self.tests)

    @property
    def mean(self) -> float:
        return float(self.tests.mean())

    @property
    def std(self) -> float:
        return float(self.tests.std())

    @property
    def few_runs(self) -> str:
        """How many runs there are, if these are not the usual number; else empty."""
        return "" if self.runs == SPLITS else count_text(self.runs, "run")

    def __str__(self) -> str:
        notes = ", ".join(filter(None, (self.few_runs, self.unfinished)))
        return f"{self.mean:.1f} ± {self.std:.1f}" + (f" ({notes})" if notes else "")


def table_entry(
    records: Iterable[Record], task: Task, method: str, classifier: str, preset: str = "authors", **changes: Any
) -> Entry | str:
    """What was measured for a method on a task, or why there is no number.

    That is "> 1 h", "> 20 min" of a single run, "solver failed", or nothing ("").

    The setting with the best mean validation accuracy counts. Settings are compared on the runs that all of them have,
    apart from settings without any run.
    """
    task = task_read_by(method, task)
    settings = [_setting(setting) for setting in grid(task, method, preset, **changes)]
    runs = matching(
        records, method=method, classifier=classifier, dataset=task.dataset, features=task.features, what=None
    )
    return best_entry(runs, settings)


def measured(
    records: Iterable[Record], task: Task, method: str, classifier: str, preset: str = "authors", **changes: Any
) -> Entry | None:
    """The same; None where there is no number."""
    entry = table_entry(records, task, method, classifier, preset, **changes)
    return None if isinstance(entry, str) else entry


def best_entry(records: Iterable[Record], settings: Sequence[str] | None = None) -> Entry | str:
    """The best of some settings (all by default) by validation, from records of one method and task."""
    tested: dict[str, dict[int, Record]] = {}  # by setting and run
    failed: set[str] = set()
    long: dict[str, float] = {}  # hours on two cores that all settings would take
    limits: set[float] = set()  # seconds that a run may take, of settings of which one takes longer
    for record in records:
        setting, result = _setting(record["config"]["model"]), record["result"]
        if settings is not None and setting not in settings:
            continue
        if "test" in result:
            tested.setdefault(setting, {})[record["config"]["run"]] = record
        elif "failure" in result:
            failed.add(setting)
        elif "limit_seconds" in result:
            limits.add(result["limit_seconds"])
        else:
            long[setting] = result["estimated_seconds"] / 7200
    too_long = f"> 1 h ({np.mean(list(long.values())):.1f} h)" if long else ""
    over = f"> {min(limits) / 60:.0f} min" if limits else ""
    if not tested:
        return too_long or over or ("solver failed" if failed else "")
    shared = sorted(set.intersection(*map(set, tested.values())))
    if not shared:  # no run in common: only the setting with most runs
        fullest = max(tested, key=lambda setting: len(tested[setting]))
        shared, tested = sorted(tested[fullest]), {fullest: tested[fullest]}
    comparable = [[by_run[run] for run in shared] for by_run in tested.values()]
    best = max(comparable, key=_validation) if len(comparable) > 1 else comparable[0]
    parts = [f"{len(tested)} of {len(settings)} settings"] if settings and len(tested) < len(settings) else []
    parts += [f"{len(failed)} failed"] * bool(failed) + [f"{len(long)} {too_long}"] * bool(long)
    parts += [f"others {over}"] * bool(over)
    return Entry(
        100 * np.array([record["result"]["test"] for record in best]),
        np.array([record["config"]["run"] for record in best]),
        best[0]["config"]["model"],
        float(np.median([record["result"]["seconds"]["training"] for record in best])),
        float(np.median([record["result"]["seconds"]["distances"] for record in best])),
        float(np.mean([record["result"].get("zeros", np.nan) for record in best])),
        ", ".join(parts),
    )


def _setting(model: dict[str, Any]) -> str:
    """A setting as text, to compare with others."""
    return json.dumps(model, sort_keys=True)


def _validation(records: list[Record]) -> float:
    """The mean validation accuracy."""
    return float(np.mean([record["result"]["validation"] for record in records]))


def accuracy_rows(
    records: Sequence[Record], tasks: Sequence[Task], rows: Sequence[tuple[str, str]], preset: str = "authors"
) -> Rows:
    """A table: for each (method, classifier) what was measured and below it what was published, by task.

    Rows of which nothing was measured or published are left out.
    """
    lines = [["", *(task.name for task in tasks)]]
    for method, classifier in rows:
        published = [PUBLISHED.get((task.name, method, classifier)) for task in tasks]
        cells = [str(table_entry(records, task, method, classifier, preset)) for task in tasks]
        if not any(cells) and not any(published):
            continue
        lines.append([title(method, classifier), *cells])
        if any(published):
            lines.append(["— published", *map(published_text, published)])
    return lines


def seconds_rows(
    records: Sequence[Record], tasks: Sequence[Task], rows: Sequence[tuple[str, str]], preset: str = "authors"
) -> Rows:
    """A table: seconds for learning and all distances (or the kernel) with the chosen setting, by method and task."""
    lines = [["seconds", *(task.name for task in tasks)]]
    for method, classifier in rows:
        cells = []
        for task in tasks:
            entry = table_entry(records, task, method, classifier, preset)
            cells.append(entry if isinstance(entry, str) else shown_seconds(entry.training + entry.distances))
        lines.append([TITLES.get(method, method), *cells])
    return lines


def paired_gaps(one: Entry, other: Entry) -> np.ndarray:
    """Test accuracies of one entry less those of the other, on the runs that both have."""
    _, mine, theirs = np.intersect1d(one.splits, other.splits, return_indices=True)
    return one.tests[mine] - other.tests[theirs]


def standard_error(gaps: np.ndarray) -> float:
    """The standard error of the mean of paired differences.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(gaps.std() / np.sqrt(max(len(gaps) - 1, 1)))


def difference_text(mean: float | np.floating, error: float, p: float = np.nan, digits: int = 1) -> str:
    """A mean difference with its standard error and the p-value of a paired test, as far as there are any.

    >>> difference_text(1.26, 0.52), difference_text(1.26, 0.52, 0.043), difference_text(1.26, np.nan, digits=2)
    ('+1.3 ± 0.5', '+1.3 ± 0.5, p = 0.04', '+1.26')
    """
    text = signed(mean, digits) if np.isnan(error) else f"{signed(mean, digits)} ± {error:.{digits}f}"
    return ", ".join(filter(None, (text, p_text(p))))


def count_text(count: int, unit: str = "split") -> str:
    """A number of runs, splits or seeds.

    >>> count_text(1), count_text(5, "run")
    ('1 split', '5 runs')
    """
    return f"{count} {unit}{'s' * (count != 1)}"


def few_splits(count: int) -> str:
    """What a cell says after a difference of fewer splits than usual; else empty.

    >>> few_splits(5), few_splits(10)
    (', 5 splits', '')
    """
    return "" if count >= SPLITS else f", {count_text(count)}"


def published_text(number: tuple[float, float | None] | None) -> str:
    """A published mean, with its standard deviation if there is one.

    >>> published_text((84.9, None)), published_text((90.0, 7.6)), published_text(None)
    ('84.9', '90.0 ± 7.6', '')
    """
    if number is None:
        return ""
    mean, std = number
    return f"{mean:.1f}" + ("" if std is None else f" ± {std:.1f}")


def signed(points: float | np.floating, digits: int = 1) -> str:
    """A difference with its sign, rounded to one decimal or more; no minus before 0.

    >>> signed(1.26), signed(-0.04)
    ('+1.3', '+0.0')
    """
    return f"{round(float(points), digits) + 0.0:+.{digits}f}"


def shown_seconds(number: float) -> str:
    """Three significant digits, above 100 whole seconds; empty for nan.

    >>> shown_seconds(0.01234), shown_seconds(17500.4), shown_seconds(float("nan"))
    ('0.0123', '17,500', '')
    """
    if np.isnan(number):
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
