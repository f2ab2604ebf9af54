"""Training of one encoder, Algorithm 1 of the paper: epochs of random batches, a loss on the distances in each, Adam.

Two implementations of a step learn the same up to rounding: torch's autograd, the reference, for anything that can be
trained, and `compiled_step.py` for an SGCN on the CPU. `many_models.py` is a third, for many SGCNs on a GPU.
"""

from __future__ import annotations

import time
import warnings
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from msgspec import field
from torch import Tensor, nn

from ...._core.progress import progress_bar
from ...._core.ragged import concatenated_ranges, offsets
from ...._core.schema import FieldError, NonNegative, Number, Saved
from ...._core.validation import one_of
from ....graphs import Graphs
from ....transport.grids import curve_vectors
from ..encoders import SGCN, encode_measures, node_masses, prepare
from ..losses import named_loss, resolve_loss, wants_vectors
from .batch_distances import CurveRule

BATCHINGS = ("covered", "shuffled")
ADAM_EPSILON = 1e-7  # as in the authors' code
_CHUNK_NODES = 50_000  # nodes per call of the compiled step: Ctrl-C and the progress bar wait for it to return


@dataclass(frozen=True)
class TrainingOptions:
    """Those options of `SGML` that say how it is trained."""

    loss: Any
    n_epochs: int
    batch_size: int
    learning_rate: float
    restart: bool  # whether Adam starts anew at every epoch
    batching: str
    n_cells: int


class History(Saved):
    """What happened in training, epoch by epoch."""

    loss: list[Number] = field(default_factory=list)  # mean per graph
    seconds: list[NonNegative] = field(default_factory=list)  # time of each epoch
    interrupted: bool = False  # whether training was stopped from the keyboard

    def __post_init__(self) -> None:
        if len(self.loss) != len(self.seconds):
            raise FieldError("seconds", f"are {len(self.seconds)} for {len(self.loss)} epochs")


def train(
    module: nn.Module,
    graphs: Graphs,
    y: np.ndarray,
    rule: CurveRule,
    options: TrainingOptions,
    *,
    rng: np.random.Generator,
    history: History,
    progress: bool | None = None,
) -> None:
    """Trains an encoder in place and adds to the history. After Ctrl-C, the last finished epoch is kept.

    y : ndarray [N] or [N, T]
        Classes 0, 1, …, or numbers, standardised.
    rng : numpy.random.Generator
        For the batches.
    """
    n_epochs = options.n_epochs
    if n_epochs == 0:
        return
    engine_type = _AutogradEngine if _compiled_loss(module, options.loss) is None else _CompiledEngine
    engine = engine_type(module, graphs, y, rule, options)
    batching = "shuffled" if y.ndim == 2 else options.batching  # numbers: no classes that each batch should hold
    last_epoch = deepcopy(module.state_dict())
    done = 0
    with progress_bar(progress, "training", total=n_epochs, unit="epoch", delay=1.0) as bar:
        try:
            for done in range(n_epochs):
                start = time.perf_counter()
                batches = partition(y, options.batch_size, rng, batching)
                total = engine.epoch(batches, restart=options.restart or done == 0)
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


def _compiled_loss(module: nn.Module, loss: Any) -> int | None:
    """Code of a loss in the compiled step, if that applies: to SGCN with uniform masses, on the CPU; else None."""
    named = named_loss(loss)
    applies = isinstance(module, SGCN) and module.attention is None and module.theta.device.type == "cpu"
    return named.compiled if applies and named is not None else None


