"""Curves on the cells of a regular grid: averages, which are an orthogonal projection in L2, and samples.

Cell averages are the differences of a curve's running integral at i / n. Four implementations compute them, chosen in
`cell_averages`. Three more stand elsewhere: the training of SGML makes those of a whole batch on all its grids at once
(`batch_distances`, and `padded_distances` for many models), and `embeddings.axes` those of points that share a place.

1. `kernels.averages.cell_averages`, compiled: CPU, no gradients, equal steps.
2. `kernels.averages.cell_averages_weighted`, compiled: CPU, no gradients, steps of any length.
3. `kernels.triton_averages`, Triton: GPUs, no gradients, equal steps.
4. `_cell_averages_torch`, torch: gradients, steps of any length on GPUs, and GPUs without Triton.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._core.validation import one_of
from .curves import Curves, as_curves
from .embedded import Embedded

KINDS = ("average", "sample")


def cell_averages(curves: Curves, n: int) -> Tensor:
    """Means of each curve on n equal cells [G, n, M, c], by the implementation that fits the curves.

    A curve of n equal steps is its own average. Exact up to rounding; differentiable in the values and step lengths.
    """
    G, (_, M, c) = len(curves), curves.values.shape
    if curves.steps is None and not curves.wants_grad and has_kernels(curves.values.device):
        from .kernels import triton_averages

        out = curves.values.new_empty(G, n * M * c)
        starts, sizes = (torch.from_numpy(x).to(out.device) for x in (curves.offsets[:-1], curves.sizes))
        flat = curves.values.detach().reshape(-1, M * c)
        triton_averages.cell_averages(flat, starts, sizes, int(curves.sizes.max()), n, out)
        return out.view(G, n, M, c)
    if not curves.compiled:
        return _cell_averages_torch(curves, n)
    from .kernels import averages as kernels

    values = curves.values.detach().contiguous().numpy()
    if curves.steps is None:
        averages = np.empty((G, n * M * c), dtype=values.dtype)
        kernels.cell_averages(values.reshape(len(values), M * c), curves.offsets, curves.sizes, n, averages)
    else:
        averages = np.zeros((G, n, M, c), dtype=values.dtype)
        kernels.cell_averages_weighted(values, curves.ends.detach().numpy(), curves.offsets, curves.sizes, n, averages)
    return torch.from_numpy(averages).view(G, n, M, c)


def cell_samples(curves: Curves, n: int) -> Tensor:
    """Values of each curve at the middles of n equal cells [G, n, M, c]."""
    device = curves.values.device
    M = curves.n_directions
    if curves.steps is None:  # floor((i + 1/2) m / n), in whole numbers
        steps = (2 * np.arange(n)[None] + 1) * curves.sizes[:, None] // (2 * n)
        return curves.values[torch.from_numpy(steps + curves.offsets[:-1, None]).to(device)]
    times = (torch.arange(n, dtype=torch.float64, device=device) + 0.5) / n
    return curves.values[_rows_at(curves, curves.ends, times, right=True), torch.arange(M, device=device)]


def _rows_at(curves: Curves, ends: Tensor, times: Tensor, *, right: bool = False) -> Tensor:
    """The row of the step that is under way at each of n times, or (not right) just before it [G, n, columns].

    ends [S, columns]: when the steps end, along all directions or the first.
    """
    G, columns, device = len(curves), ends.shape[1], ends.device
    # the times of curve g are shifted to (g, g + 1], so that one search serves all curves
    shifted = (ends.detach() + curves.owners.unsqueeze(1)).T.contiguous()
    wanted = (torch.arange(G, device=device).unsqueeze(1) + times).view(1, -1).expand(columns, -1).contiguous()
    row = torch.searchsorted(shifted, wanted, right=right).T.view(G, len(times), columns)
    return torch.minimum(row, torch.as_tensor(curves.offsets[1:] - 1, device=device).view(G, 1, 1))


def has_kernels(device: torch.device) -> bool:
    """Whether Triton can compile for this device; without it torch does the same, several times slower."""
    if device.type != "cuda":
        return False
    from .kernels import triton_averages

    return triton_averages.triton is not None


def running_sums(values: Tensor) -> Tensor:
    """Cumulated sums of the rows, from 0 to the sum of all rows [S + 1, …] in float64.

    Computed along the last dimension, where a scan is as fast as a copy; along the first it is hundreds of times slower
    on GPUs.
    """
    flat = values.double().flatten(1).T.contiguous()
    sums = torch.cat([flat.new_zeros(len(flat), 1), flat.cumsum(1)], 1)
    return sums.T.reshape(len(values) + 1, *values.shape[1:])


def _cell_averages_torch(curves: Curves, n: int) -> Tensor:
    """Differences of the running integral, in float64; the integral is linear inside a step."""
    device = curves.values.device
    grid = torch.arange(1, n + 1, dtype=torch.float64, device=device) / n
    ends = curves.ends if curves.steps is not None else curves.ends[:, :1]
    row = _rows_at(curves, ends, grid)
    integral = running_sums(curves.values.double() * curves.lengths.unsqueeze(2))  # through all curves
    direction, column = (torch.arange(count, device=device) for count in (curves.n_directions, ends.shape[1]))
    left = (ends[row, column] - grid.view(1, n, 1)).unsqueeze(3)  # time left in the step at each grid time
    at = integral[row + 1, direction] - left * curves.values[row, direction]
    start = integral[torch.as_tensor(curves.offsets[:-1], device=device)].unsqueeze(1)
    return (torch.cat([start, at], 1).diff(dim=1) * n).to(curves.values.dtype)


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
    if not isinstance(measures, Embedded):
        curves = as_curves(measures, **options)
    elif options:
        raise ValueError(f"{', '.join(options)}: part of {measures.kind} already, give them to as_curves()")
    else:
        measures.check_numbers()
        curves = measures.as_step_functions()
    cells = (cell_averages if kind == "average" else cell_samples)(curves, int(n_cells))
    return curves.wrap(cells.flatten(1) / np.sqrt(n_cells * curves.n_directions))
