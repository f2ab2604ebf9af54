"""Neural networks on graphs as baselines: inputs, training with early stopping, the choice among settings."""

from __future__ import annotations

import copy
import itertools
import time
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

from graph_metric_learn._core.validation import whole_number
from graph_metric_learn.features.node_features import NodeFeatures
from graph_metric_learn.features.onehot import binary_columns
from graph_metric_learn.graphs import Graphs
from graph_metric_learn.transport.devices import resolve_device

from .base import System, positive
from .network_inputs import EdgeInputs, NetworkInput
from .reproducible import deterministic, local_seed, one_thread

HELD_OUT = 0.1  # share of the training graphs on which epochs and settings are compared
HALVING = 50  # epochs after which the learning rate is halved, as in the paper of GIN
PROBE = 3  # epochs after which the time of all is estimated: the first one also warms up
LARGE_BATCH = 512  # graphs at once when nothing is trained


class TooLong(RuntimeError):
    """Training takes longer than it may: `limit` seconds were allowed, it would take at least `estimated`."""

    def __init__(self, limit: float, estimated: float) -> None:
        super().__init__(f"training takes at least {estimated:.0f} s, more than the limit of {limit:.0f} s")
        self.limit, self.estimated = limit, estimated


class Setting(NamedTuple):
    """What is chosen on the held-out part."""

    layers: int
    width: int
    learning_rate: float


class Trained(NamedTuple):
    """A network after training, as it was in its best epoch, and what it reached on the held-out part."""

    module: nn.Module
    accuracy: float
    loss: float
    epochs: int

    @property
    def rank(self) -> tuple[float, float]:
        """Larger is better: the accuracy, and of equal ones the smaller loss."""
        return self.accuracy, -self.loss


