"""The results page, made from records: Markdown with plots beside it, and the same as one HTML file."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..bench.training import PAPER
from ..files import write_atomic
from ..plots import as_png, times_against_paper
from .settings import PUBLISHED, TABLES, TASKS, variant
from .tables import accuracy_table, matches, task_entry

Records = Sequence[dict[str, Any]]

# What the comparison of choices changes, against the authors' choices.
CHOICES: dict[str, dict[str, Any]] = {
    "authors' choices": {},
    "ties: canonical": {"ties": "canonical"},
    "propagation: A + I": {"propagation": "sum"},
    "NCCML: the paper's form": {"loss": "nccml-paper"},
    "no ReLU": {"activation": "none"},
    "Adam not restarted": {"restart_optimizer": False},
    "no batch of one class": {"batching": "covered"},
}
CHOICE_TASKS = ["MUTAG (degree)", "BZR (attributes)", "ENZYMES (labels)", "NCI1 (labels)"]


def write_page(records: Iterable[dict[str, Any]], out: str | Path) -> Path:
    """Writes README.md, its figures and index.html to `out`, from what is recorded so far."""
    out, found = Path(out), list(records)
    figures = {"accuracy.png": _accuracy_figure(found), "runtimes.png": _runtime_figure(found)}
    curves = _learning_curves(found)
    if curves:
        figures["learning.png"] = curves
    text = _markdown(found, list(figures))
    for name, data in figures.items():
        write_atomic(out / "figures" / name, data, overwrite=True)
    write_atomic(out / "README.md", text, overwrite=True)
    return write_atomic(out / "index.html", _html(text, figures), overwrite=True)


def _markdown(records: Records, figures: list[str]) -> str:
    all_rows = [("rpw", "knn"), ("rpw", "svm")]
    ablation = [(method, "knn") for method in ("rpw", "sw", "nca", "pw", "random")]
    parts = [
        "# Results",
        "The paper's experiments, run with `graph-metric-learn reproduce all`. Accuracy on the test part in percent, "
        "mean ± standard deviation over the splits (10 unless said otherwise); settings chosen by validation within "
        "the training part. Choices of the authors' code (preset `authors`) unless said otherwise. This page is made "
        "from the records beside it.",
        "## Tables 1 and 2: the learned metric",
        "### Discrete node features",
        accuracy_table(records, TABLES["table1"], all_rows),
        "### Continuous node features",
        accuracy_table(records, TABLES["table2"], all_rows),
        _image("accuracy.png", "Test accuracy against the paper's, with standard deviations"),
        _judgement(records),
        "## Table 3: ablation",
        "`random` is the same model with the matrix as it was drawn, untrained: what learning adds is the difference.",
        accuracy_table(records, TABLES["table3"], ablation),
        "## Which choices matter",
        "One change at a time, against the authors' choices; k-NN. In brackets: the share of node features that are "
        "exactly 0 after training.",
        _choices(records),
        "## Run times",
        "Mean seconds of the chosen setting, in the runs above (several at a time on two cores, so slower than alone; "
        "`graph-metric-learn bench training` measures alone).",
        _image("runtimes.png", "Seconds for training and for all distances, against the paper's"),
    ]
    if "learning.png" in figures:
        parts += ["## Learning curves", _image("learning.png", "Loss per graph over the epochs")]
    return "\n\n".join(parts) + "\n"


def _image(name: str, text: str) -> str:
    return f"![{text}](figures/{name})"


def _judgement(records: Records) -> str:
    """Where the k-NN means stand against the paper's, in a sentence or two."""
    gaps, missed = [], []
    for name in (*TABLES["table1"], *TABLES["table2"]):
        found = task_entry(records, name, "rpw", "knn", **variant("rpw", "authors"))
        published = PUBLISHED[name, "rpw", "knn"]
        if found is not None:
            gaps.append(found.mean - published[0])
            if found.mean < published[0] - (published[1] or 0.0):
                missed.append(f"{name} ({found.mean:.1f} against {published[0]:.1f} ± {published[1]:.1f})")
    if not gaps:
        return "Nothing measured yet."
    text = f"k-NN, {len(gaps)} of 11 cells measured: on average {np.mean(gaps):+.1f} points against the paper. "
    return text + (
        f"More than its own standard deviation below the paper: {', '.join(missed)}."
        if missed
        else "No cell is below the paper's mean by more than the paper's own standard deviation."
    )


