"""How SGML reads graphs, and what it says about what it leaves out or cannot hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...graphs import Graphs
from ...transport import Curves
from ...transport.embedded import LARGEST, first_bad_row
from .directed import DIRECTED
from .encoders import SGCN, encode, encode_measures, takes_batch

HINT = "edge_sums=True uses what edges carry"
_LOST = 0.01  # share of a column's deviation that rounding to float32 may take before it is said


def used_of_edges(metric: Any) -> set[str]:
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


def curves_of(metric: Any, given: Graphs) -> Curves:
    """Graphs that were read, as curves of a fitted metric."""
    ready = metric.node_features(given)
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