class GraphNetwork(System):
    """A neural network that classifies graphs. Subclasses define :meth:`build`.

    A tenth of the training graphs is held out. Every combination of a size and a learning rate is trained on the rest,
    until the accuracy on the held-out part (of equal ones, the loss) has not improved for `patience` epochs. The best
    epoch of the best combination counts. Adam; the learning rate is halved every 50 epochs.

    Parameters
    ----------
    sizes : sequence of (layers, width)
        Sizes to choose from.
    learning_rates : sequence of float
        Learning rates to choose from.
    features : {"auto", "x", "attributes", "labels", "degree", "fuse"}
        What nodes are described by, see `NodeFeatures`. "auto" is all there is: labels one-hot, attributes scaled,
        one-hot columns as they are, the degree where nodes carry nothing.
    epochs, patience, batch_size : int
        The most epochs, how many of them may pass without improvement, and graphs per step.
    dropout : float
        Before the scores.
    limit : float, optional
        Seconds that `fit` may take; if it needs more, it raises :class:`TooLong`, as soon as that is clear.
    device : str or torch.device
        "auto" is the GPU if there is one.
    seed : int
        For the held-out part, initial weights, batches and dropout. The same seed gives the same network on the same
        machine. PyTorch's global generator is left as it was.

    Attributes
    ----------
    classes_ : ndarray [C]
        The labels seen in `fit`.
    chosen_ : dict
        The setting, and the number of epochs.
    validation_, validation_loss_ : float
        Its accuracy and mean loss on the held-out part.
    module_ : torch.nn.Module
        The network.
    """

    default_sizes: ClassVar[tuple[tuple[int, int], ...]] = ((5, 64), (3, 32))
    default_rates: ClassVar[tuple[float, ...]] = (1e-2, 1e-3)
    on_gpu: ClassVar[bool] = True
    grid_limit: ClassVar[float] = 20 * 60.0  # seconds for one split in the tables

    def __init__(
        self,
        *,
        sizes: Any = None,
        learning_rates: Any = None,
        features: str = "auto",
        epochs: int = 300,
        patience: int = 50,
        batch_size: int = 64,
        dropout: float = 0.5,
        limit: float | None = None,
        device: Any = "auto",
        seed: int = 0,
    ) -> None:
        self.sizes, self.learning_rates, self.features = sizes, learning_rates, features
        self.epochs, self.patience, self.batch_size = epochs, patience, batch_size
        self.dropout, self.limit, self.device, self.seed = dropout, limit, device, seed

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        """One setting: the features of the task; sizes and learning rates are chosen in `fit`."""
        return [{"features": "x", "limit": cls.grid_limit}]

    def build(self, width: int, edge_width: int, classes: int, setting: Setting) -> nn.Module:
        """A network with initial weights that takes a `Batch` and returns scores of the classes [B, C].

        `width` and `edge_width` are the numbers of features of nodes and of edges; layers stand in the setting.
        """
        raise NotImplementedError

    def fit(self, graphs: Any, y: Any) -> GraphNetwork:
        """Trains on graphs (anything `as_graphs` takes) and their classes y [N]."""
        began = time.perf_counter()
        self.require()
        settings, device = self._settings(), self._device()
        graphs = self.read(graphs)
        if np.shape(y) != (len(graphs),):
            raise ValueError(f"{len(graphs)} graphs and labels of shape {np.shape(y)}: give one label per graph")
        if len(graphs) < 2:
            raise ValueError("one graph is not enough: one is trained on, another held out")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.node_features_ = NodeFeatures(self._kind(graphs)).fit(graphs)
        self.edge_inputs_ = EdgeInputs().fit(graphs) if self.edges else None
        data = self._input(graphs, device)
        targets = torch.from_numpy(codes).to(device)
        parts = held_out(codes, self.seed)
        best: Trained | None = None
        clock = _Clock(self.limit, began, min(self.epochs, self.patience + 1))
        for setting in settings:
            clock.start()
            with local_seed(self.seed, device), one_thread(), deterministic(device):
                module = self.build(data.width, data.edge_width, len(self.classes_), setting).to(device)
                trained = self._train(module, data, targets, parts, setting.learning_rate, clock)
            if best is None or trained.rank > best.rank:
                best, chosen = trained, setting
        assert best is not None
        self.module_, self.validation_, self.validation_loss_ = best.module, best.accuracy, best.loss
        self.chosen_ = {**chosen._asdict(), "epochs": best.epochs}
        return self

    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        best = self.decision_function(graphs).argmax(1)
        return self.classes_[best]

    def decision_function(self, graphs: Any) -> np.ndarray:
        """Scores of the classes [N, C]: the logarithms of their probabilities, up to a constant per graph."""
        if not hasattr(self, "module_"):
            raise ValueError(f"{type(self).__name__} is not fitted: call fit first")
        device = next(self.module_.parameters()).device
        data = self._input(self.read(graphs), device)
        with one_thread(), deterministic(device):
            return _scores(self.module_, data.batches(np.arange(len(data)), LARGE_BATCH)).cpu().numpy()

    def _settings(self) -> list[Setting]:
        sizes = self.default_sizes if self.sizes is None else self.sizes
        rates = self.default_rates if self.learning_rates is None else self.learning_rates
        settings = [Setting(layers, width, rate) for (layers, width), rate in itertools.product(sizes, rates)]
        if not settings:
            raise ValueError("sizes and learning_rates must not be empty")
        for setting in settings:
            whole_number("number of layers", setting.layers, 1)
            whole_number("width", setting.width, 1)
            positive(learning_rate=setting.learning_rate)
        for option in ("epochs", "patience", "batch_size"):
            whole_number(option, getattr(self, option), 1)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout!r}")
        return settings

    def _device(self) -> torch.device:
        return resolve_device(self.device, auto="cuda" if self.on_gpu and torch.cuda.is_available() else "cpu")

    def _kind(self, graphs: Graphs) -> str:
        """What "auto" stands for."""
        if self.features != "auto":
            return self.features
        if graphs.x is None:
            return "degree" if graphs.labels is None else "labels"
        if binary_columns(graphs.x).all():
            return "x"
        return "attributes" if graphs.labels is None else "fuse"

    def _input(self, graphs: Graphs, device: torch.device) -> NetworkInput:
        return NetworkInput.of(self.node_features_.transform(graphs), self.edge_inputs_, device)

    def _train(
        self,
        module: nn.Module,
        data: NetworkInput,
        targets: Tensor,
        parts: tuple[np.ndarray, np.ndarray],
        learning_rate: float,
        clock: _Clock,
    ) -> Trained:
        """The network in the best of its epochs, trained on the first part, and compared on the second."""
        train, test = parts
        check = list(data.batches(test, LARGE_BATCH))
        rng = np.random.default_rng(self.seed)
        optimizer = torch.optim.Adam(module.parameters(), lr=learning_rate)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, HALVING, 0.5)
        best: Trained | None = None
        for epoch in range(1, self.epochs + 1):
            module.train()
            for which, batch in data.shuffled(train, self.batch_size, rng):
                optimizer.zero_grad(set_to_none=True)
                nn.functional.cross_entropy(module(batch), targets[which]).backward()
                optimizer.step()
            schedule.step()
            scores, truth = _scores(module, check), targets[torch.from_numpy(test).to(targets.device)]
            accuracy = (scores.argmax(1) == truth).double().mean()
            loss = nn.functional.cross_entropy(scores, truth)
            trained = Trained(module, float(accuracy), float(loss), epoch)
            if best is None or trained.rank > best.rank:
                best = trained._replace(module=copy.deepcopy(module))
            elif epoch - best.epochs >= self.patience:
                break
            clock.tick(epoch)
        assert best is not None
        best.module.eval()
        return best


def _scores(module: nn.Module, batches: Any) -> Tensor:
    """The scores of all graphs [N, C], without dropout."""
    module.eval()
    with torch.no_grad():
        return torch.cat([module(batch) for batch in batches])


def held_out(codes: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the graphs to train on and of those held out; stratified, unless a class is too small for that.

    >>> train, test = held_out(np.arange(40) % 2, seed=0)
    >>> len(train), np.bincount(test % 2).tolist()
    (36, [2, 2])
    """
    counts = np.bincount(codes)
    count = max(1, round(HELD_OUT * len(codes)))
    stratified = counts.min() >= 2 and count >= len(counts)
    train, test = train_test_split(
        np.arange(len(codes)), test_size=count, random_state=seed, stratify=codes if stratified else None
    )
    return train, test


class _Clock:
    """Raises `TooLong` when the limit is passed, or certain to be.

    A setting takes at least `least` epochs, which bounds its time from below after a few of them.
    """

    def __init__(self, limit: float | None, began: float, least: int) -> None:
        self.limit, self.began, self.least = limit, began, least
        self.start()

    def start(self) -> None:
        """A setting begins."""
        self.setting_began = time.perf_counter()

    def tick(self, epoch: int) -> None:
        """An epoch of the current setting is done."""
        if self.limit is None:
            return
        now = time.perf_counter()
        still = max(self.least - epoch, 0) if epoch >= PROBE else 0
        estimated = now - self.began + still * (now - self.setting_began) / epoch
        if estimated > self.limit:
            raise TooLong(self.limit, estimated)
