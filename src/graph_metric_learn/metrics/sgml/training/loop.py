"""Algorithm 1 of the paper: epochs of shuffled batches, a loss on the squared distances within each, Adam."""

from __future__ import annotations

import time
import warnings
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...._core.progress import progress_bar
from ...._core.ragged import concatenated_ranges
from ....graphs import Graphs
from ....transport.vectors import curve_vectors
from ..encoders import SGCN, encode
from ..losses import resolve_loss, wants_vectors
from .batch_distances import CurveRule
from .batches import partition

EPSILON = 1e-7
_CHUNK_NODES = 50_000  # nodes trained on between two looks at the keyboard and the progress bar


@dataclass
class History:
    """What happened in training, epoch by epoch.

    Attributes
    ----------
    loss : list of float
        Mean loss per graph.
    seconds : list of float
        Time of each epoch.
    interrupted : bool
        Whether training was stopped from the keyboard.
    """

    loss: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    interrupted: bool = False


def train(
    module: nn.Module,
    graphs: Graphs,
    y: np.ndarray,
    rule: CurveRule,
    *,
    loss: Any,
    n_epochs: int,
    batch_size: int,
    learning_rate: float,
    restart: bool,
    batching: str,
    rng: np.random.Generator,
    n_cells: int,
    progress: bool | None,
    history: History,
) -> None:
    """Trains the encoder in place and adds to the history. After Ctrl-C, the last finished epoch is kept."""
    if n_epochs == 0:
        return
    fused = isinstance(module, SGCN) and isinstance(loss, str) and module.theta.device.type == "cpu"
    engine = (_Fused if fused else _Autograd)(module, graphs, y, rule, loss, learning_rate, n_cells)
    kept = deepcopy(module.state_dict())
    done = 0
    with progress_bar(progress, "training", total=n_epochs, unit="epoch", delay=1.0) as bar:
        try:
            for done in range(n_epochs):
                start = time.perf_counter()
                batches = partition(y, batch_size, rng, batching)
                total = engine.epoch(batches, fresh=restart or done == 0)
                kept = deepcopy(module.state_dict())
                history.loss.append(total / len(y))
                history.seconds.append(time.perf_counter() - start)
                bar.set_postfix(loss=f"{history.loss[-1]:.4f}")
                bar.update()
        except KeyboardInterrupt:
            module.load_state_dict(kept)
            history.interrupted = True
            warnings.warn(f"training interrupted: keeping the result of {done} of {n_epochs} epochs", stacklevel=3)
    check_finite(module)


def check_finite(module: nn.Module) -> None:
    if not all(bool(torch.isfinite(value).all()) for value in module.state_dict().values()):
        raise ValueError("training diverged (NaN in the encoder): scale the node features or lower learning_rate")


class _Fused:
    """SGCN, a built-in loss, on the CPU: compiled from end to end."""

    def __init__(
        self, module: nn.Module, graphs: Graphs, y: np.ndarray, rule: CurveRule, loss: str, rate: float, n_cells: int
    ) -> None:
        from . import compiled as fused

        resolve_loss(loss)
        assert isinstance(module, SGCN)
        self.kernels = fused
        self.theta = module.theta.detach().numpy()  # shares memory with the module
        self.mixed = module.prepare(graphs).numpy()
        self.graphs, self.y, self.classes = graphs, y, int(y.max()) + 1
        self.rate, self.code = rate, fused.LOSS_CODES[loss]
        self.moments, self.step = (np.zeros_like(self.theta), np.zeros_like(self.theta)), 0
        axes = rule.directions is None
        directions = np.zeros((self.theta.shape[1], 0), np.float32)
        if rule.directions is not None:
            directions = rule.directions.to(torch.float32).contiguous().numpy()
        self.rule = (directions, axes, rule.carry == "points", module.activation == "relu", rule.ties == "canonical")

    def epoch(self, batches: list[np.ndarray], *, fresh: bool) -> float:
        """Trains on the batches and returns the sum of their losses; fresh: Adam starts anew."""
        if fresh:
            self.moments, self.step = (np.zeros_like(self.theta), np.zeros_like(self.theta)), 0
        nodes = np.cumsum([self.graphs.sizes[batch].sum() for batch in batches])
        total = 0.0
        for chunk in np.split(np.arange(len(batches)), np.flatnonzero(np.diff(nodes // _CHUNK_NODES)) + 1):
            some = [batches[b] for b in chunk]
            bounds = np.concatenate([[0], np.cumsum([len(batch) for batch in some])])
            losses = np.empty(len(some))
            self.step = self.kernels.train_steps(
                self.mixed, self.graphs.offsets, self.y, self.classes, np.concatenate(some), bounds,
                self.theta, *self.moments, self.step, self.rate, EPSILON, *self.rule, self.code, losses,
            )  # fmt: skip
            total += losses.sum()
        return float(total)


class _Autograd:
    """Any encoder, any loss, any device: by torch."""

    def __init__(
        self, module: nn.Module, graphs: Graphs, y: np.ndarray, rule: CurveRule, loss: Any, rate: float, n_cells: int
    ) -> None:
        self.module, self.graphs, self.rule, self.rate, self.n_cells = module, graphs, rule, rate, n_cells
        self.loss, self.vectors = resolve_loss(loss), wants_vectors(loss)
        parameters = list(module.parameters())
        if not parameters:
            raise ValueError("the encoder has no parameters to train: use n_epochs=0")
        self.device = parameters[0].device
        self.y = torch.from_numpy(y).to(self.device)
        self.mixed = module.prepare(graphs) if isinstance(module, SGCN) else None
        self.optimizer = self._adam()

    def _adam(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.module.parameters(), lr=self.rate, eps=EPSILON)

    def _features(self, batch: np.ndarray) -> Tensor:
        if self.mixed is None:
            return encode(self.module, self.graphs[batch])
        rows = concatenated_ranges(self.graphs.offsets[batch], self.graphs.sizes[batch])
        return self.module(self.mixed[torch.from_numpy(rows).to(self.device)])

    def epoch(self, batches: list[np.ndarray], *, fresh: bool) -> float:
        """Trains on the batches and returns the sum of their losses; fresh: Adam starts anew."""
        if fresh:
            self.optimizer = self._adam()
        self.module.train()
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for batch in batches:
            features, sizes = self._features(batch), self.graphs.sizes[batch]
            classes = self.y[torch.from_numpy(batch).to(self.device)]
            if self.vectors:
                value = self.loss(curve_vectors(self.rule.curves(features, sizes), self.n_cells), classes)
            else:
                value = self.loss(self.rule.squared_distances(features, sizes), classes)
            self.optimizer.zero_grad()
            if value.requires_grad:
                value.backward()
                self.optimizer.step()
            total += value.detach().double() * (len(batch) if self.vectors else 1)
        self.module.eval()
        return float(total)
