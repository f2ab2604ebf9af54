"""Means of curves on the cells of a regular grid: an orthogonal projection in L2, hence never longer than the curve."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .curves import Curves


def cell_averages(curves: Curves, n: int) -> Tensor:
    """Means of each curve on n equal cells [G, n, M, c].

    A curve of n equal steps is its own average. Exact up to rounding; differentiable in the values and step lengths.
    """
    G, (_, M, c) = len(curves), curves.values.shape
    if not curves.compiled:
        return _cell_averages_torch(curves, n)
    from . import kernels

    values = curves.values.detach().contiguous().numpy()
    if curves.steps is None:
        out = np.empty((G, n * M * c), dtype=values.dtype)
        kernels.cell_averages(values.reshape(len(values), M * c), curves.offsets, curves.sizes, n, out)
    else:
        out = np.zeros((G, n, M, c), dtype=values.dtype)
        kernels.cell_averages_weighted(values, curves.ends.detach().numpy(), curves.offsets, curves.sizes, n, out)
    return torch.from_numpy(out).view(G, n, M, c)


def _cell_averages_torch(curves: Curves, n: int) -> Tensor:
    """Differences of the running integral, in float64: it is linear inside a step."""
    G, (_, M, c) = len(curves), curves.values.shape
    device = curves.values.device
    grid = torch.arange(1, n + 1, dtype=torch.float64, device=device) / n
    ends = curves.ends if curves.steps is not None else curves.ends[:, :1]
    columns = ends.shape[1]
    # curve g lives on the time interval (g, g + 1], so one search serves all curves
    shifted = (ends.detach() + curves.owners.unsqueeze(1)).T.contiguous()
    wanted = (torch.arange(G, device=device).unsqueeze(1) + grid).view(1, -1).expand(columns, -1).contiguous()
    row = torch.searchsorted(shifted, wanted).T.view(G, n, columns)
    row = torch.minimum(row, torch.as_tensor(curves.offsets[1:] - 1, device=device).view(G, 1, 1))
    areas = curves.values.double() * curves.lengths.unsqueeze(2)
    integral = torch.cat([areas.new_zeros(1, M, c), areas.cumsum(0)])  # up to each row, over all curves at once
    direction, column = torch.arange(M, device=device), torch.arange(columns, device=device)
    missing = (ends[row, column] - grid.view(1, n, 1)).unsqueeze(3)  # of the step under way at each grid time
    at = integral[row + 1, direction] - missing * curves.values[row, direction]
    start = integral[torch.as_tensor(curves.offsets[:-1], device=device)].unsqueeze(1)
    return (torch.cat([start, at], 1).diff(dim=1) * n).to(curves.values.dtype)
