"""Training of many SGCN encoders at once: one step of all of them is a fixed list of operations on one device, a GPU.

The batched implementation of `loop.py`, the reference: every model keeps its own batches, directions, Adam moments and
step count, and learns what it would learn alone, up to rounding. Shapes: K models, B graphs in a batch, q features,
p outputs, M directions. Shorter batches are padded with graphs of class -1 and size 0, smaller graphs with nodes of
features 0; see `padded_distances.py`.
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

from ...._core.ragged import offsets
from ....linalg.precision import products
from ..encoders import SGCN
from ..losses import LOSSES
from .batch_distances import CurveRule
from .loop import ADAM_EPSILON, History, TrainingOptions, check_finite, partition
from .padded_distances import PaddedBatches

_MAX_AVERAGES = 2**29  # numbers held at once: cell averages of one step of all models that are trained together


@dataclass
class Job:
    """One model to be trained."""

    module: SGCN  # trained in place
    propagated: np.ndarray  # propagated features of all nodes, also of graphs it is not trained on [S, q]
    members: np.ndarray  # indices of the graphs it is trained on [G]
    y: np.ndarray  # their classes, whole numbers [G]
    rule: CurveRule
    options: TrainingOptions
    rng: np.random.Generator  # for the batches
    history: History  # added to

    def kind(self) -> tuple[Any, ...]:
        """What models must have in common to be trained together."""
        directions, options = self.rule.directions, self.options
        shape = None if directions is None else directions.shape
        distance = (self.rule.carry, self.rule.ties, shape, self.module.theta.shape[1], self.module.activation)
        return (*distance, options.loss, options.n_epochs, options.batch_size, options.restart)


def train_many(jobs: Sequence[Job], sizes: np.ndarray, device: torch.device) -> None:
    """Trains models of one kind (`Job.kind`), which may differ in data, start, directions, learning rate and batching.

    Their loss has a name and a batched form; sizes [G] are those of all graphs.
    """
    options = jobs[0].options
    p = jobs[0].module.theta.shape[1]
    width = p**2
    if jobs[0].rule.directions is not None:
        width = jobs[0].rule.directions.shape[1] * (p if jobs[0].rule.carry == "points" else 1)
    averages_per_model = (options.batch_size + 1) ** 2 * int(sizes.max() + 1) * width
    at_once = max(1, _MAX_AVERAGES // averages_per_model)
    for lo in range(0, len(jobs), at_once):
        some = jobs[lo : lo + at_once]
        models = _Models(some, sizes, device)
        for epoch in range(options.n_epochs):
            start = time.perf_counter()
            batches = [partition(job.y, options.batch_size, job.rng, job.options.batching) for job in some]
            losses = models.epoch(batches, restart=options.restart or epoch == 0)
            seconds_each = (time.perf_counter() - start) / len(some)
            for job, total in zip(some, losses, strict=True):
                job.history.loss.append(float(total) / len(job.y))
                job.history.seconds.append(seconds_each)
        models.write_back()


class _Models:
    """Models that are trained together, their Adam states, and the tables from which every step reads."""

    def __init__(self, jobs: Sequence[Job], sizes: np.ndarray, device: torch.device) -> None:
        first = jobs[0]
        batched = LOSSES[first.options.loss].batched
        assert batched is not None
        self.jobs, self.sizes, self.device, self.loss_and_grad = jobs, sizes, device, batched
        self.carry_points, self.canonical = first.rule.carry == "points", first.rule.ties == "canonical"
        self.relu = first.module.activation == "relu"
        self.n_classes = max(int(job.y.max()) for job in jobs) + 1
        q, p, nodes = max(job.module.theta.shape[0] for job in jobs), first.module.theta.shape[1], int(sizes.sum())
        tables = {id(job.propagated): job.propagated for job in jobs}
        self.propagated = torch.zeros(len(tables), nodes + 1, q, device=device)  # with a last row of 0 for padding
        for row, table in zip(self.propagated, tables.values(), strict=True):
            row[:nodes, : table.shape[1]] = torch.from_numpy(table).to(device)
        first_row = {key: index * (nodes + 1) for index, key in enumerate(tables)}  # of the table of each model
        self.first_rows = self._tensor([first_row[id(job.propagated)] for job in jobs]).view(-1, 1, 1)  # [K, 1, 1]
        self.padding_row = nodes
        self.starts = self._tensor(offsets(sizes))
        self.theta = torch.zeros(len(jobs), q, p, device=device)  # rows of 0 below a model of fewer features
        for k, job in enumerate(jobs):
            self.theta[k, : job.module.theta.shape[0]] = job.module.theta.detach()
        directions = [each for job in jobs if (each := job.rule.directions_like(self.theta)) is not None]
        self.directions = torch.stack(directions) if directions else None  # [K, p, M]
        self.rates = self._tensor([job.options.learning_rate for job in jobs]).to(torch.float32).view(-1, 1, 1)
        self.moments = torch.zeros_like(self.theta), torch.zeros_like(self.theta)  # of Adam
        self.max_nodes = max(int(sizes[job.members].max()) for job in jobs)
        self.schedule: list[Tensor] = []  # of an epoch, see `_make_schedule`
        self.next_step = torch.zeros(1, dtype=torch.int64, device=device)  # there, so that a recorded step advances it
        self.losses = torch.zeros(len(jobs), dtype=torch.float64, device=device)  # sums over the steps of an epoch
        self.cuda_graph: Any = None

    def _tensor(self, array: Any) -> Tensor:
        return torch.as_tensor(np.asarray(array), device=self.device)

    def write_back(self) -> None:
        """Copies the trained matrices to the modules."""
        theta = self.theta.cpu()
        for k, job in enumerate(self.jobs):
            job.module.theta.data.copy_(theta[k, : job.module.theta.shape[0]])
        for job in self.jobs:
            check_finite(job.module)

    # --- an epoch ------------------------------------------------------------------------------------------------

    def epoch(self, batches: Sequence[list[np.ndarray]], *, restart: bool) -> np.ndarray:
        """Trains every model on its batches and returns the sums of their losses [K]; restart: Adam starts anew."""
        if restart:
            self.steps_taken = np.zeros(len(batches))  # by each model since Adam started
            for moment in self.moments:
                moment.zero_()
        schedule = self._make_schedule(batches)
        if self.cuda_graph is not None and [x.shape for x in schedule] == [x.shape for x in self.schedule]:
            for old, new in zip(self.schedule, schedule, strict=True):  # the recorded step reads from these tensors
                old.copy_(new)
        else:
            self.schedule, self.cuda_graph = schedule, None
        self.next_step.zero_()
        self.losses.zero_()
        on_device = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with torch.no_grad(), products(), on_device:
            if self.device.type == "cuda" and self.cuda_graph is None:
                self._record()
            for _ in range(max(map(len, batches))):
                self._step() if self.cuda_graph is None else self.cuda_graph.replay()
        return self.losses.cpu().numpy()

    def _make_schedule(self, batches: Sequence[list[np.ndarray]]) -> list[Tensor]:
        """What each step needs: graphs, classes, sizes [steps, K, B], padded; factors of Adam [steps, 3, K, 1, 1].

        Counts the steps that the models take.
        """
        K, steps = len(batches), max(map(len, batches))
        B = max(len(batch) for own in batches for batch in own)
        members, y = np.full((steps, K, B), -1), np.full((steps, K, B), -1)
        for k, (job, own) in enumerate(zip(self.jobs, batches, strict=True)):
            for t, batch in enumerate(own):
                members[t, k, : len(batch)], y[t, k, : len(batch)] = job.members[batch], job.y[batch]
        sizes = np.where(members >= 0, self.sizes[members], 0)
        active = np.arange(steps)[:, None] < [len(own) for own in batches]  # models with fewer batches wait
        step = self.steps_taken + np.arange(1, steps + 1)[:, None]
        self.steps_taken = self.steps_taken + active.sum(0)
        factors = np.stack([active, 1 - 0.9**step, 1 - 0.999**step], 1).astype(np.float32)[..., None, None]
        return [self._tensor(array) for array in (members, y, sizes, factors)]

    def _record(self) -> None:
        """Records a step as a CUDA graph: replaying it takes a fifth of the time of launching its 150 operations."""
        changed = [self.theta, *self.moments, self.next_step, self.losses]
        before = [tensor.clone() for tensor in changed]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._step()  # warm-up: libraries allocate their workspaces, which cannot be recorded
        torch.cuda.current_stream().wait_stream(stream)
        self.next_step.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for tensor, old in zip(changed, before, strict=True):
            tensor.copy_(old)
        self.cuda_graph = graph

    def _step(self) -> None:
        """The next step of the schedule: changes tensors in place and never waits for a result of the device."""
        graphs, y, sizes, factors = (table.index_select(0, self.next_step)[0] for table in self.schedule)
        losses, grad_theta = self._losses_and_grad(graphs, y, sizes)
        self.losses += losses.double()
        active, scale, scale2 = factors  # active: 1 for models that have a batch left, else 0
        moment, moment2 = self.moments
        moment += active * 0.1 * (grad_theta - moment)
        moment2 += active * 0.001 * (grad_theta * grad_theta - moment2)
        self.theta -= active * self.rates * (moment / scale) / ((moment2 / scale2).sqrt() + ADAM_EPSILON)
        self.next_step += 1

    def _losses_and_grad(self, graphs: Tensor, y: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
        """Losses [K] and their gradient in theta [K, q, p], for graphs, classes and sizes [K, B]."""
        (K, B), N = graphs.shape, self.max_nodes
        node = torch.arange(N, device=self.device)
        rows = torch.where(node < sizes.unsqueeze(2), self.starts[graphs].unsqueeze(2) + node, self.padding_row)
        rows += self.first_rows
        propagated = self.propagated.view(-1, self.propagated.shape[2])[rows.flatten()].view(K, B * N, -1)
        points = torch.bmm(propagated, self.theta)
        points = (points.relu() if self.relu else points).view(K, B, N, -1)
        batches = PaddedBatches(
            points, sizes, self.directions, carry_points=self.carry_points, canonical=self.canonical
        )
        losses, grad_d2 = self.loss_and_grad(batches.squared_distances(), y, self.n_classes)
        grad_points = batches.backward(grad_d2)
        if self.relu:
            grad_points = grad_points * (points > 0)
        return losses, torch.bmm(propagated.mT, grad_points.view(K, B * N, -1))
