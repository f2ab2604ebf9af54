"""Which objective a task stands for."""

from __future__ import annotations

from typing import Any

from ..graphs import Graphs
from .base import OBJECTIVES, Objective
from .targets import given_targets, is_missing, task_of


def objective_for(task: str, graphs: Graphs, y: Any) -> Objective:
    """A new objective by name; "auto" is what the targets look like (see :func:`task_of`)."""
    if task != "auto":
        return OBJECTIVES[task]()
    given = given_targets(graphs, y)
    name = task_of(given)
    if name == "classes" and given is not None:
        n_classes = len({one for one in given.reshape(-1).tolist() if not is_missing(one)})
        if n_classes > max(2, len(given) / 2):
            raise ValueError(
                f"{n_classes} classes for {len(given)} graphs are too many to learn from; where the targets are "
                'numbers rather than classes, say so: task="numbers"'
            )
    return OBJECTIVES[name]()


def resolve_objective(task: str) -> Objective:
    """A new objective by its name; "auto", in models saved before there were others, is classes."""
    return OBJECTIVES["classes" if task == "auto" else task]()
