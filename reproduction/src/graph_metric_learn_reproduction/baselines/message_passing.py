"""chemprop: a network for molecules that passes messages along bonds."""

from __future__ import annotations

import copy
import logging
from typing import Any

import numpy as np
import torch

from graph_metric_learn._core.validation import whole_number

from .molecules import MoleculeSystem, as_molecules
from .networks import held_out
from .reproducible import local_seed


class Chemprop(MoleculeSystem):
    """Directed message passing [1]_, as chemprop 2 has it by default; the best epoch on a held-out tenth counts.

    Needs `pip install chemprop`, which is no dependency of this package.

    Parameters
    ----------
    epochs, batch_size : int
        Of the training.
    task : {"auto", "classes", "numbers"}
        See `MoleculeSystem`.
    seed : int
        For the held-out part, initial weights and batches.

    Attributes
    ----------
    chosen_ : dict
        The number of epochs.
    model_ : chemprop.models.MPNN

    References
    ----------
    .. [1] K. Yang et al. Analyzing Learned Molecular Representations for Property Prediction. Journal of Chemical
       Information and Modeling, 2019.
    """

    name = "chemprop"
    needs = ("rdkit", "chemprop")
    comes_with = "chemprop"

    def __init__(self, *, epochs: int = 50, batch_size: int = 64, task: str = "auto", seed: int = 0) -> None:
        self.epochs, self.batch_size, self.task, self.seed = epochs, batch_size, task, seed

    def fit(self, molecules: Any, y: Any) -> Chemprop:
        """Trains on molecules and their classes or numbers y [N]."""
        self.require()
        from chemprop import data, models, nn  # type: ignore[import-not-found]

        whole_number("epochs", self.epochs, 1)
        rows = as_molecules(molecules)
        targets = self._targets(y, len(rows))
        numbers = self.task_ == "numbers"
        train, test = held_out(np.zeros(len(rows), dtype=int) if numbers else targets, self.seed)
        parts = [
            data.MoleculeDataset([data.MoleculeDatapoint(rows[i], np.array([float(targets[i])])) for i in part])
            for part in (train, test)
        ]
        with local_seed(self.seed, torch.device("cpu")):
            if numbers:
                scaler = parts[0].normalize_targets()
                parts[1].normalize_targets(scaler)
                head = nn.RegressionFFN(output_transform=nn.UnscaleTransform.from_standard_scaler(scaler))
            elif len(self.classes_) == 2:
                head = nn.BinaryClassificationFFN()
            else:
                head = nn.MulticlassClassificationFFN(n_classes=len(self.classes_))
            self.model_ = models.MPNN(nn.BondMessagePassing(), nn.MeanAggregation(), head, batch_norm=True)
            best = _KeepBest()
            loaders = [
                data.build_dataloader(parts[0], self.batch_size, seed=self.seed),
                data.build_dataloader(parts[1], self.batch_size, shuffle=False, drop_last=False),
            ]
            _trainer(self.epochs, [best.callback()]).fit(self.model_, *loaders)
        self.model_.load_state_dict(best.state)
        self.chosen_ = {"epochs": best.epoch}
        return self

    def predict(self, molecules: Any) -> np.ndarray:
        """Classes or numbers [N]."""
        if self._fitted("task_") == "numbers":
            return self._output(molecules)[:, 0]
        return self.classes_[self.decision_function(molecules).argmax(1)]

    def decision_function(self, molecules: Any) -> np.ndarray:
        """The probability of each class [N, C]."""
        if self._fitted("task_") != "classes":
            raise ValueError("decision_function is for classes, this model was fitted to numbers")
        output = self._output(molecules)
        return np.concatenate([1 - output, output], axis=1) if len(self.classes_) == 2 else output[:, 0]

    def _output(self, molecules: Any) -> np.ndarray:
        """What the network says [N, …]."""
        model = self._fitted("model_")
        from chemprop import data

        points = data.MoleculeDataset([data.MoleculeDatapoint(molecule) for molecule in as_molecules(molecules)])
        loader = data.build_dataloader(points, self.batch_size, shuffle=False, drop_last=False)
        return torch.cat(_trainer(1, []).predict(model, loader)).cpu().numpy()


class _KeepBest:
    """The state of the network after the epoch with the least loss on the held-out part."""

    def __init__(self) -> None:
        self.loss, self.epoch = float("inf"), 0
        self.state: dict[str, Any] = {}

    def callback(self) -> Any:
        from lightning.pytorch.callbacks import LambdaCallback  # type: ignore[import-not-found]

        return LambdaCallback(on_validation_epoch_end=self._look)

    def _look(self, trainer: Any, module: Any) -> None:
        loss = float(trainer.callback_metrics["val_loss"])
        if not trainer.sanity_checking and loss < self.loss:
            self.loss, self.epoch = loss, trainer.current_epoch + 1
            self.state = copy.deepcopy(module.state_dict())


def _trainer(epochs: int, callbacks: list[Any]) -> Any:
    """A trainer that writes no files and shows nothing."""
    from lightning import pytorch as lightning  # type: ignore[import-not-found]

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return lightning.Trainer(
        max_epochs=epochs, callbacks=callbacks, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0,
    )  # fmt: skip