def _choices(records: Records) -> str:
    lines = ["| choice | " + " | ".join(CHOICE_TASKS) + " |", "|---|" + "---:|" * len(CHOICE_TASKS)]
    for name, change in CHOICES.items():
        cells = []
        for task in CHOICE_TASKS:
            found = task_entry(records, task, "rpw", "knn", **variant("rpw", "authors", **change))
            cells.append("" if found is None else f"{found} ({100 * found.zeros:.0f} %)")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# --- figures -----------------------------------------------------------------------------------------------------


def _accuracy_figure(records: Records) -> bytes:
    from matplotlib.figure import Figure

    names = [*TABLES["table1"], *TABLES["table2"]]
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.add_subplot()
    for shift, (label, color) in enumerate((("paper, k-NN", "0.6"), ("here, k-NN", "C3"))):
        means, stds = [], []
        for name in names:
            found = task_entry(records, name, "rpw", "knn", **variant("rpw", "authors"))
            published = PUBLISHED[name, "rpw", "knn"]
            means.append(published[0] if shift == 0 else (found.mean if found else np.nan))
            stds.append((published[1] or 0.0) if shift == 0 else (found.std if found else np.nan))
        places = np.arange(len(names)) + 0.36 * shift - 0.18
        axes.bar(places, means, 0.36, yerr=stds, capsize=2, color=color, label=label, error_kw={"elinewidth": 0.8})
    axes.set_xticks(np.arange(len(names)), [name.replace(" (", "\n(") for name in names], fontsize=7)
    axes.set(ylabel="test accuracy, %", ylim=(30, 100))
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)
    return as_png(figure)


def _runtime_figure(records: Records) -> bytes:
    rows = {}
    for name, (features, training, distances) in PAPER.items():
        found = task_entry(records, f"{name} ({features})", "rpw", "knn", **variant("rpw", "authors"))
        rows[name] = {
            "training": found.training if found else np.nan,
            "distances": found.distances if found else np.nan,
            "paper_training": training,
            "paper_distances": distances,
        }
    return as_png(times_against_paper(rows))


def _learning_curves(records: Records) -> bytes | None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.add_subplot()
    drawn = 0
    for name, task in TASKS.items():
        losses = [
            record["result"]["loss"]
            for record in records
            if matches(record, dataset=task.dataset, features=task.features, classifier="knn", depth=2, n_epochs=10)
            and matches(record, method="rpw", **variant("rpw", "authors"))
        ]
        if losses:
            axes.plot(range(1, 11), np.mean(losses, axis=0), marker="o", markersize=3, label=name)
            drawn += 1
    axes.set(xlabel="epoch", ylabel="mean loss per graph", yscale="log")
    axes.grid(alpha=0.3)
    if drawn:
        axes.legend(fontsize=7, ncols=2)
    return as_png(figure) if drawn else None


# --- the page as HTML --------------------------------------------------------------------------------------------


def _html(markdown: str, figures: dict[str, bytes]) -> str:
    """The Markdown of this page (headings, paragraphs, tables, images) as one self-contained file."""
    body = []
    for block in markdown.strip().split("\n\n"):
        if block.startswith("#"):
            level = len(block) - len(block.lstrip("#"))
            body.append(f"<h{level}>{_inline(block.lstrip('# '))}</h{level}>")
        elif block.startswith("|"):
            body.append(_html_table(block.splitlines()))
        elif image := re.fullmatch(r"!\[(.*)\]\(figures/(.*)\)", block):
            data = base64.b64encode(figures[image[2]]).decode()
            body.append(f'<img alt="{html.escape(image[1])}" src="data:image/png;base64,{data}">')
        else:
            body.append(f"<p>{_inline(block)}</p>")
    return _PAGE.replace("BODY", "\n".join(body))


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _html_table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|--")]
    head = "".join(f"<th>{_inline(cell)}</th>" for cell in rows[0])
    rest = "".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f'<div class="wide"><table><tr>{head}</tr>{rest}</table></div>'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>graph-metric-learn: results</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 0.85rem; }
td, th { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; }
td + td, th + th { text-align: right; } .wide { overflow-x: auto; } img { max-width: 100%; }
</style></head><body>
BODY
</body></html>
"""
