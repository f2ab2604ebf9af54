"""Squared distances between the graphs of one batch, differentiable by torch in the node features.

One computation, in several implementations: compiled loops on the CPU, matrix products on other devices, and
`padded_distances.py` for many padded batches at once. The reference, which the tests compare them with, is autograd
through `transport`; it serves nodes with masses of their own, since it differentiates in the masses, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...._core.ragged import by_size, concatenated_ranges, groups, offsets
from ....linalg.precision import products
from ....transport.curves import Curves, build_curves
from ....transport.directions import project
from ....transport.engines.allpairs import squared_distances
from ....transport.grids import running_sums
from ....transport.measures import Measures
from ....transport.ordering import sort_orders

_MAX_SUMS = 2**27  # numbers held at once: sums of a batch on the cells of some of its grids


@dataclass(frozen=True)
class CurveRule:
    """How clouds become curves: along which directions, carrying what, and with which rule for ties."""

    directions: Tensor | None  # [p, M]; None for the canonical axes
    carry: str  # "points" or "projections"
    ties: str  # "canonical" or "first"

    def directions_like(self, features: Tensor) -> Tensor | None:
        """The directions, of the type and on the device of some features."""
        return None if self.directions is None else self.directions.to(features)

    def curves(
        self, features: Tensor, sizes: np.ndarray, masses: Tensor | None = None, *, numpy: bool = False
    ) -> Curves:
        """Curves of clouds stored one after the other [S, p], with masses [S] if not uniform."""
        measures = Measures(features, np.asarray(sizes), masses, numpy)
        projections = project(features, self.directions_like(features))
        return build_curves(measures, projections, carry=self.carry, ties=self.ties)

    def squared_distances(self, features: Tensor, sizes: np.ndarray, masses: Tensor | None = None) -> Tensor:
        """Squared distances between the clouds of a batch [B, B], differentiable in features [R, p] and masses [R]."""
        if masses is not None:
            return squared_distances(self.curves(features, sizes, masses))
        return (LoopDistances if features.device.type == "cpu" else ProductDistances).apply(features, sizes, self)


class LoopDistances(torch.autograd.Function):
    """Squared distances within a batch on the CPU: the kernels of `compiled_step.py` as one differentiable function.

    From node features [R, p] of graphs of these sizes [B] to [B, B].
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> Tensor:
        from . import compiled_step as compiled

        points = features.detach().contiguous().numpy()
        carry_points = rule.carry == "points"
        directions = np.empty((0, 0), points.dtype)
        projections = points
        if rule.directions is not None:
            directions = rule.directions.to(features.dtype).contiguous().numpy()
            projections = np.empty((len(points), directions.shape[1]), points.dtype)
            compiled.project(points, directions, projections)
        starts = offsets(sizes)
        order = np.empty(projections.shape, np.int64)
        values = np.empty((projections.size, points.shape[1] if carry_points else 1), points.dtype)
        compiled.curves(points, projections, starts, rule.ties == "canonical", carry_points, order, values)
        squared = np.empty((len(sizes), len(sizes)))
        compiled.squared_distances(values, starts, projections.shape[1], squared)
        ctx.kept = order, values, starts, carry_points, directions, points.shape
        return torch.from_numpy(squared).to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        from . import compiled_step as compiled

        order, values, starts, carry_points, directions, shape = ctx.kept
        grad_d2 = grads[0].double().contiguous().numpy()
        grad_values, grad_points = np.zeros_like(values), np.zeros(shape, values.dtype)
        compiled.backward_squared_distances(values, starts, order.shape[1], grad_d2, grad_values)
        compiled.backward_curves(grad_values, order, starts, carry_points, directions, grad_points)
        return torch.from_numpy(grad_points), None, None