class _CompiledEngine:
    """Epochs by the compiled step; see `_compiled_loss`."""

    def __init__(
        self, module: nn.Module, graphs: Graphs, y: np.ndarray, rule: CurveRule, options: TrainingOptions
    ) -> None:
        from . import compiled_step

        assert isinstance(module, SGCN)
        self.kernels, self.sizes, self.loss_code = compiled_step, graphs.sizes, _compiled_loss(module, options.loss)
        self.rate = options.learning_rate
        self.theta = module.theta.detach().numpy()  # shares memory with the module
        self.data = compiled_step.TrainingSet(module.prepare(graphs).numpy(), graphs.offsets, y, int(y.max()) + 1)
        directions = rule.directions_like(module.theta)
        self.model = compiled_step.Model(
            np.zeros((len(self.theta.T), 0), np.float32) if directions is None else directions.contiguous().numpy(),
            directions is None, rule.carry == "points", rule.ties == "canonical", module.activation == "relu",
        )  # fmt: skip

    def epoch(self, batches: list[np.ndarray], *, restart: bool) -> float:
        """Trains on the batches and returns the sum of their losses; restart: Adam starts (anew)."""
        if restart:
            zeros = np.zeros_like(self.theta), np.zeros_like(self.theta)
            self.adam, self.step = self.kernels.Adam(self.theta, *zeros, self.rate, ADAM_EPSILON), 0
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
        self, module: nn.Module, graphs: Graphs, y: np.ndarray, rule: CurveRule, options: TrainingOptions
    ) -> None:
        self.module, self.graphs, self.rule = module, graphs, rule
        self.rate, self.n_cells = options.learning_rate, options.n_cells
        self.loss, self.on_vectors = resolve_loss(options.loss), wants_vectors(options.loss)
        parameters = list(module.parameters())
        if not parameters:
            raise ValueError("the encoder has no parameters to train: use n_epochs=0")
        self.device = parameters[0].device
        self.y = torch.from_numpy(y).to(self.device)
        self.prepared = prepare(module, graphs)

    def _measures(self, batch: np.ndarray) -> tuple[Tensor, Tensor | None]:
        """Node features of the graphs of a batch [R, p], and masses [R] where they are learned."""
        if self.prepared is None:
            return encode_measures(self.module, self.graphs[batch])
        rows = concatenated_ranges(self.graphs.offsets[batch], self.graphs.sizes[batch])
        prepared = self.prepared[torch.from_numpy(rows).to(self.device)]
        return self.module(prepared), node_masses(self.module, prepared, self.graphs.sizes[batch])

    def epoch(self, batches: list[np.ndarray], *, restart: bool) -> float:
        """Trains on the batches and returns the sum of their losses; restart: Adam starts (anew)."""
        if restart:
            self.optimizer = torch.optim.Adam(self.module.parameters(), lr=self.rate, eps=ADAM_EPSILON)
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


# --- batches ---------------------------------------------------------------------------------------------------------


def partition(y: np.ndarray, batch_size: int, rng: np.random.Generator, batching: str = "covered") -> list[np.ndarray]:
    """A random partition of the elements into batches; a last batch of one element joins the one before.

    y : ndarray [N]
        Classes; for "shuffled", targets of any kind.
    batching : {"covered", "shuffled"}
        "shuffled" is a plain random partition, as in the paper. Small batches may then hold elements of one class
        only, from which nothing can be learned: "covered" exchanges one of their elements with another batch.

    Examples
    --------
    >>> y = np.array([0] * 7 + [1] * 2)
    >>> [sorted(y[batch].tolist()) for batch in partition(y, 3, np.random.default_rng(0))]
    [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    one_of("batching", batching, BATCHINGS)
    order = rng.permutation(len(y))
    bounds = list(range(0, len(y), batch_size))
    if len(bounds) > 1 and len(y) - bounds[-1] == 1:
        bounds.pop()
    batches = np.split(order, bounds[1:])
    if batching == "covered":
        _cover(batches, y)
    return batches


def _cover(batches: list[np.ndarray], y: np.ndarray) -> None:
    """Gives every batch of one class an element of another class, in place.

    The donor is the next batch, cyclically, that has at least two such elements and so keeps two classes itself; or one
    that consists of nothing else and has nothing to lose.
    """
    for b, batch in enumerate(batches):
        only_class = y[batch[0]]
        if (y[batch] != only_class).any():
            continue
        for step in range(1, len(batches)):
            donor = batches[(b + step) % len(batches)]
            foreign = np.flatnonzero(y[donor] != only_class)
            if len(foreign) >= 2 or (len(foreign) == len(donor) and len(foreign) > 0):
                batch[0], donor[foreign[0]] = donor[foreign[0]], batch[0]
                break
