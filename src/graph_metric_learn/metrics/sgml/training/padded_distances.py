"""Squared distances within many padded batches at once, and their gradient: `batch_distances.py`, batched.

`many_models.py` records its steps as a CUDA graph, where no shape may depend on the data: the ragged batches of
`batch_distances.py` do not serve there. Here all graphs are padded to N nodes and all batches to B graphs, so every
tensor has a fixed shape, at the price of working on padding.

Shapes: K batches, B graphs in each, N nodes in the largest graph, points in R^p, M directions, c carried coordinates,
D = M · c.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ....transport.directions import project
from .batch_distances import inverse_permutation


class PaddedBatches:
    """Curves of the graphs of many batches, of their node features: points [K, B, N, p].

    sizes : Tensor [K, B]
        Nodes of each graph, 0 where there is none; the points beyond are padding.
    directions : Tensor [K, p, M] or None
        Each batch has its own; None for the canonical axes.
    carry_points, canonical : bool
        See `CurveRule`: carry == "points", ties == "canonical".
    """

    def __init__(
        self, points: Tensor, sizes: Tensor, directions: Tensor | None, *, carry_points: bool, canonical: bool
    ) -> None:
        K, B, N, _ = points.shape
        self.sizes, self.directions, self.carry_points = sizes, directions, carry_points
        projections = project(points, None if directions is None else directions.movedim(1, 0)[:, :, None, None])
        padding = torch.arange(N, device=points.device) >= sizes.unsqueeze(2)
        self.order = _sort_orders(points, None if directions is None else projections, padding, canonical)
        if carry_points:
            rows = self.order + torch.arange(K * B, device=points.device).view(K, B, 1, 1) * N
            values = points.view(K * B * N, -1)[rows.flatten()]
        else:
            values = torch.gather(projections, 2, self.order)
        self.values = values.reshape(K, B, N, -1)
        self.n_directions = self.order.shape[3]
        self.lengths = sizes.clamp(min=1).to(self.values.dtype)
        self.averages, self.differences = _averages(self.values, sizes)

    def squared_distances(self) -> Tensor:
        """[K, B, B]: exactly symmetric, 0 on the diagonal, never negative; of no meaning where there is no graph."""
        K, B, N, D = self.values.shape
        flat = self.values.view(K, B, N * D, 1)
        inner = torch.matmul(self.averages, flat).squeeze(3) / (self.lengths * self.n_directions).unsqueeze(2)
        inner = (inner + inner.mT) / 2
        norms = inner.diagonal(dim1=1, dim2=2)
        squared = (norms.unsqueeze(1) + norms.unsqueeze(2) - 2 * inner).clamp_(min=0)
        squared.diagonal(dim1=1, dim2=2).zero_()
        return squared

    def backward(self, grad_d2: Tensor) -> Tensor:
        """Gradient in the points [K, B, N, p], from that in the squared distances [K, B, B]."""
        K, B, N, _ = self.values.shape
        weights = (grad_d2 + grad_d2.mT) * (2.0 / (self.lengths * self.n_directions)).unsqueeze(2)
        grad_values = torch.matmul(weights.unsqueeze(2), self.differences).view(K, B, N, self.n_directions, -1)
        steps = inverse_permutation(self.order, 2).unsqueeze(4).expand_as(grad_values)
        grad = torch.gather(grad_values, 2, steps)
        if self.carry_points:
            return grad.sum(3)
        assert self.directions is not None
        return torch.matmul(grad.squeeze(4), self.directions.mT.unsqueeze(1))


def _sort_orders(points: Tensor, projections: Tensor | None, padding: Tensor, canonical: bool) -> Tensor:
    """Nodes of each graph in increasing order of each projection [K, B, N, M], padding last: `transport.ordering`.

    projections : [K, B, N, M], or None for the canonical axes. padding : [K, B, N].
    """
    coordinates = (points + 0.0).mT.masked_fill(padding.unsqueeze(2), torch.inf)  # [K, B, p, N]; + 0.0: no signed zero
    keys = coordinates
    if projections is not None:
        keys = (projections + 0.0).mT.masked_fill(padding.unsqueeze(2), torch.inf)  # [K, B, M, N]
    if not canonical:
        return keys.sort(dim=3, stable=True).indices.mT.contiguous()
    *others, last = coordinates.unbind(2)
    lexicographic = last.sort(dim=2, stable=True).indices
    for key in reversed(others):
        order = torch.gather(key, 2, lexicographic).sort(dim=2, stable=True).indices
        lexicographic = torch.gather(lexicographic, 2, order)
    lexicographic = lexicographic.unsqueeze(2).expand_as(keys)
    order = torch.gather(keys, 3, lexicographic).sort(dim=3, stable=True).indices
    return torch.gather(lexicographic, 3, order).mT.contiguous()


def _averages(values: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Averages of each curve b on the cells of each curve a's grid, and a minus them [K, a, b, N * D].

    Computed in float64: where curves coincide the difference, and with it the gradient, is 0. In float32 it would be
    rounding noise, which Adam, dividing by the size of the gradient, would blow up.
    """
    K, B, N, D = values.shape
    device, exact = values.device, values.double()
    running = torch.nn.functional.pad(exact.cumsum(2), (0, 0, 1, 0)).view(-1, D)  # [K * B * (N + 1), D]
    steps = torch.nn.functional.pad(exact, (0, 0, 0, 1)).view(-1, D)
    own, other = sizes.clamp(min=1).view(K, B, 1, 1), sizes.view(K, 1, B, 1)
    ends = torch.arange(N + 1, device=device).minimum(own)  # a curve of fewer steps stays at its end
    times = ends * other
    step = times // own
    rest = ((times - step * own).double() / own).unsqueeze(4)
    rows = step + (torch.arange(K * B, device=device) * (N + 1)).view(K, 1, B, 1)
    at = running[rows].addcmul_(rest, steps[rows])
    averages = at.diff(dim=3) * (own.double() / other.clamp(min=1)).unsqueeze(4)
    differences = exact.unsqueeze(2) - averages
    return averages.to(values.dtype).view(K, B, B, N * D), differences.to(values.dtype).view(K, B, B, N * D)
