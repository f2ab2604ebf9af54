"""Vectors of a fixed length for curves: for vector indices, maps, and losses that want embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .curves import Curves, as_curves
from .grids import cell_averages

KINDS = ("average", "sample")


def curve_vectors(measures: Any, n_cells: int = 16, *, kind: str = "average", **options: Any) -> Any:
    """Vectors whose Euclidean distance stands for the distance between the measures [N, n_cells · M · c].

    Parameters
    ----------
    measures : list of arrays [n_i, p], or Curves
        Clouds, or their curves.
    n_cells : int
        How many cells T the time interval is divided into.
    kind : {"average", "sample"}
        "average": means on the cells, an orthogonal projection of the curves, so the Euclidean distance is **never more
        than** the true one: filter by vectors, check the survivors, and the neighbours are exact.
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
    if kind not in KINDS:
        raise ValueError(f"unknown kind={kind!r}: use one of {', '.join(map(repr, KINDS))}")
    if n_cells != int(n_cells) or n_cells < 1:
        raise ValueError(f"n_cells must be a positive whole number, got {n_cells!r}")
    if isinstance(measures, Curves) and options:
        raise ValueError(f"{', '.join(options)}: part of curves already, give them to as_curves()")
    walked = measures if isinstance(measures, Curves) else as_curves(measures, **options)
    cells = (cell_averages if kind == "average" else cell_samples)(walked, int(n_cells))
    return walked.wrap(cells.flatten(1) / np.sqrt(n_cells * walked.n_directions))


def cell_samples(curves: Curves, n: int) -> Tensor:
    """Values of each curve at the middles of n equal cells [G, n, M, c]."""
    device = curves.values.device
    G, M = len(curves), curves.n_directions
    direction = torch.arange(M, device=device)
    if curves.steps is None:  # floor((i + 1/2) m / n), in whole numbers
        place = (2 * np.arange(n)[None] + 1) * curves.sizes[:, None] // (2 * n)
        return curves.values[torch.from_numpy(place + curves.offsets[:-1, None]).to(device)]
    times = (torch.arange(n, dtype=torch.float64, device=device) + 0.5) / n
    shifted = (curves.ends.detach() + curves.owners.unsqueeze(1)).T.contiguous()
    wanted = (torch.arange(G, device=device).unsqueeze(1) + times).view(1, -1).expand(M, -1).contiguous()
    row = torch.searchsorted(shifted, wanted, right=True).T.view(G, n, M)
    row = torch.minimum(row, torch.as_tensor(curves.offsets[1:] - 1, device=device).view(G, 1, 1))
    return curves.values[row, direction]
