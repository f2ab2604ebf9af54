"""Learned masses of nodes: a softmax within each graph, whose sums do not depend on how nodes are numbered."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

MASSES = ("uniform", "learned")
_FINEST = 2.0**-40  # masses are multiples of it: sums of up to 8192 of them are exact in float64, in any order


def softmax_within(scores: Tensor, sizes: np.ndarray) -> Tensor:
    """Masses proportional to exp(score) that add up to 1 in each graph [S], float64; differentiable.

    They are rounded to multiples of 2^-40, and are no smaller than that: sums are then the same in any order of the
    nodes, so that a graph and its renumbering are at distance 0. The gradient is that of the softmax.

    Parameters
    ----------
    scores : Tensor [S]
        One per node, graph after graph.
    sizes : ndarray [G]
        Nodes of each graph.

    Examples
    --------
    >>> softmax_within(torch.tensor([0.0, 0.0, 5.0, 5.0, 5.0, 5.0]), np.array([2, 4]))
    tensor([0.5000, 0.5000, 0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """
    scores, count = scores.double(), len(sizes)
    nodes = torch.as_tensor(sizes, device=scores.device)
    owner = torch.repeat_interleave(torch.arange(count, device=scores.device), nodes, output_size=len(scores))
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    weights = _rounded((scores - largest[owner]).exp())
    totals = weights.new_zeros(count).index_add(0, owner, weights)
    return _rounded(weights / totals[owner])


def _rounded(values: Tensor) -> Tensor:
    """Values as positive multiples of `_FINEST`; the gradient is that of the values as they are."""
    nearest = (values.detach() / _FINEST).round().clamp(min=1.0) * _FINEST
    return values + (nearest - values.detach())
