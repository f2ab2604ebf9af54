"""Tables that compare systems: the best others, cells far from the published ones, GraphMetric's choices and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .published import PUBLISHED
from .records import Record, Result, matching
from .settings import GRAPHMETRIC_VARIANTS, OURS, RIVALS, ROWS, SGML_VARIANTS, TABLES, TASKS, TITLES, title
from .statistics import average_over_tasks, corrected_resampled_t
from .tables import (
    Entry,
    Rows,
    count_text,
    difference_text,
    few_splits,
    measured,
    paired_gaps,
    published_text,
    signed,
    standard_error,
)

UNCERTAINTY = 5.0  # points; assumed of a published mean without a spread, since most spreads are about as large


def other_systems(records: Sequence[Record], task: str) -> dict[tuple[str, str], Entry]:
    """What was measured on a task by (method, classifier), of all systems but SGML and GraphMetric.

    Systems whose grid is not finished are left out: the missing settings may be better.
    """
    rows = dict.fromkeys(row for table in ("table1", "table2", "table3", "fgw") for row in ROWS[table])
    return {
        row: entry
        for row in rows
        if row[0] not in SGML_VARIANTS and (entry := measured(records, TASKS[task], *row)) and not entry.unfinished
    }


def best_rows(records: Sequence[Record]) -> Rows:
    """Two rows below a table of all tasks: the best other system measured, and the best number in the paper."""
    reached, published = ["best of all other systems measured here"], ["best number in the paper's tables"]
    for name in TABLES["beyond"]:
        others = other_systems(records, name)
        best = max(others, key=lambda row: others[row].mean, default=None)
        reached.append("" if best is None else f"{others[best].mean:.1f}, {named(best, others[best])}")
        paper = {
            (method, classifier): mean for (task, method, classifier), (mean, _) in PUBLISHED.items() if task == name
        }
        highest = max(paper, key=paper.__getitem__)
        published.append(f"{paper[highest]:.1f}, {title(*highest)}")
    return [reached, published]


def named(row: tuple[str, str], entry: Entry) -> str:
    """The name of a row, with its number of runs where these are few."""
    return title(*row) + (f" ({entry.few_runs})" if entry.few_runs else "")


def outside_rows(records: Sequence[Record]) -> Rows:
    """Cells of other systems whose mean is farther from the published mean than its spread (or `UNCERTAINTY`)."""
    rows = [["system", "task", "measured", "published"]]
    for (name, method, classifier), (mean, spread) in PUBLISHED.items():
        if method in SGML_VARIANTS:
            continue
        entry = measured(records, TASKS[name], method, classifier)
        if entry and abs(entry.mean - mean) > (UNCERTAINTY if spread is None else spread):
            rows.append([title(method, classifier), name, str(entry), published_text((mean, spread))])
    return rows


def chosen_rows(records: Sequence[Record]) -> Rows:
    """What GraphMetric chose, by task: the largest mean weights over the runs, and how much learned scores count."""
    rows = [["", "chosen most, mean weight", "median weight of learned scores"]]
    for name in TABLES["beyond"]:
        wanted = {"dataset": TASKS[name].dataset, "features": TASKS[name].features}
        runs = matching(records, method="graphmetric", classifier="head-knn", **wanted)
        if results := [record["result"] for record in runs]:
            weights = [result["learning"]["weight"] for result in results]
            rows.append([name, most_chosen(results), f"{np.median(weights):g}"])
    return rows


def by_the_former_engine(records: Sequence[Record]) -> bool:
    """Whether some results of GraphMetric are from before it was a weighted mean of families: only those name parts."""
    return any("parts" in (record["result"].get("learning") or {}) for record in records)


def most_chosen(results: Sequence[Result]) -> str:
    """What had the three largest mean weights in GraphMetric over the runs.

    >>> most_chosen([{"weights": {"mean of labels": 1.0}}, {"weights": {"mean of labels": 0.5, "mean of size": 0.5}}])
    '75 % mean of labels, 25 % mean of size'
    """
    weights: Counter[str] = Counter()
    for result in results:
        weights.update({part: weight / len(results) for part, weight in result["weights"].items()})
    return ", ".join(f"{100 * weight:.0f} % {part}" for part, weight in weights.most_common(3))


def ingredient_rows(records: Sequence[Record]) -> Rows:
    """What GraphMetric loses with one ingredient alone: mean differences over the tasks, on the same splits."""
    rows = [
        ["points against GraphMetric, same k-NN and splits", "mean over tasks", "median", "worst task", "best task"]
    ]
    for method in GRAPHMETRIC_VARIANTS:
        if method == "graphmetric":
            continue
        gaps, splits = {}, {}
        for name in TABLES["beyond"]:
            whole, alone = (measured(records, TASKS[name], one, "head-knn") for one in ("graphmetric", method))
            if whole and alone and len(paired := paired_gaps(alone, whole)):
                gaps[name], splits[name] = float(paired.mean()), len(paired)
        if gaps:
            extremes = [
                f"{signed(gaps[name])}, {name}{few_splits(splits[name])}"
                for name in (min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__))
            ]
            over, fewest = list(gaps.values()), min(splits.values())
            missing = "" if len(gaps) == len(TABLES["beyond"]) else f", {count_text(len(gaps), 'task')}"
            short = few_splits(fewest)
            if short and fewest < max(splits.values()):
                short += " or more on each"
            rows.append(
                [TITLES[method], f"{signed(np.mean(over))}{missing}{short}", signed(np.median(over)), *extremes]
            )
    return rows


def rival_rows(records: Sequence[Record], ours: tuple[str, str] = OURS) -> Rows:
    """Points by which one of our rows is ahead of rivals, on the same splits, with the corrected paired test.

    The last columns are the mean over the tasks that both have, with its test, and their median.
    """
    rows = [[f"{title(*ours)}, less", *TABLES["beyond"], "mean over tasks", "median"]]
    own = {name: measured(records, TASKS[name], *ours) for name in TABLES["beyond"]}
    for rival in RIVALS:
        gaps: dict[str, np.ndarray] = {}
        for name, mine in own.items():
            theirs = measured(records, TASKS[name], *rival)
            if mine and theirs and len(paired := paired_gaps(mine, theirs)):
                gaps[name] = paired
        if not gaps:
            continue
        tests = {name: corrected_resampled_t(paired) for name, paired in gaps.items()}
        cells = [
            difference_text(test.mean, standard_error(gaps[name]) if len(gaps[name]) > 1 else np.nan, test.p)
            + few_splits(len(gaps[name]))
            if (test := tests.get(name))
            else ""
            for name in own
        ]
        average = average_over_tasks(list(tests.values()))
        missing = "" if len(gaps) == len(own) else f", {count_text(len(gaps), 'task')}"
        said = difference_text(average.mean, np.nan, average.p)
        median = signed(np.median([test.mean for test in tests.values()]))
        rows.append([title(*rival), *cells, f"{said}{missing}", median])
    return rows