class ProductDistances(torch.autograd.Function):
    """Squared distances within a batch by matrix products, on any device: from node features [R, p] to [B, B].

    <u, v> = mean over directions of ∫ u v needs v's averages on u's grid only, whichever of the two is finer; and the
    gradient of |u − v|² in a step of u is 2 (u − v's average on it) / n. So all that both passes need are the averages
    of all curves of the batch on all its grids; a product for each grid then gives distances, or gradients.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> Tensor:
        with products():
            batch = _SortedBatch(features.detach(), np.asarray(sizes), rule)
            squared = batch.squared_distances()
        ctx.batch = batch
        return squared

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        with products():
            return ctx.batch.backward(grads[0]), None, None


class _SortedBatch:
    """The curves of a batch, ordered by number of steps; D = M · c numbers per step, c for each of M directions."""

    def __init__(self, features: Tensor, sizes: np.ndarray, rule: CurveRule) -> None:
        device = features.device
        self.directions, self.carry = rule.directions_like(features), rule.carry
        order = by_size(sizes)
        self.sizes, starts = sizes[order], offsets(sizes)
        projections = project(features, self.directions)
        rows = torch.from_numpy(concatenated_ranges(starts[order], self.sizes)).to(device)
        self.order = sort_orders(Measures(features, sizes), projections, rule.ties)[rows]  # nodes by step [R, M]
        if rule.carry == "points":
            values = features.index_select(0, self.order.flatten())
        else:
            values = torch.gather(projections, 0, self.order)
        self.n_directions = self.order.shape[1]
        self.values = values.view(len(features), -1)  # [R, D]
        self.indices = torch.from_numpy(order).to(device)  # of each curve in the batch as it came [B]
        self.starts = torch.from_numpy(offsets(self.sizes)).to(device)
        self.lengths = torch.from_numpy(self.sizes).to(device)
        self.sums = running_sums(self.values)

    def _grids(self) -> Iterator[tuple[int, slice, Tensor]]:
        """For each size n in the batch: n, which curves have n steps, and all curves' sums on the n-grid [B, n · D].

        As many grids at once as `_MAX_SUMS` allows.
        """
        most = max(1, _MAX_SUMS // (len(self.sizes) * self.values.shape[1]))
        pending: list[tuple[int, int, int]] = []
        for group in (*groups(self.sizes), None):
            if pending and (group is None or sum(n + 1 for n, _, _ in (*pending, group)) > most):
                yield from self._cell_sums(pending)
                pending = []
            pending += [group] if group else []

    def _cell_sums(self, sizes: list[tuple[int, int, int]]) -> Iterator[tuple[int, slice, Tensor]]:
        """`_grids` for some sizes (n, first curve, last curve + 1): differences of the running sums at the cells' ends.

        A step counts by the part of it that lies in the cell: sum = average · m / n for a curve of m steps.
        """
        device = self.values.device
        cells = torch.from_numpy(np.concatenate([np.arange(n + 1) for n, _, _ in sizes])).to(device)
        grid = torch.from_numpy(np.repeat(*np.array([(n, n + 1) for n, _, _ in sizes]).T)).to(device)
        times = cells * self.lengths.unsqueeze(1)  # when the cells end, in n-ths of a step of each curve
        steps = times // grid
        rest = ((times - steps * grid).double() / grid).unsqueeze(2)
        rows = self.starts[:-1].unsqueeze(1) + steps
        at = self.sums[rows].addcmul_(rest, self.values[rows.clamp_(max=len(self.values) - 1)].double())
        sums = at.diff(dim=1).to(self.values.dtype).flatten(1)
        start, width = 0, self.values.shape[1]
        for n, lo, hi in sizes:
            yield n, slice(lo, hi), sums[:, start * width : (start + n) * width]
            start += n + 1

    def _of(self, curves: slice, values: Tensor) -> Tensor:
        """The rows of some curves of equal length in values of all steps [R, D], as a view [A, n · D]."""
        first, last = self.sizes[: curves.start].sum(), self.sizes[: curves.stop].sum()
        return values[first:last].view(curves.stop - curves.start, -1)

    def squared_distances(self) -> Tensor:
        """[B, B], in the order in which the batch came; exactly symmetric, 0 on the diagonal, never negative."""
        B = len(self.sizes)
        inner = self.values.new_empty(B, B)
        for _, which, sums in self._grids():
            torch.mm(self._of(which, self.values), sums.T, out=inner[which])
        inner /= self.lengths * self.n_directions
        inner = (inner + inner.T) / 2
        norms = inner.diagonal()
        squared = (norms.unsqueeze(1) + norms - 2 * inner).clamp_(min=0).fill_diagonal_(0.0)
        return squared.new_empty(B, B).index_put_((self.indices.unsqueeze(1), self.indices), squared)

    def backward(self, grad_d2: Tensor) -> Tensor:
        """Gradient in the node features [R, p], from that in the squared distances [B, B]."""
        weights = (grad_d2 + grad_d2.T)[self.indices.unsqueeze(1), self.indices].to(self.values.dtype)
        grad_values = torch.empty_like(self.values)
        totals, weights_per_step = weights.sum(1, keepdim=True), weights / self.lengths
        for n, which, sums in self._grids():
            self._of(which, grad_values)[:] = torch.addmm(
                totals[which] * self._of(which, self.values), weights_per_step[which], sums,
                beta=2.0 / (n * self.n_directions), alpha=-2.0 / self.n_directions,
            )  # fmt: skip
        grad_steps = grad_values.view(len(grad_values), self.n_directions, -1)  # [R, M, c]
        grad = torch.gather(grad_steps, 0, inverse_permutation(self.order, 0).unsqueeze(2).expand_as(grad_steps))
        if self.carry == "points":
            return grad.sum(1)
        assert self.directions is not None
        return grad[:, :, 0] @ self.directions.T


def inverse_permutation(order: Tensor, dim: int) -> Tensor:
    """Where along `dim` each number stands: every direction visits every node once, so sums over steps are gathers.

    >>> inverse_permutation(torch.tensor([2, 0, 1]), 0)
    tensor([1, 2, 0])
    """
    shape = [1] * order.ndim
    shape[dim] = -1
    positions = torch.arange(order.shape[dim], device=order.device).view(shape).expand_as(order)
    return torch.empty_like(order).scatter_(dim, order, positions)
