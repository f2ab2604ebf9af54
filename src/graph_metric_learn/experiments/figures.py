"""The pictures of the results page, from records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bench.training import PAPER
from ..plots import as_png, times_against_paper, times_by_points
from .runtimes import figure_times, found_times
from .settings import PUBLISHED, TABLES, TASKS
from .systems import grid
from .tables import table_entry

Records = Sequence[dict[str, Any]]


def accuracy(records: Records) -> bytes:
    """k-NN and SVM on the learned metric against the paper's, with standard deviations."""
    from matplotlib.figure import Figure

    names = [*TABLES["table1"], *TABLES["table2"]]
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    for axes, classifier in zip(figure.subplots(2, 1, sharex=True), ("knn", "svm"), strict=True):
        published = [PUBLISHED[name, "rpw", classifier] for name in names]
        entries = [table_entry(records, TASKS[name], "rpw", classifier) for name in names]
        here = [(np.nan, np.nan) if isinstance(entry, str) else (entry.mean, entry.std) for entry in entries]
        for shift, label, color, numbers in ((-0.18, "paper", "0.6", published), (0.18, "here", "C3", here)):
            means, spreads = zip(*numbers, strict=True)
            places = np.arange(len(names)) + shift
            axes.bar(places, means, 0.36, yerr=spreads, capsize=2, color=color, label=label, error_kw={"lw": 0.8})
        axes.set(ylabel="test accuracy, %", ylim=(30, 100), title="k-NN" if classifier == "knn" else "SVM")
        axes.grid(axis="y", alpha=0.3)
        axes.legend(fontsize=8)
    axes.set_xticks(np.arange(len(names)), [name.replace(" (", "\n(") for name in names], fontsize=7)
    return as_png(figure)


def runtimes(records: Records) -> bytes:
    """Seconds of training and of all distances against the paper's."""
    found = found_times(records)
    return as_png(
        times_against_paper(
            {
                name: {**found[name], "paper_training": training, "paper_distances": distances}
                for name, (_, training, distances) in PAPER.items()
            }
        )
    )


def figure1(records: Records) -> bytes | None:
    """The paper's Figure 1."""
    times = figure_times(records)
    return as_png(times_by_points(times)) if times else None


def learning(records: Records) -> bytes | None:
    """Mean loss per graph over the epochs, at depth 2."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for name, task in TASKS.items():
        (setting,) = grid(task, "rpw", depth=2, n_epochs=10)
        place = {"dataset": task.dataset, "features": task.features, "method": "rpw", "classifier": "knn"}
        losses = [
            record["result"]["loss"]
            for record in records
            if record["config"]["model"] == setting and place.items() <= record["config"].items()
        ]
        if losses:
            axes.plot(range(1, 11), np.mean(losses, axis=0), marker="o", markersize=3, label=name)
    axes.set(xlabel="epoch", ylabel="mean loss per graph", yscale="log")
    axes.grid(alpha=0.3)
    if not axes.lines:
        return None
    axes.legend(fontsize=7, ncols=2)
    return as_png(figure)
