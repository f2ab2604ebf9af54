"""All experiments from one call, that of `graph-metric-learn reproduce`: tables, comparisons, run times, the page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from graph_metric_learn._core.validation import one_of, whole_number

from ..pages.markdown import table as as_markdown
from .choices import choice_cells, tie_cells
from .edges import edge_cells, edge_datasets, edge_rows, network_cells
from .fair import fair_cells, fair_rows
from .figure1 import measure_figure
from .methods import baseline, has_own_classifier, method_names, missing_packages
from .molecules import MOLECULE_RIVALS, molecule_cells, molecule_rows
from .outlook import number_cells, number_rows, outlook_cells, outlook_rows
from .page import write_page
from .records import Measured, Records
from .runner import cells, run_cells
from .runtimes import measure_datasets, runtime_rows
from .settings import GRAPHMETRIC_VARIANTS, HEADS, PARTS, PRESETS, ROWS, TABLES, TASKS, Task, task_for
from .summary import renew_summary
from .tables import Rows, accuracy_rows
from .unlabelled import unlabelled_cells, unlabelled_cluster_rows, unlabelled_knn_rows


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
    molecules: str | Path | None = None,
    splits: str | Path | None = None,
    readme: str | Path | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Runs what is missing of one part or all, prints its tables, writes the page, and returns the failures.

    Parameters
    ----------
    what : str
        Which part, one of `PARTS`: "edges" compares GraphMetric with and without edge data, beside GINE, "choices"
        compares ties, propagation, loss, ReLU and Adam one by one, "outlook" measures what the paper left for later,
        and metrics without labels; or "all".
    out : path
        Folder. Results are kept in its subfolder `records` and not computed again.
    datasets : sequence of str, optional
        Only these, also TU datasets that the paper does not have; by default those of the table.
    features : str, optional
        Node features of datasets that the paper does not have.
    methods, classifiers : sequence of str, optional
        By default those of the table. With `methods`, "all" is all tables.
    preset : {"authors", "paper", "default"}
        Settings of SGML.
    runs : int
        Number of splits.
    jobs, backend : optional
        As joblib takes them; run times are measured one at a time.
    root : path, optional
        Folder with the datasets.
    molecules, splits : path, optional
        Folders with ESOL.csv, Lipophilicity.csv and BACE.csv, and with NAME.json: without them, "all" leaves out the
        parts "molecules" and "fair", and "outlook" its numbers.
    readme : path, optional
        Markdown file whose summary, between two marks, is renewed.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Returns
    -------
    list of str
        A line for each group of cells that failed.
    """
    one_of("part", what, (*PARTS, "all"))
    one_of("preset", preset, PRESETS)
    whole_number("runs", runs, 1)
    for method in methods or ():
        one_of("method", method, method_names())
    parts = _parts(what, methods, {"molecules": ("molecules", molecules), "fair": ("splits", splits)})
    records = Records(Path(out) / "records")
    run = partial(run_cells, records=records, root=root, jobs=jobs, backend=backend, progress=progress)
    tables = [
        (table, _tasks(table, datasets, features), _rows(table, methods, classifiers))
        for table in parts
        if table in ROWS
    ]
    failures = run(
        config
        for _, tasks, rows in tables
        for task in tasks
        for method, classifier in rows
        for config in cells(task, method, preset, runs, [classifier])
    )
    for table, tasks, rows in tables:
        _show(f"{table}, preset {preset}", accuracy_rows(Measured(records), tasks, rows, preset))
    for part in parts:
        if part in _BESIDE:
            failures += _run_beside(part, records, run, runs, datasets, molecules, splits)
    if "runtimes" in parts:
        measure_datasets(records, root=root, datasets=datasets)
        _show("run times", runtime_rows(records))
    if "figure1" in parts:
        measure_figure(records)
    print(f"\nwritten: {write_page(records, out)}")
    if readme is not None:
        renew_summary(records, readme)
    return failures


_BESIDE = ("edges", "molecules", "fair", "outlook", "choices")  # parts beside the paper's tables


