"""Squared distances within a batch, as a function of the node features that torch can differentiate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...._core.ragged import by_size, concatenated_ranges, groups, offsets
from ....transport.curves import Curves, build_curves
from ....transport.devices import products
from ....transport.directions import project
from ....transport.grids import running_sums
from ....transport.measures import Measures
from ....transport.ordering import sort_orders

_NUMBERS = 2**27  # held at once: averages of a batch on some of its grids


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
        return (_Compiled if features.device.type == "cpu" else Gridded).apply(features, sizes, self)

    def to(self, device: Any) -> CurveRule:
        """The same rule with its directions on another device."""
        return self if self.directions is None else replace(self, directions=self.directions.to(device))


class _Compiled(torch.autograd.Function):
    """The compiled pieces of `fused` as one differentiable function."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> Tensor:
        from . import compiled as fused

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
        from . import compiled as fused

        order, values, starts, whole, directions, shape = ctx.kept
        forces, pushes = np.zeros_like(values), np.zeros(shape, values.dtype)
        fused.pull(values, starts, order.shape[1], grads[0].double().contiguous().numpy(), forces)
        fused.scatter(forces, order, starts, whole, directions, pushes)
        return torch.from_numpy(pushes), None, None


class Gridded(torch.autograd.Function):
    """Squared distances within a batch by matrix products, for large batches on any device, with their gradient.

    <u, v> = mean over directions of ∫ u v needs v's averages on u's grid only, whichever of the two is finer; and the
    gradient of |u − v|² in a step of u is 2 (u − v's average on it) / n. So all that both passes need are the averages
    of all curves of the batch on all its grids; a product for each grid then gives distances, or gradients.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> Tensor:
        with products():
            batch = _Batch(features.detach(), np.asarray(sizes), rule)
            squared = batch.squared_distances()
        ctx.batch = batch
        return squared

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        with products():
            return ctx.batch.pull(grads[0]), None, None


class _Batch:
    """Curves of a batch in order of size: values [R, D], D = M · c, and what leads back to the nodes."""

    def __init__(self, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> None:
        device = features.device
        self.rule = (
            rule.to(device) if rule.directions is None else replace(rule, directions=rule.directions.to(features))
        )
        order = by_size(sizes)
        self.sizes, starts = sizes[order], offsets(sizes)
        along = project(features, self.rule.directions)
        rows = torch.from_numpy(concatenated_ranges(starts[order], self.sizes)).to(device)
        self.order = sort_orders(Measures(features, sizes), along, rule.ties)[rows]  # [R, M]
        if rule.carry == "points":
            values = features.index_select(0, self.order.flatten())
        else:
            values = torch.gather(along, 0, self.order)
        self.count, self.shape = self.order.shape[1], features.shape
        self.values = values.view(len(features), -1)
        self.places = torch.from_numpy(order).to(device)
        self.starts = torch.from_numpy(offsets(self.sizes)).to(device)
        self.lengths = torch.from_numpy(self.sizes).to(device)
        self.sums = running_sums(self.values)

    def _grids(self) -> Iterator[tuple[int, slice, Tensor]]:
        """(n, which curves have n steps, sums of all curves on the cells of the n-grid [B, n · D])."""
        most = max(1, _NUMBERS // (len(self.sizes) * self.values.shape[1]))
        waiting: list[tuple[int, int, int]] = []
        for group in (*groups(self.sizes), None):
            if waiting and (group is None or sum(n + 1 for n, _, _ in (*waiting, group)) > most):
                yield from self._summed(waiting)
                waiting = []
            waiting += [group] if group else []

    def _summed(self, waiting: list[tuple[int, int, int]]) -> Iterator[tuple[int, slice, Tensor]]:
        device = self.values.device
        cells = torch.from_numpy(np.concatenate([np.arange(n + 1) for n, _, _ in waiting])).to(device)
        grid = torch.from_numpy(np.repeat(*np.array([(n, n + 1) for n, _, _ in waiting]).T)).to(device)
        times = cells * self.lengths.unsqueeze(1)  # of the cells' ends, in steps of each curve and n-ths of them
        steps = times // grid
        rest = ((times - steps * grid).double() / grid).unsqueeze(2)
        rows = self.starts[:-1].unsqueeze(1) + steps
        at = self.sums[rows].addcmul_(rest, self.values[rows.clamp_(max=len(self.values) - 1)].double())
        sums = at.diff(dim=1).to(self.values.dtype).flatten(1)
        start, width = 0, self.values.shape[1]
        for n, lo, hi in waiting:
            yield n, slice(lo, hi), sums[:, start * width : (start + n) * width]
            start += n + 1

    def _own(self, n: int, which: slice) -> Tensor:
        """Values of the curves of n steps [A, n · D]."""
        first = int(self.sizes[: which.start].sum())
        return self.values[first : first + n * (which.stop - which.start)].view(which.stop - which.start, -1)

    def squared_distances(self) -> Tensor:
        """[B, B] in the order of the batch; exactly symmetric, 0 on the diagonal, never negative."""
        B = len(self.sizes)
        inner = self.values.new_empty(B, B)
        for n, which, sums in self._grids():
            torch.mm(self._own(n, which), sums.T, out=inner[which])
        inner /= self.lengths * self.count
        inner = (inner + inner.T) / 2
        norms = inner.diagonal()
        squared = (norms.unsqueeze(1) + norms - 2 * inner).clamp_(min=0).fill_diagonal_(0.0)
        return squared.new_empty(B, B).index_put_((self.places.unsqueeze(1), self.places), squared)

    def pull(self, slopes: Tensor) -> Tensor:
        """Gradient in the nodes' features [R, p], for slopes [B, B] of a loss in the squared distances."""
        both = (slopes + slopes.T)[self.places.unsqueeze(1), self.places].to(self.values.dtype)
        forces = torch.empty_like(self.values)
        totals, shares = both.sum(1, keepdim=True), both / self.lengths
        first = 0
        for n, which, sums in self._grids():
            own = self._own(n, which)
            pulled = torch.addmm(
                totals[which] * own, shares[which], sums, beta=2.0 / (n * self.count), alpha=-2.0 / self.count
            )
            forces[first : first + n * len(own)] = pulled.view(-1, self.values.shape[1])
            first += n * len(own)
        return self._to_nodes(forces.view(len(forces), self.count, -1))

    def _to_nodes(self, forces: Tensor) -> Tensor:
        """From the steps back to the nodes: each direction met every node once, so a gather does it [R, p]."""
        met = torch.empty_like(self.order)
        rows = torch.arange(len(met), device=met.device).unsqueeze(1).expand_as(met)
        met.scatter_(0, self.order, rows)
        width = forces.shape[2]
        found = torch.gather(forces, 0, met.unsqueeze(2).expand(-1, -1, width))
        if self.rule.carry == "points":
            return found.sum(1)
        assert self.rule.directions is not None
        return found[:, :, 0] @ self.rule.directions.T
