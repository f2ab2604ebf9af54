"""`graph-metric-learn reproduce`: the paper's tables, figures and run times from one command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .choices import choice_cells, tie_cells
from .page import renew_summary, write_page
from .records import Records
from .runner import cells, run_cells
from .runtimes import measure_datasets, measure_figure, runtime_rows
from .settings import PRESETS, ROWS, TABLES, TASKS, Task, task_for
from .systems import method_names, missing_packages, own_classifier
from .tables import accuracy_rows, markdown

PARTS = (*ROWS, "choices", "runtimes", "figure1")


def reproduce(
    what: str,
    out: str | Path,
    *,
    datasets: Sequence[str] | None = None,
    features: str | None = None,
    methods: Sequence[str] | None = None,
    classifiers: Sequence[str] | None = None,
    preset: str = "authors",
    runs: int = 10,
    jobs: int | None = None,
    backend: str | None = None,
    root: str | Path | None = None,
    readme: str | Path | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Runs what is missing of one part or all, prints its tables, renders the page, and returns what failed.

    Parameters
    ----------
    what : {"table1", "table2", "table3", "fgw", "beyond", "choices", "runtimes", "figure1", "all"}
        Which part; "choices" compares ties, propagation, loss, ReLU and Adam one by one, "all" is everything.
    out : path
        Folder; finished cells are kept in its `records`, and never computed again.
    datasets, features, methods, classifiers, preset, runs
        What to run; by default what the table of the paper has. With `methods`, "all" is all tables.
    jobs, backend : optional
        As joblib takes them; run times are measured alone.
    root : path, optional
        Folder with the datasets.
    readme : path, optional
        Markdown file whose summary, between two marks, is renewed.
    """
    if what not in (*PARTS, "all"):
        raise ValueError(f"unknown part {what!r}: use one of {', '.join(PARTS)} or all")
    if preset not in PRESETS:
        raise ValueError(f"unknown preset {preset!r}: use one of {', '.join(PRESETS)}")
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    unknown = [name for name in methods or () if name not in method_names()]
    if unknown:
        raise ValueError(f"unknown method {unknown[0]!r}: use some of {', '.join(method_names())}")
    parts = [what] if what != "all" else list(ROWS if methods else PARTS)
    records = Records(Path(out) / "records")
    plan = {
        table: (_tasks(table, datasets, features), _rows(table, methods, classifiers))
        for table in parts
        if table in ROWS
    }
    wanted = [
        config
        for tasks, rows in plan.values()
        for task in tasks
        for method, classifier in rows
        for config in cells(task, method, preset, runs, [classifier])
    ]
    options: dict[str, Any] = {"root": root, "jobs": jobs, "backend": backend, "progress": progress}
    failures = run_cells(wanted, records, **options)
    for table, (tasks, rows) in plan.items():
        print(f"\n{table}, preset {preset}\n")
        print(markdown(accuracy_rows(list(records), tasks, rows, preset)))
    if "choices" in parts:
        failures += run_cells([*choice_cells(records, runs), *tie_cells(runs)], records, **options)
    if "runtimes" in parts:
        measure_datasets(records, root=root, datasets=datasets)
        print("\nrun times\n\n" + markdown(runtime_rows(records)))
    if "figure1" in parts:
        measure_figure(records)
    print(f"\nwritten: {write_page(records, out)}")
    if readme is not None:
        renew_summary(records, readme)
    return failures


def _tasks(table: str, datasets: Sequence[str] | None, features: str | None) -> list[Task]:
    """The tasks of a table; of the named datasets only, where some are named, with others that the paper has not."""
    listed = [TASKS[name] for name in TABLES[table]]
    if datasets is None:
        return listed
    chosen = [task for task in listed if task.dataset in datasets]
    known = {task.dataset for task in TASKS.values()}
    return chosen + [task_for(name, features) for name in datasets if name not in known]


def _rows(table: str, methods: Sequence[str] | None, classifiers: Sequence[str] | None) -> list[tuple[str, str]]:
    """The rows of a table; with other methods or classifiers where they are named, without what is not installed."""
    rows = ROWS[table]
    if methods is not None:
        usual = {method: [c for m, c in rows if m == method] for method in methods}
        rows = [
            (method, classifier)
            for method in methods
            for classifier in (["own"] if own_classifier(method) else classifiers or usual[method] or ["knn"])
        ]
    elif classifiers is not None:
        rows = [(method, classifier) for method, classifier in rows if classifier in (*classifiers, "own")]
    for method in dict.fromkeys(method for method, _ in rows):
        if lacking := missing_packages(method):
            print(
                f"{method} is left out: it needs {', '.join(lacking)}; install graph-metric-learn[baselines]",
                file=sys.stderr,
            )
    return [(method, classifier) for method, classifier in rows if not missing_packages(method)]
