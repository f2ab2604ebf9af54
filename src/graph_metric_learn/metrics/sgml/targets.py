"""What SGML learns from: classes or numbers, encoded, and checked against what the loss is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._core.validation import as_listed, one_of
from ...graphs import Graphs
from ...objectives import Classes, Numbers, Objective, objective_for
from ...objectives.classes import check_classes
from ...objectives.numbers import check_numbers
from .losses import named_loss, wants_vectors

TASKS = ("auto", "classes", "numbers", "none")
_NO_TARGETS = (
    'no class labels or numbers: pass y, or graphs that carry them (Data.y, or graph.graph["y"]); SGML learns from '
    "targets, GraphMetric also without"
)


class Targets(NamedTuple):
    """Targets of training graphs.

    Attributes
    ----------
    task : {"classes", "numbers"}
        What they are.
    objective : Classes or Numbers
        With what was learned from them: classes seen, mean and scale.
    encoded : ndarray
        Classes 0, 1, … [N], or standardised numbers [N, T], NaN where one is missing.
    """

    task: str
    objective: Objective
    encoded: np.ndarray


def encode_targets(task: str, loss: Any, graphs: Graphs, y: Any) -> Targets:
    """Targets of the graphs, from y or from the graphs themselves, for a loss that learns from such targets."""
    y = as_listed("targets", y)
    objective = objective_for(one_of("task", task, TASKS), graphs, y)
    if not objective.supervised:
        raise ValueError(_NO_TARGETS if task == "auto" else 'task="none": SGML learns from targets; use GraphMetric')
    found = task_of_objective(objective)
    check_loss_fits(loss, found)
    return Targets(found, objective, objective.encode(graphs, y))


def encode_more(objective: Objective, graphs: Graphs, y: Any) -> np.ndarray:
    """Targets of further graphs, encoded as the first were. Classes may be new; they are added to those seen."""
    if isinstance(objective, Numbers):
        table = check_numbers(graphs, y).reshape(len(graphs), -1)
        if table.shape[1] != len(objective.centre_):
            raise ValueError(f"{table.shape[1]} numbers per graph, the metric was fitted with {len(objective.centre_)}")
        return (table - objective.centre_) / objective.scale_
    assert isinstance(objective, Classes)
    labels = check_classes(graphs, y)
    objective.classes_ = np.unique(np.concatenate([objective.classes_, labels]))
    return np.searchsorted(objective.classes_, labels)


def task_of_objective(objective: Objective) -> str:
    """The name of the task that an objective stands for."""
    return "numbers" if isinstance(objective, Numbers) else "classes"


def check_loss_fits(loss: Any, task: str) -> None:
    """A `ValueError` if a loss does not learn from such targets; a function of the caller's own learns from any.

    >>> check_loss_fits("nca", "numbers")
    Traceback (most recent call last):
    ValueError: loss='nca' learns from classes, but the targets are numbers: use loss="mlkr"
    """
    named = named_loss(loss)
    wanted = "classes" if wants_vectors(loss) else None if named is None else named.task
    if wanted in (None, task):
        return
    name = repr(loss) if isinstance(loss, str) else type(loss).__name__
    advice = 'use loss="mlkr"' if task == "numbers" else 'use loss="nccml", or say task="numbers" if they are numbers'
    raise ValueError(f"loss={name} learns from {wanted}, but the targets are {task}: {advice}")
