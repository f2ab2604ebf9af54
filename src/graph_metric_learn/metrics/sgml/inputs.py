"""What goes into SGML, checked: its options, what it uses of graphs, and targets that its loss can learn from."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..._core.validation import as_listed, one_of, whole_number
from ...graphs import Graphs, as_graphs
from ...objectives import Classes, Numbers, Objective, objective_for
from ...objectives.classes import check_classes
from ...objectives.numbers import check_numbers
from ...transport import Curves
from ...transport.curves import DISTANCES
from ...transport.embedded import LARGEST, first_bad_row
from ...transport.ordering import check_ties
from .encoders import DIRECTED, MASSES, SGCN, encode, encode_measures, takes_batch
from .losses import named_loss, resolve_loss, wants_vectors

if TYPE_CHECKING:
    from .estimator import SGML

MAX_DEPTH = 1000  # hops
_LEAST = {"depth": 0, "n_components": 1, "n_epochs": 0, "batch_size": 2, "n_cells": 1}
HINT = "edge_sums=True uses what edges carry"
_LOST = 0.01  # share of a column's deviation that rounding to float32 may take before it is said
TASKS = ("auto", "classes", "numbers", "none")
_NO_TARGETS = (
    'no class labels or numbers: pass y, or graphs that carry them (Data.y, or graph.graph["y"]); SGML learns from '
    "targets, GraphMetric also without"
)

# --- options ---------------------------------------------------------------------------------------------------------


def check_options(metric: SGML) -> None:
    """A `ValueError` that names the first option of a metric that cannot be used."""
    for name, least in _LEAST.items():
        whole_number(name, getattr(metric, name), least)
    if metric.depth > MAX_DEPTH:
        raise ValueError(f"depth must be at most {MAX_DEPTH}, got {metric.depth}")
    if not (np.isfinite(metric.learning_rate) and metric.learning_rate > 0):
        raise ValueError(f"learning_rate must be positive, got {metric.learning_rate!r}")
    one_of("distance", metric.distance, DISTANCES)
    if check_ties(metric.ties) == "optimal":
        raise ValueError('ties="optimal" is for single pairs: train with ties="canonical"')
    resolve_loss(metric.loss)
    if metric.encoder is not None and not isinstance(metric.encoder, torch.nn.Module):
        raise ValueError(f"encoder must be a torch.nn.Module, got {type(metric.encoder).__name__}")
    if one_of("masses", metric.masses, MASSES) == "learned" and metric.encoder is not None:
        raise ValueError(
            'masses="learned" goes by the features that the built-in encoder propagates: leave encoder=None'
        )


def default_features(graphs: Any) -> str:
    """All node features that graphs have, by the name that `SGML(features=…)` takes; their degrees without any.

    >>> import networkx as nx
    >>> default_features([nx.path_graph(3)])
    'degree'
    """
    graphs = as_graphs(graphs)
    if graphs.x is not None:
        return "attributes" if graphs.labels is None else "fuse"
    return "degree" if graphs.labels is None else "labels"


# --- graphs ----------------------------------------------------------------------------------------------------------


def used_of_edges(metric: SGML) -> set[str]:
    """What an SGML metric uses of edges, beside that they are there (see :func:`warn_unused`)."""
    everything = {"edge labels", "edge vectors", "edge weights", "edge directions"}
    if metric.edge_sums:
        return everything
    if metric.encoder is not None:
        return set() if takes_batch(metric.encoder) else everything
    return {"edge weights", "edge directions"} if metric.propagation in DIRECTED else {"edge weights"}


def in_range(points: Tensor, sizes: np.ndarray) -> Tensor:
    """Encoded nodes [S, p] of graphs of these sizes [G], if they are numbers that can be squared."""
    bad = first_bad_row(points)
    if bad is not None:
        raise ValueError(
            f"the nodes of graph {int(np.searchsorted(np.cumsum(sizes), bad, side='right'))} are encoded as numbers "
            f"that are NaN, infinite or beyond {LARGEST[points.dtype]:g}: what it carries is too large"
        )
    return points


def curves_of(metric: SGML, graphs: Graphs) -> Curves:
    """Graphs that were read, as curves of a fitted metric."""
    ready = metric.node_features(graphs)
    with torch.no_grad():
        points, masses = encode_measures(metric.module_, ready)
        return metric.rule_.curves(in_range(points, ready.sizes), ready.sizes, masses, numpy=True)


def warn_of_zeros(module: nn.Module, graphs: Graphs) -> None:
    """One `UserWarning` if an encoder makes zeros of all nodes: all distances are then 0."""
    with torch.no_grad():
        dead = isinstance(module, SGCN) and not bool(encode(module, graphs).any())
    if dead:
        warnings.warn(
            "all encoded features are 0 after training, and with them all distances: try another random_state, a "
            'smaller learning_rate, features="attributes" (which centres them) or activation="none"',
            UserWarning,
            stacklevel=5,
        )


def warn_of_offsets(x: np.ndarray) -> None:
    """One `UserWarning` if columns of x [S, q] lie so far from 0 that float32 rounds off much of how they vary.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_offsets(np.array([[1e8, 1.0], [1e8 + 1, 2.0]]))
    >>> str(caught[0].message)[:43]
    'node features in column 0 lie so far from 0'
    """
    largest = np.abs(x).max(0).astype(np.float64)
    spread = x.std(0, dtype=np.float64)
    varies = spread > 1e-12 * largest
    lost = varies & (_LOST * spread < largest * np.finfo(np.float32).eps / 2)
    if lost.any():
        columns = ", ".join(map(str, np.flatnonzero(lost)[:5])) + (", …" if lost.sum() > 5 else "")
        warnings.warn(
            f"node features in column {columns} lie so far from 0, compared with how they vary, that float32 rounds "
            'much of it off: features="attributes" centres them first',
            UserWarning,
            stacklevel=6,  # the line that called `fit`
        )


# --- targets ---------------------------------------------------------------------------------------------------------


class Targets(NamedTuple):
    """Targets of training graphs."""

    task: str  # "classes" or "numbers"
    objective: Objective  # with what was learned from them: classes seen, mean and scale
    encoded: np.ndarray  # classes 0, 1, … [N], or standardised numbers [N, T], NaN where one is missing


def encode_targets(task: str, loss: Any, graphs: Graphs, y: Any) -> Targets:
    """Targets of the graphs, from y or from the graphs themselves, for a loss that learns from such targets."""
    y = as_listed("targets", y)
    objective = objective_for(one_of("task", task, TASKS), graphs, y)
    if not objective.supervised:
        raise ValueError(_NO_TARGETS if task == "auto" else 'task="none": SGML learns from targets; use GraphMetric')
    kind = task_of_objective(objective)
    check_loss_fits(loss, kind)
    return Targets(kind, objective, objective.encode(graphs, y))


def encode_more(objective: Objective, graphs: Graphs, y: Any) -> np.ndarray:
    """Targets of further graphs [N] or [N, T], encoded as the first were. New classes are added to those seen."""
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
