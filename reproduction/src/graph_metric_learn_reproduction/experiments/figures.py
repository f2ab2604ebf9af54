"""The figures of the results page, from records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pages.plots import times_against_paper, times_by_points
from .figure1 import figure_times
from .methods import grid
from .published import PUBLISHED, PUBLISHED_SECONDS
from .records import Record, matching
from .runtimes import recorded_times
from .settings import TABLES, TASKS
from .tables import Entry, table_entry


def accuracy(records: Sequence[Record]) -> Any:
    """Test accuracy of k-NN and SVM with SGML and GraphMetric beside the paper's, with standard deviations."""
    from matplotlib.figure import Figure

    names = [*TABLES["table1"], *TABLES["table2"]]
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    for axes, classifier in zip(figure.subplots(2, 1, sharex=True), ("knn", "svm"), strict=True):
        published = [PUBLISHED[name, "rpw", classifier] for name in names]
        ours = {"rpw": classifier, "graphmetric": {"knn": "head-knn", "svm": "head-svc"}[classifier]}
        measured = {
            method: [_mean_and_spread(table_entry(records, TASKS[name], method, chosen)) for name in names]
            for method, chosen in ours.items()
        }
        for shift, label, color, numbers in (
            (-0.2, "SGML, the paper", "0.5", published),
            (0.0, "SGML, here", "C3", measured["rpw"]),
            (0.2, "GraphMetric", "C0", measured["graphmetric"]),
        ):
            means, spreads = zip(*numbers, strict=True)
            positions = np.arange(len(names)) + shift
            axes.errorbar(positions, means, spreads, fmt="o", markersize=5, capsize=2, lw=0.8, color=color, label=label)
        axes.set(ylabel="test accuracy, %", title="k-NN" if classifier == "knn" else "SVM")
        axes.grid(axis="y", alpha=0.3)
        axes.legend(fontsize=8, loc="lower left")
    axes.set_xticks(np.arange(len(names)), [name.replace(" (", "\n(") for name in names], fontsize=7)
    return figure


def _mean_and_spread(entry: Entry | str) -> tuple[float, float]:
    """Mean and standard deviation; nan, which is not drawn, where there is no number."""
    return (np.nan, np.nan) if isinstance(entry, str) else (entry.mean, entry.std)


def runtimes(records: Sequence[Record]) -> Any:
    """Seconds for training and for all distances beside the paper's."""
    times = recorded_times(records)
    return times_against_paper(
        {
            name: {**times[name], "paper_training": training, "paper_distances": distances}
            for name, (_, training, distances, *_) in PUBLISHED_SECONDS.items()
        }
    )


def figure1(records: Sequence[Record]) -> Any:
    """The paper's Figure 1, seconds against points per cloud; None where nothing is recorded."""
    times = figure_times(records)
    return times_by_points(times) if times else None


def learning(records: Sequence[Record]) -> Any:
    """Mean loss per graph over the epochs, at depth 2; None where nothing is recorded."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for number, (name, task) in enumerate(TASKS.items()):
        (setting,) = grid(task, "rpw", depth=2, n_epochs=10)
        wanted = {"dataset": task.dataset, "features": task.features, "method": "rpw", "classifier": "knn"}
        losses = [record["result"]["loss"] for record in matching(records, **wanted, model=setting)]
        if losses:
            color = f"C{number}" if number < 10 else "black"  # matplotlib's cycle has ten colours
            axes.plot(range(1, 11), np.mean(losses, axis=0), marker="o", markersize=3, color=color, label=name)
    axes.set(xlabel="epoch", ylabel="mean loss per graph", yscale="log")
    axes.grid(alpha=0.3)
    if not axes.lines:
        return None
    figure.legend(fontsize=7, loc="outside right center")
    return figure
