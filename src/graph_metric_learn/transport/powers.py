"""Powers of costs, with gradient 0 instead of NaN where a cost is 0."""

from __future__ import annotations

import torch
from torch import Tensor


def power(costs: Tensor, exponent: float) -> Tensor:
    """costs ** exponent, for costs that are not negative; the gradient at 0 is 0.

    >>> cost = torch.zeros(1, requires_grad=True)
    >>> power(cost, 0.5).backward()
    >>> cost.grad
    tensor([0.])
    """
    if exponent == 1.0:
        return costs
    if not costs.requires_grad:
        return costs**exponent
    positive = costs > 0
    return torch.where(positive, torch.where(positive, costs, 1.0) ** exponent, 0.0)


def distances_from_squares(squares: Tensor, squared: bool) -> Tensor:
    """Distances, or, if `squared`, the squares as they are. Without gradients in place: no second matrix is needed."""
    if squared:
        return squares
    return power(squares, 0.5) if squares.requires_grad else squares.sqrt_()
