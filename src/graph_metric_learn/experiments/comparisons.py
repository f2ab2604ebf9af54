"""Tables that compare systems: the best others, cells far from the published ones, GraphMetric's choices and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .published import PUBLISHED
from .records import Record, Result
from .settings import GRAPHMETRIC_VARIANTS, ROWS, SGML_VARIANTS, TABLES, TASKS, TITLES, title
from .tables import Rows, paired_gaps, published_text, signed, table_entry

UNCERTAINTY = 5.0  # points; assumed of a published mean without a spread, since most spreads are about as large


def other_systems(records: Sequence[Record], task: str) -> dict[tuple[str, str], float]:
    """Mean accuracy on a task by (method, classifier), of all systems but SGML and GraphMetric.

    Systems whose grid is not finished are left out: the missing settings may be better.
    """
    rows = dict.fromkeys(row for table in ("table1", "table2", "table3", "fgw") for row in ROWS[table])
    return {
        row: entry.mean
        for row in rows
        if row[0] not in SGML_VARIANTS
        and not isinstance(entry := table_entry(records, TASKS[task], *row), str)
        and not entry.unfinished
    }


def best_rows(records: Sequence[Record]) -> Rows:
    """Two rows below a table of all tasks: the best other system measured, and the best number in the paper."""
    measured, published = ["best of all other systems measured here"], ["best number in the paper's tables"]
    for name in TABLES["beyond"]:
        paper = {
            (method, classifier): mean for (task, method, classifier), (mean, _) in PUBLISHED.items() if task == name
        }
        for line, numbers in ((measured, other_systems(records, name)), (published, paper)):
            best = max(numbers, key=numbers.__getitem__, default=None)
            line.append("" if best is None else f"{numbers[best]:.1f}, {title(*best)}")
    return [measured, published]


def outside_rows(records: Sequence[Record]) -> Rows:
    """Cells of other systems whose mean is farther from the published mean than its spread (or `UNCERTAINTY`)."""
    rows = [["system", "task", "measured", "published"]]
    for (name, method, classifier), (mean, spread) in PUBLISHED.items():
        if method in SGML_VARIANTS:
            continue
        found = table_entry(records, TASKS[name], method, classifier)
        if not isinstance(found, str) and abs(found.mean - mean) > (UNCERTAINTY if spread is None else spread):
            rows.append([title(method, classifier), name, str(found), published_text((mean, spread))])
    return rows


def chosen_rows(records: Sequence[Record]) -> Rows:
    """What GraphMetric chose, by task: the largest mean weights over the runs, and how often learning was kept."""
    rows = [["", "chosen most, mean weight", "learning kept"]]
    for name in TABLES["beyond"]:
        task = TASKS[name]
        wanted = {
            "method": "graphmetric",
            "classifier": "knn-weighted",
            "dataset": task.dataset,
            "features": task.features,
        }
        found = [record["result"] for record in records if wanted.items() <= record["config"].items()]
        if not found:
            continue
        kept = Counter(stage["name"] for result in found for stage in result["learning"] if stage["kept"])
        times = ", ".join(f"{part} in {count} of {len(found)} runs" for part, count in kept.most_common())
        rows.append([name, most_chosen(found), times or "never"])
    return rows


def most_chosen(results: Sequence[Result]) -> str:
    """The three parts of GraphMetric with the largest mean weights over the runs.

    >>> most_chosen([{"weights": {"mean of labels": 1.0}}, {"weights": {"mean of labels": 0.5, "mean of size": 0.5}}])
    '75 % mean of labels, 25 % mean of size'
    """
    weights: Counter[str] = Counter()
    for result in results:
        weights.update({part: weight / len(results) for part, weight in result["weights"].items()})
    return ", ".join(f"{100 * weight:.0f} % {part}" for part, weight in weights.most_common(3))


def ingredient_rows(records: Sequence[Record]) -> Rows:
    """What GraphMetric loses with one ingredient alone: mean differences over the tasks, on the same splits."""
    rows = [["points against GraphMetric, same k-NN and splits", "mean over tasks", "worst task", "best task"]]
    for method in GRAPHMETRIC_VARIANTS:
        if method == "graphmetric":
            continue
        gaps = {}
        for name in TABLES["beyond"]:
            whole, alone = (table_entry(records, TASKS[name], one, "knn-loo") for one in ("graphmetric", method))
            if not isinstance(whole, str) and not isinstance(alone, str):
                paired = paired_gaps(alone, whole)
                if len(paired):
                    gaps[name] = float(paired.mean())
        if gaps:
            extremes = [
                f"{signed(gaps[name])}, {name}"
                for name in (min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__))
            ]
            missing = "" if len(gaps) == len(TABLES["beyond"]) else f" ({len(gaps)} tasks)"
            rows.append([TITLES[method], f"{signed(np.mean(list(gaps.values())))}{missing}", *extremes])
    return rows
