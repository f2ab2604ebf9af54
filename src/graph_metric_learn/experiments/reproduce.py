"""`graph-metric-learn reproduce`: the paper's tables from one command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .page import CHOICE_TASKS, CHOICES, write_page
from .records import Records
from .runner import cells, run_cells
from .settings import METHODS, TABLES, TASKS, Task, task_for
from .tables import accuracy_table

TABLE_METHODS = {"table1": ["rpw"], "table2": ["rpw"], "table3": ["rpw", "sw", "nca", "pw", "random"]}


def reproduce(
    what: str,
    out: str | Path,
    *,
    datasets: Sequence[str] | None = None,
    features: str | None = None,
    methods: Sequence[str] | None = None,
    classifiers: Sequence[str] = ("knn",),
    preset: str = "authors",
    runs: int = 10,
    jobs: int = 1,
    root: str | Path | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Runs what is missing of one table or all, prints the tables, and returns what failed.

    Parameters
    ----------
    what : {"table1", "table2", "table3", "all", "choices"}
        Which table; "choices" compares ties, propagation, loss, ReLU and Adam one by one.
    out : path
        Folder; finished cells are kept in its `records`, and never computed again.
    datasets, features, methods, classifiers, preset, runs
        What to run; by default what the table of the paper has.
    jobs : int
        Processes.
    root : path, optional
        Folder with the datasets.
    """
    unknown = [name for name in methods or () if name not in METHODS]
    if unknown:
        raise ValueError(f"unknown method {unknown[0]!r}: use some of {', '.join(METHODS)}")
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    records = Records(Path(out) / "records")
    if what == "choices":
        return _compare_choices(records, Path(out), runs, jobs, root, progress)
    plan = {
        table: (_tasks(table, datasets, features), list(methods or TABLE_METHODS[table]))
        for table in (TABLE_METHODS if what == "all" else [what])
    }
    wanted = [
        config
        for tasks, chosen in plan.values()
        for task in tasks
        for method in chosen
        for config in cells(task, method, preset, runs, classifiers)
    ]
    failures = run_cells(wanted, records, root=root, jobs=jobs, progress=progress)
    for table, (tasks, chosen) in plan.items():
        rows = [(method, classifier) for classifier in classifiers for method in chosen]
        print(f"\n{table}, preset {preset}\n")
        print(accuracy_table(records, [task.name for task in tasks], rows, preset))
    print(f"\nwritten: {write_page(records, out)}")
    return failures


def _compare_choices(
    records: Records, out: Path, runs: int, jobs: int, root: str | Path | None, progress: bool | None
) -> list[str]:
    """The authors' choices with one change at a time."""
    wanted = [
        config
        for name in CHOICE_TASKS
        for change in CHOICES.values()
        for config in cells(TASKS[name], "rpw", "authors", runs, **change)
    ]
    failures = run_cells(wanted, records, root=root, jobs=jobs, progress=progress)
    print(f"written: {write_page(records, out)}")
    return failures


def _tasks(table: str, datasets: Sequence[str] | None, features: str | None) -> list[Task]:
    """The tasks of a table; of the named datasets only, where some are named, with others that the paper has not."""
    listed = [TASKS[name] for name in TABLES[table]]
    if datasets is None:
        return listed
    chosen = [task for task in listed if task.dataset in datasets]
    known = {task.dataset for task in TASKS.values()}
    return chosen + [task_for(name, features) for name in datasets if name not in known]
