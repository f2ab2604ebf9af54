"""Training of one encoder, Algorithm 1 of the paper: epochs of random batches, a loss on the distances in each, Adam.

Two engines do the steps: the compiled one (`compiled.py`), where it applies, and torch's autograd. Many models at once
are trained by `many_models.py`.
"""

from __future__ import annotations

import time
import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from msgspec import field
from torch import Tensor, nn

from ...._core.progress import progress_bar
from ...._core.ragged import concatenated_ranges, offsets
from ...._core.schema import FieldError, NonNegative, Number, Saved
from ....graphs import Graphs
from ....transport.curve_vectors import curve_vectors
from ..encoders import SGCN, encode_measures, node_masses, prepare
from ..losses import named_loss, resolve_loss, wants_vectors
from .batch_distances import CurveRule
from .batches import partition

ADAM_EPSILON = 1e-7  # as in the authors' code
_CHUNK_NODES = 50_000  # nodes per call of the compiled step: Ctrl-C and the progress bar wait for it to return


class History(Saved):
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

    loss: list[Number] = field(default_factory=list)
    seconds: list[NonNegative] = field(default_factory=list)
    interrupted: bool = False

    def __post_init__(self) -> None:
        if len(self.loss) != len(self.seconds):
            raise FieldError("seconds", f"are {len(self.seconds)} for {len(self.loss)} epochs")


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
    """Trains the encoder in place and adds to the history. After Ctrl-C, the last finished epoch is kept.

    Parameters
    ----------
    module : nn.Module
        See `encoders`.
    graphs : Graphs
        With node features.
    y : ndarray [N] or [N, T]
        Classes 0, 1, …, or numbers, standardised.
    rule : CurveRule
        The distance.
    loss : str or callable
        See `losses.resolve_loss`.
    n_epochs, batch_size, learning_rate, batching, n_cells, progress
        As in `SGML`.
    restart : bool
        Whether Adam starts anew at every epoch.
    rng : numpy.random.Generator
        For the batches.
    history : History
        Added to.
    """
    if n_epochs == 0:
        return
    engine: _CompiledEngine | _AutogradEngine
    if _can_be_compiled(module, loss):
        engine = _CompiledEngine(module, graphs, y, rule, loss=loss, rate=learning_rate)
    else:
        engine = _AutogradEngine(module, graphs, y, rule, loss=loss, rate=learning_rate, n_cells=n_cells)
    of_numbers = y.ndim == 2  # no classes that each batch should hold
    last_epoch = deepcopy(module.state_dict())
    done = 0
    with progress_bar(progress, "training", total=n_epochs, unit="epoch", delay=1.0) as bar:
        try:
            for done in range(n_epochs):
                start = time.perf_counter()
                batches = partition(y, batch_size, rng, "shuffled" if of_numbers else batching)
                total = engine.epoch(batches, restart=restart or done == 0)
                last_epoch = deepcopy(module.state_dict())
                history.loss.append(total / len(y))
                history.seconds.append(time.perf_counter() - start)
                bar.set_postfix(loss=f"{history.loss[-1]:.4f}")
                bar.update()
        except KeyboardInterrupt:
            module.load_state_dict(last_epoch)
            history.interrupted = True
            warnings.warn(f"training interrupted: keeping the result of {done} of {n_epochs} epochs", stacklevel=3)
    check_finite(module)


def check_finite(module: nn.Module) -> None:
    """Raises a `ValueError` if training diverged."""
    if not all(bool(torch.isfinite(value).all()) for value in module.state_dict().values()):
        raise ValueError("training diverged (NaN in the encoder): scale the node features or lower learning_rate")


def _can_be_compiled(module: nn.Module, loss: Any) -> bool:
    """The compiled step is that of SGCN with uniform masses, on the CPU, with a loss that has compiled loops."""
    named = named_loss(loss)
    compiled_loss = named is not None and named.compiled is not None
    on_cpu = isinstance(module, SGCN) and module.attention is None and module.theta.device.type == "cpu"
    return on_cpu and compiled_loss


