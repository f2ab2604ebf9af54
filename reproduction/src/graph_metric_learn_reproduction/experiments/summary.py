"""The summary of the results: both metrics against the paper's numbers, and its place in a Markdown file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from graph_metric_learn._core.files import write_atomic

from ..pages.render import render_markdown
from .edges import edge_judgement
from .judgements import graph_metric_judgement, sgml_judgement
from .outlook import outlook_judgement
from .published import PUBLISHED
from .records import Measured, Record
from .settings import TABLES, TASKS
from .tables import Rows, published_text, table_entry
from .unlabelled import unlabelled_judgement

_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"


def summary(records: Sequence[Record]) -> str:
    """A short Markdown table and a few sentences."""
    return render_markdown(
        "summary.md",
        accuracies=_accuracies(records),
        sgml_judgement=sgml_judgement(records),
        graph_metric_judgement=graph_metric_judgement(records),
        edge_judgement=edge_judgement(records),
        outlook_judgement=outlook_judgement(records),
        unlabelled_judgement=unlabelled_judgement(records),
    ).rstrip("\n")


def _accuracies(records: Sequence[Record]) -> Rows:
    head = ["", "largest class"]
    head += [f"{who} {kind}" for kind in ("k-NN", "SVM") for who in ("paper's SGML", "SGML", "GraphMetric")]
    rows = [head]
    for task in (TASKS[name] for name in TABLES["beyond"]):
        cells = [task.name, str(table_entry(records, task, "largest-class", "own"))]
        for classifier, ours in (("knn", "head-knn"), ("svm", "head-svc")):
            cells += [
                published_text(PUBLISHED[task.name, "rpw", classifier]),
                str(table_entry(records, task, "rpw", classifier)),
                str(table_entry(records, task, "graphmetric", ours)),
            ]
        rows.append(cells)
    return rows


def renew_summary(records: Iterable[Record], path: str | Path) -> None:
    """Replaces what is between the two marks of a Markdown file by the summary."""
    path = Path(path)
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{path} has no lines {_BEGIN} and {_END} to put the summary between")
    write_atomic(path, f"{before}{begin}\n\n{summary(Measured(records))}\n\n{end}{after}", overwrite=True)