def _run_beside(
    part: str,
    records: Records,
    run: Callable[..., list[str]],
    runs: int,
    datasets: Sequence[str] | None,
    molecules: str | Path | None,
    splits: str | Path | None,
) -> list[str]:
    """Runs what is missing of one part and prints its tables; returns the failures."""
    folder = splits if part == "fair" else molecules
    tables: dict[str, Callable[[Measured], Rows]] = {}
    if part == "edges":
        named = edge_datasets(datasets)
        wanted = [*edge_cells(named, runs), *network_cells(named, runs)]
        tables = {"edge data": lambda records: edge_rows(records, named)}
    elif part == "molecules":
        wanted = molecule_cells(runs, datasets, _installed(MOLECULE_RIVALS))
        tables = {"molecules": molecule_rows}
    elif part == "fair":
        wanted = fair_cells(min(runs, 10), datasets)
        tables = {"fair comparison": fair_rows}
    elif part == "outlook":
        wanted = [*outlook_cells(runs, datasets), *unlabelled_cells(runs, datasets)]
        if molecules is None:
            where = "molecules=…, on the command line --molecules FOLDER"
            print(f"numbers are left out of the outlook: they need a folder, {where}", file=sys.stderr)
        else:
            wanted += number_cells(runs, datasets)
        tables = {
            "outlook": outlook_rows,
            "numbers": number_rows,
            "without labels, k-NN": unlabelled_knn_rows,
            "without labels, clusters": unlabelled_cluster_rows,
        }
    else:
        wanted = [*choice_cells(records, runs), *tie_cells(runs)]
    failures = run(wanted, folder=folder)
    for name, rows in tables.items():
        _show(name, rows(Measured(records)))
    return failures


def _parts(what: str, methods: Sequence[str] | None, needs: Mapping[str, tuple[str, str | Path | None]]) -> list[str]:
    """What is run; `needs` has the option and the folder without which a part is left out of "all"."""
    parts = [what] if what != "all" else list(ROWS if methods else PARTS)
    for part, (option, folder) in needs.items():
        if part in parts and folder is None:
            where = f"{option}=…, on the command line --{option} FOLDER"
            if what == part:
                raise ValueError(f"{part} needs a folder: {where}")
            parts.remove(part)
            print(f"{part} is left out: it needs a folder, {where}", file=sys.stderr)
    return parts


def _show(what: str, rows: Rows) -> None:
    """Prints a table, if it has rows."""
    if rows:
        print(f"\n{what}\n\n{as_markdown(rows)}")


def _tasks(table: str, datasets: Sequence[str] | None, features: str | None) -> list[Task]:
    """The tasks of a table; if `datasets` are named, only those, along with named ones that the paper does not have."""
    listed = [TASKS[name] for name in TABLES[table]]
    if datasets is None:
        return listed
    chosen = [task for task in listed if task.dataset in datasets]
    ours = {task.dataset for task in TASKS.values()}
    return chosen + [task_for(name, features) for name in datasets if name not in ours]


def _default(method: str) -> list[str]:
    """The classifier of a method that a table does not have."""
    return ["head-knn" if method in GRAPHMETRIC_VARIANTS else "knn"]


def _rows(table: str, methods: Sequence[str] | None, classifiers: Sequence[str] | None) -> list[tuple[str, str]]:
    """The (method, classifier) rows of a table, or of the named methods and classifiers, if they are installed."""
    rows = ROWS[table]
    if methods is not None:
        listed = {method: [c for m, c in rows if m == method] for method in methods}
        rows = [
            (method, classifier)
            for method in methods
            for classifier in (
                ["own"] if has_own_classifier(method) else classifiers or listed[method] or _default(method)
            )
            if classifier == "own" or (classifier in HEADS) == (method in GRAPHMETRIC_VARIANTS)
        ]
    elif classifiers is not None:
        rows = [(method, classifier) for method, classifier in rows if classifier in (*classifiers, "own")]
    installed = _installed(dict.fromkeys(method for method, _ in rows))
    return [(method, classifier) for method, classifier in rows if method in installed]


def _installed(methods: Iterable[str]) -> list[str]:
    """Those of the methods whose packages are installed; says which are not."""
    installed = []
    for method in methods:
        if missing := missing_packages(method):
            what = baseline(method)[0].comes_with
            print(f"{method} is left out: it needs {', '.join(missing)}; install {what}", file=sys.stderr)
        else:
            installed.append(method)
    return installed