class _CompiledEngine:
    """Epochs by the compiled step; see `_can_be_compiled`."""

    def __init__(
        self, module: nn.Module, graphs: Graphs, y: np.ndarray, rule: CurveRule, *, loss: str, rate: float
    ) -> None:
        from . import compiled

        named = named_loss(loss)
        assert isinstance(module, SGCN)
        assert named is not None
        assert named.compiled is not None
        self.kernels, self.sizes, self.rate, self.loss_code = compiled, graphs.sizes, rate, named.compiled
        self.theta = module.theta.detach().numpy()  # shares memory with the module
        self.data = compiled.TrainingSet(module.prepare(graphs).numpy(), graphs.offsets, y, int(y.max()) + 1)
        on_axes = rule.directions is None
        directions = np.zeros((self.theta.shape[1], 0), np.float32)
        if rule.directions is not None:
            directions = rule.directions.to(torch.float32).contiguous().numpy()
        carry_points, canonical = rule.carry == "points", rule.ties == "canonical"
        self.model = compiled.Model(directions, on_axes, carry_points, canonical, module.activation == "relu")
        self._start_adam()

    def _start_adam(self) -> None:
        zeros = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self.adam, self.step = self.kernels.Adam(self.theta, *zeros, self.rate, ADAM_EPSILON), 0

    def epoch(self, batches: list[np.ndarray], *, restart: bool) -> float:
        """Trains on the batches and returns the sum of their losses; restart: Adam starts anew."""
        if restart:
            self._start_adam()
        nodes = np.cumsum([self.sizes[batch].sum() for batch in batches])
        total = 0.0
        for chunk in np.split(np.arange(len(batches)), np.flatnonzero(np.diff(nodes // _CHUNK_NODES)) + 1):
            members = [batches[b] for b in chunk]
            bounds = offsets(np.array([len(batch) for batch in members]))
            losses = np.empty(len(members))
            self.step = self.kernels.train_steps(
                self.data, self.kernels.Batches(np.concatenate(members), bounds),
                self.adam, self.step, self.model, self.loss_code, losses,
            )  # fmt: skip
            total += losses.sum()
        return float(total)


class _AutogradEngine:
    """Epochs by torch: any encoder, any loss, any device."""

    def __init__(
        self,
        module: nn.Module,
        graphs: Graphs,
        y: np.ndarray,
        rule: CurveRule,
        *,
        loss: Any,
        rate: float,
        n_cells: int,
    ) -> None:
        self.module, self.graphs, self.rule, self.rate, self.n_cells = module, graphs, rule, rate, n_cells
        self.loss, self.on_vectors = resolve_loss(loss), wants_vectors(loss)
        parameters = list(module.parameters())
        if not parameters:
            raise ValueError("the encoder has no parameters to train: use n_epochs=0")
        self.device = parameters[0].device
        self.y = torch.from_numpy(y).to(self.device)
        self.prepared = prepare(module, graphs)
        self.optimizer = self._new_adam()

    def _new_adam(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.module.parameters(), lr=self.rate, eps=ADAM_EPSILON)

    def _measures(self, batch: np.ndarray) -> tuple[Tensor, Tensor | None]:
        """Node features of the graphs of a batch [R, p], and masses [R] where they are learned."""
        if self.prepared is None:
            return encode_measures(self.module, self.graphs[batch])
        rows = concatenated_ranges(self.graphs.offsets[batch], self.graphs.sizes[batch])
        prepared = self.prepared[torch.from_numpy(rows).to(self.device)]
        return self.module(prepared), node_masses(self.module, prepared, self.graphs.sizes[batch])

    def epoch(self, batches: list[np.ndarray], *, restart: bool) -> float:
        """Trains on the batches and returns the sum of their losses; restart: Adam starts anew."""
        if restart:
            self.optimizer = self._new_adam()
        self.module.train()
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for batch in batches:
            (features, masses), sizes = self._measures(batch), self.graphs.sizes[batch]
            targets = self.y[torch.from_numpy(batch).to(self.device)]
            if self.on_vectors:
                value = self.loss(curve_vectors(self.rule.curves(features, sizes, masses), self.n_cells), targets)
            else:
                value = self.loss(self.rule.squared_distances(features, sizes, masses), targets)
            self.optimizer.zero_grad()
            if value.requires_grad:
                value.backward()
                self.optimizer.step()
            total += value.detach().double() * (len(batch) if self.on_vectors else 1)  # vectors: the loss is a mean
        self.module.eval()
        return float(total)
