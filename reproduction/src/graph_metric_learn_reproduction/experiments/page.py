"""The results page, generated from records: README.md with its figures, and the same as one self-contained HTML file.

Its prose is in `pages/prose/results.md`; this module computes what stands between: tables, figures and sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from graph_metric_learn._core.files import write_atomic

from ..pages.plots import as_png
from ..pages.render import render_markdown, render_page
from . import figures
from .choices import CHOICE_TASKS, CHOICES, SEARCH, choice_rows, missed, tie_rows
from .comparisons import (
    UNCERTAINTY,
    best_rows,
    by_the_former_engine,
    chosen_rows,
    ingredient_rows,
    outside_rows,
    rival_rows,
)
from .edges import edge_choice_rows, edge_data_rows, edge_judgement, edge_rows
from .fair import fair_rows
from .judgements import graph_metric_judgement, sgml_judgement
from .molecules import molecule_copies, molecule_rows
from .outlook import number_rows, outlook_judgement, outlook_rows
from .records import Measured, Record
from .runtimes import runtime_rows, speed_judgement
from .settings import ROWS, SYSTEMS, TABLES, TASKS
from .tables import Rows, accuracy_rows, seconds_rows
from .unlabelled import unlabelled_cluster_rows, unlabelled_judgement, unlabelled_knn_rows

TITLE = "graph-metric-learn: results"


def write_page(records: Iterable[Record], out: str | Path) -> Path:
    """Writes README.md, its figures and index.html to `out`, from what is recorded so far; returns the HTML file."""
    out, measured = Path(out), Measured(records)
    drawn = {
        "figures/accuracy.png": figures.accuracy(measured),
        "figures/runtimes.png": figures.runtimes(measured),
        "figures/figure1.png": figures.figure1(measured),
        "figures/learning.png": figures.learning(measured),
    }
    images = {name: as_png(figure) for name, figure in drawn.items() if figure is not None}
    text = results_markdown(measured, images, gpu_limits(out / "bench" / "gpu.json"))
    for name, png in images.items():
        write_atomic(out / name, png, overwrite=True)
    write_atomic(out / "README.md", text, overwrite=True)
    page = render_page(TITLE, text, images)
    return write_atomic(out / "index.html", page, overwrite=True)


def results_markdown(records: Sequence[Record], images: Iterable[str], gpu: dict[str, Any] | None = None) -> str:
    """The page as Markdown; `images` are the figures there are, `gpu` what :func:`gpu_limits` read."""
    tasks = {table: [TASKS[name] for name in names] for table, names in TABLES.items()}
    accuracies = {table: accuracy_rows(records, tasks[table], ROWS[table]) for table in ROWS}
    accuracies["beyond"] += best_rows(records)
    below = missed(records)
    return render_markdown(
        "results.md",
        systems=[["", "what it is", "node features used"], *SYSTEMS],
        **accuracies,
        beyond_seconds=seconds_rows(records, tasks["beyond"], [("graphmetric", "head-knn"), ("rpw", "knn")]),
        sgml_judgement=sgml_judgement(records),
        graph_metric_judgement=graph_metric_judgement(records),
        edges=edge_rows(records),
        edge_data=edge_data_rows(records),
        edge_choices=edge_choice_rows(records),
        edge_judgement=edge_judgement(records),
        molecules=molecule_rows(records),
        copies=molecule_copies(records),
        fair=fair_rows(records),
        outlook=outlook_rows(records),
        outlook_numbers=number_rows(records),
        outlook_judgement=outlook_judgement(records),
        unlabelled_knn=unlabelled_knn_rows(records),
        unlabelled_clusters=unlabelled_cluster_rows(records),
        unlabelled_judgement=unlabelled_judgement(records),
        rivals=rival_rows(records),
        ingredients=ingredient_rows(records),
        chosen=chosen_rows(records),
        former_engine=by_the_former_engine(records),
        outside=outside_rows(records),
        uncertainty=f"{UNCERTAINTY:.0f}",
        choices=choice_rows(records, CHOICE_TASKS, CHOICES),
        ties=tie_rows(records),
        search=choice_rows(records, below, SEARCH) if below else [],
        runtimes=runtime_rows(records),
        speed_judgement=speed_judgement(records),
        seconds=[
            seconds_rows(records, tasks[table], _one_per_method(ROWS[table]))
            for table in ("table1", "table2", "table3")
        ],
        images=list(images),
        gpu=gpu,
    )


def _one_per_method(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each method with the first of its classifiers.

    >>> _one_per_method([("a", "knn"), ("b", "knn"), ("a", "svm")])
    [('a', 'knn'), ('b', 'knn')]
    """
    first: dict[str, str] = {}
    for method, classifier in rows:
        first.setdefault(method, classifier)
    return list(first.items())


def gpu_limits(path: Path) -> dict[str, Any] | None:
    """What `graph-metric-learn bench gpu` measured, if there is such a file."""
    if not path.is_file():
        return None
    measured = json.loads(path.read_text(encoding="utf-8"))
    rows: Rows = [["", "measured", "asked for"]]
    for target in measured["targets"]:
        limit = f"{'≤' if target['at_most'] else '≥'} {target['limit']:g}"
        rows.append([target["what"], f"{target['value']:.3g} {target['unit']}".strip(), limit])
    limits = measured["numbers"]["limits"]
    return {
        "name": measured["machine"]["gpu"],
        "product_teraflops": limits["product"] / 1e12,
        "copy_gigabytes": limits["copy"] / 1e9,
        "rows": rows,
    }
