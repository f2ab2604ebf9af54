"""A fitted SGML metric as JSON and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..._core.fields import (
    LARGEST,
    Arrays,
    FieldError,
    anything,
    choice,
    flag,
    list_of,
    number,
    optional,
    record,
    text,
    whole,
    within,
)
from ...features import NodeFeatures
from ...features.edge_sums import EdgeSums
from ...features.propagation import PROPAGATIONS
from ...graphs import Columns
from ...objectives import Classes, Numbers
from ...transport.curves import DISTANCES, resolve
from .encoders import ACTIVATIONS, DIRECTED, MASSES, SGCN, restored
from .inputs import MAX_DEPTH, TASKS
from .training import History
from .training.batch_distances import CurveRule

if TYPE_CHECKING:
    from .estimator import SGML

_MANY = 10**9
_PARAMS = {
    "depth": whole(0, MAX_DEPTH), "n_components": whole(1, _MANY), "distance": choice(DISTANCES),
    "loss": optional(text), "n_epochs": whole(0, _MANY), "batch_size": whole(2, _MANY),
    "learning_rate": number(0, above=True), "features": text, "propagation": choice([*PROPAGATIONS, *DIRECTED]),
    "activation": choice(ACTIVATIONS), "ties": choice(["canonical", "first"]), "n_projections": whole(1, _MANY),
    "encoder": optional(text), "restart_optimizer": flag, "batching": text, "n_cells": whole(1, 4096),
    "warm_start": flag, "device": text, "random_state": optional(whole(0, 2**128)), "attribute": text,
    "label": optional(text), "progress": optional(flag), "edge_attribute": optional(text),
    "edge_label": optional(text), "edge_weight": optional(text), "edges": choice(["auto", False]),
    "directed": choice(["auto", True, False]), "edge_sums": flag, "task": choice(TASKS), "masses": choice(MASSES),
}  # fmt: skip
_HISTORY = {
    "loss": list_of(number(-LARGEST, LARGEST)), "seconds": list_of(number(0)), "interrupted": flag,
}  # fmt: skip
_STATE = record(
    {"params": record({"encoder": _PARAMS["encoder"]}, _PARAMS), "features": anything, "history": record(_HISTORY)},
    {
        "edge_sums": anything, "edges": record({"directed": flag, "weighted": flag}), "columns": anything,
        "classes": anything, "numbers": anything,
    },
)  # fmt: skip


def fitted_state(metric: SGML) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = metric.get_params(deep=False)
    params["encoder"] = None if metric.encoder is None else type(metric.encoder).__name__
    params |= {"loss": metric.loss if isinstance(metric.loss, str) else None, "random_state": metric.seed_}
    of_classes = isinstance(metric.objective_, Classes)
    config = {
        "params": params,
        "features": metric.features_.state(),
        "edge_sums": None if metric.edge_sums_ is None else metric.edge_sums_.state(),
        "edges": {"directed": metric.directed_, "weighted": metric.weighted_},
        "columns": metric.columns_.state(),
        "classes" if of_classes else "numbers": metric.objective_.state(),
        "history": vars(metric.history_),
    }
    tensors = {f"encoder.{name}": value.cpu().numpy() for name, value in metric.module_.state_dict().items()}
    if metric.rule_.directions is not None:
        tensors["directions"] = metric.rule_.directions.numpy()
    return config, tensors


def checked_params(config: Any) -> dict[str, Any]:
    """Options of an SGML metric in a file, or a :class:`FieldError`."""
    return _STATE(config, "config")["params"]


def restore_state(metric: SGML, config: Any, tensors: dict[str, np.ndarray]) -> None:
    """Makes an unfitted metric, with the options and the encoder that it was made with, the one saved.

    Raises a :class:`FieldError` for what cannot be.
    """
    config, held = _STATE(config, "config"), Arrays(tensors)
    if ("numbers" in config) == ("classes" in config):
        raise FieldError("classes", "or numbers must be there, and not both")
    metric.seed_ = metric.random_state
    metric.features_ = NodeFeatures.from_state(config["features"])
    if metric.features_.width_ != metric.features_.columns_:
        raise FieldError("features.width_", f"is not {metric.features_.columns_}, the number of columns")
    sums, edges = config.get("edge_sums"), config.get("edges", {})  # not in older files, which saw no edge data
    metric.edge_sums_ = None if sums is None else EdgeSums.from_state(sums)
    metric.directed_, metric.weighted_ = edges.get("directed", False), edges.get("weighted", False)
    metric.columns_ = Columns.from_state(config.get("columns"))
    metric.objective_ = Numbers() if "numbers" in config else Classes()
    metric.objective_.set_state(config["numbers"] if "numbers" in config else config["classes"])
    metric.history_ = History(**config["history"])
    if len(metric.history_.loss) != len(metric.history_.seconds):
        raise FieldError("history.seconds", "has not as many numbers as history.loss")
    width = metric.features_.width_ + (0 if metric.edge_sums_ is None else metric.edge_sums_.width)
    weights = _encoder_weights(metric, held.part("encoder."), width)
    options = {name: getattr(metric, name) for name in ("depth", "propagation", "activation")}
    metric.module_ = restored(metric.encoder, weights, **options)
    directions = None
    if metric.distance != "rpw":
        wide = weights["theta"].shape[1] if metric.encoder is None else None
        directions = torch.from_numpy(held.take("directions", (wide, None)))
    held.done()
    _, carry = resolve(metric.distance, 1, 1, None, 0, torch.empty(0))
    metric.rule_ = CurveRule(directions, carry, metric.ties)


def curve_shape(metric: SGML) -> tuple[int | None, int | None]:
    """Directions, and coordinates of a step, of the curves of a metric that was restored; None where unknown."""
    wide = metric.module_.theta.shape[1] if isinstance(metric.module_, SGCN) else None
    directions = metric.rule_.directions
    return wide if directions is None else directions.shape[1], 1 if metric.distance == "sw" else wide


def _encoder_weights(metric: SGML, held: Arrays, width: int) -> dict[str, np.ndarray]:
    """Weights of the encoder, for node features with so many columns; those of a module of the caller's as they are."""
    if metric.encoder is not None:
        return held.rest()
    with within("encoder"):
        found = {"theta": held.take("theta", (width, None))}
        if found["theta"].shape[1] < 1:
            raise FieldError("theta", "has no columns")
        if metric.masses == "learned":
            found["attention"] = held.take("attention", (width,))
            found["scale"] = held.take("scale", (width,), least=1e-30)
        held.done()
    return found
