"""Curves as vectors of a fixed length: for vector indices, maps, and losses that need embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.validation import one_of
from .curves import as_curves
from .embedded import Embedded
from .grids import cell_averages, cell_samples

KINDS = ("average", "sample")


def curve_vectors(measures: Any, n_cells: int = 16, *, kind: str = "average", **options: Any) -> Any:
    """Vectors whose Euclidean distance stands for the distance between the measures [N, n_cells · M · c].

    Parameters
    ----------
    measures : list of arrays [n_i, p], or Curves, or Vectors
        Clouds, or what they are embedded as.
    n_cells : int
        How many cells T the time interval is divided into.
    kind : {"average", "sample"}
        "average": means on the cells, an orthogonal projection of the curves, so the Euclidean distance is **never more
        than** the true one: discard candidates by it, compute the rest exactly, and the neighbours are exact.
        "sample": values at the middle of the cells, on average closer to the true distance, but no bound.
        Both are exact when T is a common multiple of all sizes (and the weights are uniform).
    **options
        Passed to :func:`as_curves` when clouds are given: metric, weights, projections, …

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> rng = np.random.default_rng(0)
    >>> clouds = [rng.normal(size=(n, 2)) for n in (4, 6)]
    >>> exact = gml.rpw_distance(*clouds)
    >>> u, v = gml.curve_vectors(clouds, 12)                       # 12 is a multiple of both sizes
    >>> bool(np.isclose(np.linalg.norm(u - v), exact))
    True
    >>> u, v = gml.curve_vectors(clouds, 3)
    >>> bool(np.linalg.norm(u - v) <= exact)
    True
    """
    one_of("kind", kind, KINDS)
    if n_cells != int(n_cells) or n_cells < 1:
        raise ValueError(f"n_cells must be a positive whole number, got {n_cells!r}")
    if isinstance(measures, Embedded) and options:
        raise ValueError(f"{', '.join(options)}: part of {measures.kind} already, give them to as_curves()")
    if isinstance(measures, Embedded):
        measures.check_numbers()
    walked = measures.as_step_functions() if isinstance(measures, Embedded) else as_curves(measures, **options)
    cells = (cell_averages if kind == "average" else cell_samples)(walked, int(n_cells))
    return walked.wrap(cells.flatten(1) / np.sqrt(n_cells * walked.n_directions))
