"""Matplotlib figures that several reports share, and figures as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np


def as_png(figure: Any, *, dpi: int = 150, transparent: bool = False) -> bytes:
    """A `matplotlib.figure.Figure` as PNG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, transparent=transparent)
    return buffer.getvalue()


def times_against_paper(rows: Mapping[str, Mapping[str, float]]) -> Any:
    """A figure with bars of seconds by dataset, the paper's beside ours, one panel each for training and all distances.

    `rows` have "training", "distances", "paper_training" and "paper_distances" by dataset; nan is not drawn.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    positions = np.arange(len(rows))
    for axes, what in zip(figure.subplots(1, 2, sharey=True), ("training", "distances"), strict=True):
        axes.bar(positions - 0.2, [row[f"paper_{what}"] for row in rows.values()], 0.4, color="0.7", label="paper, GPU")
        axes.bar(positions + 0.2, [row[what] for row in rows.values()], 0.4, color="C3", label="here, two cores")
        axes.set_yscale("log")
        axes.set_xticks(positions, list(rows), rotation=40, ha="right", fontsize=8)
        axes.set_title("training, 10 epochs" if what == "training" else "all distances", fontsize=10)
        axes.grid(axis="y", alpha=0.3)
    figure.axes[0].set_ylabel("seconds")
    figure.axes[0].legend(fontsize=8)
    return figure


def times_by_points(times: Mapping[str, Sequence[tuple[int, float]]]) -> Any:
    """A figure with a line of (points, seconds) per method, on logarithmic axes; POT's methods are dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for number, (name, points) in enumerate(times.items()):
        style: dict[str, Any] = {"color": f"C{number}", "linestyle": "--" if "POT" in name else "-"}
        style["linewidth"] = 2.5 if name == "RPW2" else 1.2
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=3, label=name, **style)
    axes.set(xlabel="points per cloud (dimension 5)", ylabel="seconds", title="Time for one distance")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure
