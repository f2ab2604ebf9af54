"""Squared distances within a batch, as a function of the node features that torch can differentiate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..transport.allpairs import squared_distances
from ..transport.curves import Curves, build_curves
from ..transport.directions import project
from ..transport.measures import Measures, offsets


@dataclass(frozen=True)
class CurveRule:
    """How clouds become curves: along which directions, carrying what, and with which rule for ties.

    Attributes
    ----------
    directions : Tensor [p, M] or None
        None for the canonical axes.
    carry : {"points", "projections"}
    ties : {"canonical", "first"}
    """

    directions: Tensor | None
    carry: str
    ties: str

    def curves(self, features: Tensor, sizes: np.ndarray, *, numpy: bool = False) -> Curves:
        """Curves of clouds stored one after the other [S, p]."""
        directions = None if self.directions is None else self.directions.to(features)
        measures = Measures(features, np.asarray(sizes), None, numpy)
        return build_curves(measures, project(features, directions), carry=self.carry, ties=self.ties)

    def squared_distances(self, features: Tensor, sizes: np.ndarray) -> Tensor:
        """Squared distances between the clouds of a batch [B, B], differentiable in the features [R, p]."""
        if features.device.type == "cpu":
            return _Compiled.apply(features, sizes, self)
        return squared_distances(self.curves(features, sizes))


class _Compiled(torch.autograd.Function):
    """The compiled pieces of `fused` as one differentiable function."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> Tensor:
        from . import fused

        nodes = features.detach().contiguous().numpy()
        axes, whole = rule.directions is None, rule.carry == "points"
        directions = np.empty((0, 0), nodes.dtype)
        if rule.directions is not None:
            directions = rule.directions.to(features.dtype).contiguous().numpy()
        starts = offsets(sizes)
        along = nodes
        if not axes:
            along = np.empty((len(nodes), directions.shape[1]), nodes.dtype)
            fused.project(nodes, directions, along)
        order = np.empty(along.shape, np.int64)
        values = np.empty((along.size, nodes.shape[1] if whole else 1), nodes.dtype)
        fused.curves(nodes, along, starts, rule.ties == "canonical", whole, order, values)
        squared = np.empty((len(sizes), len(sizes)))
        fused.squares(values, starts, along.shape[1], squared)
        ctx.kept = order, values, starts, whole, directions, nodes.shape
        return torch.from_numpy(squared).to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        from . import fused

        order, values, starts, whole, directions, shape = ctx.kept
        forces, pushes = np.zeros_like(values), np.zeros(shape, values.dtype)
        fused.pull(values, starts, order.shape[1], grads[0].double().contiguous().numpy(), forces)
        fused.scatter(forces, order, starts, whole, directions, pushes)
        return torch.from_numpy(pushes), None, None
