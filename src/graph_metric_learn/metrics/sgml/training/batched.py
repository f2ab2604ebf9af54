"""Many SGCN encoders trained side by side: one step of all of them is a handful of operations on one device.

Every model keeps its own batches, directions, moments and step count, so that it learns what it would learn alone.
Shapes: K models, B graphs in a batch, N nodes in the largest of them, q features, p outputs, M directions, c carried
coordinates, D = M · c. Batches and graphs that are shorter are filled up: with elements of class -1, with nodes of
features 0 that are sorted to the end and belong to nobody.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ....transport.devices import products
from ..encoders import SGCN
from .batch_distances import CurveRule
from .batched_losses import loss_and_slopes
from .batches import partition
from .loop import EPSILON, History, check_finite

_NUMBERS = 2**29  # held at once by the averages of a step


@dataclass
class Job:
    """One model to be trained.

    Attributes
    ----------
    module : SGCN
        Trained in place.
    mixed : ndarray [S, q]
        Propagated features of the nodes of all graphs, the ones it is not trained on too.
    members : ndarray [G]
        The graphs it is trained on, as numbers among all graphs.
    y : ndarray [G]
        Their classes, whole numbers.
    rule : CurveRule
    rng : numpy.random.Generator
        For the batches.
    rate : float
    batching : str
    history : History
    """

    module: SGCN
    mixed: np.ndarray
    members: np.ndarray
    y: np.ndarray
    rule: CurveRule
    rng: np.random.Generator
    rate: float
    batching: str
    history: History


def train_many(
    jobs: Sequence[Job], sizes: np.ndarray, device: torch.device, *,
    loss: str, n_epochs: int, batch_size: int, restart: bool,
) -> None:  # fmt: skip
    """Trains models that agree in all but data, start, directions, learning rate and way of batching.

    sizes [G]: of all graphs.
    """
    width = jobs[0].module.theta.shape[1] ** 2
    if jobs[0].rule.directions is not None:
        width = jobs[0].rule.directions.shape[1] * (jobs[0].module.theta.shape[1] if _whole(jobs[0]) else 1)
    each = (batch_size + 1) ** 2 * int(sizes.max() + 1) * width
    together = max(1, _NUMBERS // each)
    for lo in range(0, len(jobs), together):
        some = jobs[lo : lo + together]
        models = _Models(some, sizes, device, loss)
        for epoch in range(n_epochs):
            start = time.perf_counter()
            batches = [partition(job.y, batch_size, job.rng, job.batching) for job in some]
            losses = models.epoch(batches, fresh=restart or epoch == 0)
            share = (time.perf_counter() - start) / len(some)
            for job, total in zip(some, losses, strict=True):
                job.history.loss.append(float(total) / len(job.y))
                job.history.seconds.append(share)
        models.hand_over()


def _whole(job: Job) -> bool:
    return job.rule.carry == "points"


class _Models:
    def __init__(self, jobs: Sequence[Job], sizes: np.ndarray, device: torch.device, loss: str) -> None:
        self.jobs, self.sizes, self.device, self.loss = jobs, sizes, device, loss
        first = jobs[0]
        self.whole, self.canonical = _whole(first), first.rule.ties == "canonical"
        self.relu = first.module.activation == "relu"
        self.classes = max(int(job.y.max()) for job in jobs) + 1
        q, p, nodes = max(job.module.theta.shape[0] for job in jobs), first.module.theta.shape[1], int(sizes.sum())
        sources = {id(job.mixed): job.mixed for job in jobs}
        self.mixed = torch.zeros(len(sources), nodes + 1, q, device=device)  # the last node of each has no features
        for table, mixed in zip(self.mixed, sources.values(), strict=True):
            table[:nodes, : mixed.shape[1]] = torch.from_numpy(mixed).to(device)
        places = {key: place for place, key in enumerate(sources)}
        self.tables = self._tensor([places[id(job.mixed)] * (nodes + 1) for job in jobs]).view(-1, 1, 1)
        self.nowhere = nodes
        self.starts = self._tensor(np.concatenate([[0], np.cumsum(sizes)]))
        self.theta = torch.zeros(len(jobs), q, p, device=device)
        for k, job in enumerate(jobs):
            self.theta[k, : job.module.theta.shape[0]] = job.module.theta.detach()
        self.directions = None  # [K, p, M]
        if first.rule.directions is not None:
            self.directions = torch.stack([job.rule.directions.to(self.theta) for job in jobs])  # type: ignore[union-attr]
        self.rates = self._tensor([job.rate for job in jobs]).to(torch.float32).view(-1, 1, 1)
        self.moments = torch.zeros_like(self.theta), torch.zeros_like(self.theta)
        self.taken = np.zeros(len(jobs))  # steps of each model since Adam started
        self.longest = max(int(sizes[job.members].max()) for job in jobs)
        self.plan: list[Tensor] = []  # what every step of an epoch needs, see `epoch`
        self.now = torch.zeros(1, dtype=torch.int64, device=device)  # which step is next
        self.totals = torch.zeros(len(jobs), dtype=torch.float64, device=device)
        self.recorded: Any = None

    def _tensor(self, array: Any) -> Tensor:
        return torch.as_tensor(np.asarray(array), device=self.device)

    def epoch(self, batches: Sequence[list[np.ndarray]], *, fresh: bool) -> np.ndarray:
        """Trains every model on its batches and returns the sums of their losses [K]; fresh: Adam starts anew."""
        K, steps = len(batches), max(map(len, batches))
        if fresh:
            self.taken = np.zeros(K)
            for moment in self.moments:
                moment.zero_()
        most = max(len(batch) for own in batches for batch in own)
        members, y = np.full((steps, K, most), -1), np.full((steps, K, most), -1)
        for k, (job, own) in enumerate(zip(self.jobs, batches, strict=True)):
            for t, batch in enumerate(own):
                members[t, k, : len(batch)], y[t, k, : len(batch)] = job.members[batch], job.y[batch]
        sizes = np.where(members >= 0, self.sizes[members], 0)
        active = np.arange(steps)[:, None] < [len(own) for own in batches]
        step = self.taken + np.arange(1, steps + 1)[:, None]
        self.taken = self.taken + active.sum(0)
        scales = np.stack([active, 1 - 0.9**step, 1 - 0.999**step], 1).astype(np.float32)[..., None, None]
        plan = [self._tensor(array) for array in (members, y, sizes, scales)]
        if self.recorded is not None and [x.shape for x in plan] == [x.shape for x in self.plan]:
            for old, new in zip(self.plan, plan, strict=True):
                old.copy_(new)
        else:
            self.plan, self.recorded = plan, None
        self.now.zero_()
        self.totals.zero_()
        here = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with torch.no_grad(), products(), here:
            if self.device.type == "cuda" and self.recorded is None:
                self._record()
            for _ in range(steps):
                self._step() if self.recorded is None else self.recorded.replay()
        return self.totals.cpu().numpy()

    def _record(self) -> None:
        """Records a step as a CUDA graph: replaying it takes a fifth of the time of launching its 150 operations."""
        changed = [self.theta, *self.moments, self.now, self.totals]
        kept = [tensor.clone() for tensor in changed]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._step()  # libraries make their preparations
        torch.cuda.current_stream().wait_stream(stream)
        self.now.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for tensor, old in zip(changed, kept, strict=True):
            tensor.copy_(old)
        self.recorded = graph

    def _step(self) -> None:
        """The next step of the plan; changes tensors in place and asks nothing of the device."""
        graphs, y, sizes, scales = (table.index_select(0, self.now)[0] for table in self.plan)
        losses, slope = self._gradient(graphs, y, sizes, self.longest)
        self.totals += losses.double()
        moves, scale, scale2 = scales  # moves: 1 for models that have a batch left, else 0
        moment, moment2 = self.moments
        moment += moves * 0.1 * (slope - moment)
        moment2 += moves * 0.001 * (slope * slope - moment2)
        self.theta -= moves * self.rates * (moment / scale) / ((moment2 / scale2).sqrt() + EPSILON)
        self.now += 1

    def _gradient(self, graphs: Tensor, y: Tensor, sizes: Tensor, longest: int) -> tuple[Tensor, Tensor]:
        """Losses [K] and their gradient in theta [K, q, p], for graphs, classes and sizes [K, B]."""
        (K, B), N = graphs.shape, longest
        place = torch.arange(N, device=self.device)
        real = place < sizes.unsqueeze(2)
        nodes = torch.where(real, self.starts[graphs].unsqueeze(2) + place, self.nowhere) + self.tables
        mixed = self.mixed.view(-1, self.mixed.shape[2])[nodes.flatten()].view(K, B * N, -1)
        features = torch.bmm(mixed, self.theta)
        features = (features.relu() if self.relu else features).view(K, B, N, -1)
        along = features if self.directions is None else self._project(features)
        order = self._order(features, along, real)  # [K, B, N, M]
        if self.whole:
            rows = order + torch.arange(K * B, device=self.device).view(K, B, 1, 1) * N
            values = features.view(K * B * N, -1)[rows.flatten()]
        else:
            values = torch.gather(along, 2, order)
        values = values.reshape(K, B, N, -1)
        M = order.shape[3]
        averages, gaps = self._averages(values, sizes)  # [K, a, b, N * D]
        flat = values.view(K, B, N * values.shape[3], 1)
        lengths = sizes.clamp(min=1).to(values.dtype)
        inner = torch.matmul(averages, flat).squeeze(3) / (lengths * M).unsqueeze(2)
        inner = (inner + inner.mT) / 2
        norms = inner.diagonal(dim1=1, dim2=2)
        squared = (norms.unsqueeze(1) + norms.unsqueeze(2) - 2 * inner).clamp_(min=0)
        squared.diagonal(dim1=1, dim2=2).zero_()
        losses, slopes = loss_and_slopes(squared, y, self.classes, self.loss)
        both = slopes + slopes.mT
        forces = torch.matmul((both * (2.0 / (lengths * M)).unsqueeze(2)).unsqueeze(2), gaps)
        pushes = self._to_nodes(forces.view(K, B, N, M, -1), order)
        if self.relu:
            pushes = pushes * (features > 0)
        return losses, torch.bmm(mixed.mT, pushes.view(K, B * N, -1))

    def _project(self, features: Tensor) -> Tensor:
        """<y, θ> of all nodes and directions [K, B, N, M], coordinate by coordinate as everywhere."""
        assert self.directions is not None
        along = features[..., :1] * self.directions[:, 0, None, None]
        for d in range(1, features.shape[3]):
            along = along + features[..., d : d + 1] * self.directions[:, d, None, None]
        return along

    def _order(self, features: Tensor, along: Tensor, real: Tensor) -> Tensor:
        """Which node each walk meets at each step [K, B, N, M]; nobody's nodes come last."""
        nobody = ~real.unsqueeze(2)
        keys = (along + 0.0).mT.masked_fill(nobody, torch.inf)  # [K, B, M, N]; + 0.0: a zero has no sign
        if not self.canonical:
            return keys.sort(dim=3, stable=True).indices.mT.contiguous()
        points = keys if self.directions is None else (features + 0.0).mT.masked_fill(nobody, torch.inf)
        first: Tensor | None = None
        for d in reversed(range(points.shape[2])):
            key = points[:, :, d] if first is None else torch.gather(points[:, :, d], 2, first)
            found = key.sort(dim=2, stable=True).indices
            first = found if first is None else torch.gather(first, 2, found)
        assert first is not None
        first = first.unsqueeze(2).expand_as(keys)
        found = torch.gather(keys, 3, first).sort(dim=3, stable=True).indices
        return torch.gather(first, 3, found).mT.contiguous()

    def _averages(self, values: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
        """Means of each curve b on the cells of each curve a's grid, and what a has above them [K, a, b, N * D].

        In float64 up to here: where curves coincide the gap, and with it the gradient, is 0 and not noise, which Adam
        would blow up.
        """
        K, B, N, D = values.shape
        exact = values.double()
        running = torch.nn.functional.pad(exact.cumsum(2), (0, 0, 1, 0)).view(-1, D)  # [K * B * (N + 1), D]
        steps = torch.nn.functional.pad(exact, (0, 0, 0, 1)).view(-1, D)
        own, other = sizes.clamp(min=1).view(K, B, 1, 1), sizes.view(K, 1, B, 1)
        ends = torch.arange(N + 1, device=self.device).minimum(own)  # a curve of fewer steps stays at its end
        times = ends * other
        step = times // own
        rest = ((times - step * own).double() / own).unsqueeze(4)
        rows = step + (torch.arange(K * B, device=self.device) * (N + 1)).view(K, 1, B, 1)
        at = running[rows].addcmul_(rest, steps[rows])
        means = at.diff(dim=3) * (own.double() / other.clamp(min=1)).unsqueeze(4)
        gaps = exact.unsqueeze(2) - means
        return means.to(values.dtype).view(K, B, B, N * D), gaps.to(values.dtype).view(K, B, B, N * D)

    def _to_nodes(self, forces: Tensor, order: Tensor) -> Tensor:
        """From the steps [K, B, N, M, c] back to the nodes [K, B, N, p]: each direction met every node once."""
        steps = torch.arange(order.shape[2], device=self.device).view(1, 1, -1, 1).expand_as(order)
        met = torch.empty_like(order).scatter_(2, order, steps)
        found = torch.gather(forces, 2, met.unsqueeze(4).expand_as(forces))
        if self.whole:
            return found.sum(3)
        return torch.matmul(found.squeeze(4), self.directions.mT.unsqueeze(1))  # type: ignore[union-attr]

    def hand_over(self) -> None:
        """The trained matrices to the modules."""
        theta = self.theta.cpu()
        for k, job in enumerate(self.jobs):
            job.module.theta.data.copy_(theta[k, : job.module.theta.shape[0]])
        for job in self.jobs:
            check_finite(job.module)
