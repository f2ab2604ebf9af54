"""SGML's options: checks before anything is computed, and which node features to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..._core.validation import one_of, whole_number
from ...graphs import as_graphs
from ...transport.curves import DISTANCES
from ...transport.ordering import check_ties
from .losses import resolve_loss
from .masses import MASSES

if TYPE_CHECKING:
    from .estimator import SGML

MAX_DEPTH = 1000  # hops
_LEAST = {"depth": 0, "n_components": 1, "n_epochs": 0, "batch_size": 2, "n_cells": 1}


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
    given = as_graphs(graphs)
    if given.x is not None:
        return "attributes" if given.labels is None else "fuse"
    return "degree" if given.labels is None else "labels"
