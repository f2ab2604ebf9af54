"""Which objective a task stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs import Graphs
from .base import OBJECTIVES, Objective
from .targets import given_targets, is_missing, task_of


def objective_for(task: str, graphs: Graphs, y: Any) -> Objective:
    """A new objective by name; "auto" is what the targets look like (see :func:`likely_task`)."""
    return OBJECTIVES[likely_task(given_targets(graphs, y)) if task == "auto" else task]()


def likely_task(y: np.ndarray | None) -> str:
    """What "auto" stands for: :func:`task_of`, but more classes than half of the graphs are refused."""
    name = task_of(y)
    if name == "classes" and y is not None:
        n_classes = len({one for one in y.reshape(-1).tolist() if not is_missing(one)})
        if n_classes > max(2, len(y) / 2):
            raise ValueError(
                f"{n_classes} classes for {len(y)} graphs are too many to learn from; where the targets are numbers "
                'rather than classes, say so: task="numbers"'
            )
    return name


def resolve_objective(task: str) -> Objective:
    """A new objective by its name; "auto", in models saved before there were others, is classes."""
    return OBJECTIVES["classes" if task == "auto" else task]()
