"""A fitted SGML metric as JSON and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...features import NodeFeatures
from ...features.edge_sums import EdgeSums
from ...graphs import Columns
from ...objectives import Classes, Numbers
from ...persistence.models import strip_prefix
from ...transport.curves import resolve
from .encoders import restored
from .training import History
from .training.batch_distances import CurveRule

if TYPE_CHECKING:
    from .estimator import SGML


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


def restore_state(metric: SGML, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Makes an unfitted metric, with the options and the encoder that it was made with, the one saved."""
    metric.seed_ = metric.random_state
    metric.features_ = NodeFeatures.from_state(config["features"])
    sums, edges = config.get("edge_sums"), config.get("edges", {})  # not in older files, which saw no edge data
    metric.edge_sums_ = None if sums is None else EdgeSums.from_state(sums)
    metric.directed_, metric.weighted_ = edges.get("directed", False), edges.get("weighted", False)
    metric.columns_ = Columns.from_state(config.get("columns"))
    metric.objective_ = Numbers() if "numbers" in config else Classes()
    metric.objective_.set_state(config["numbers"] if "numbers" in config else config["classes"])
    metric.history_ = History(**config["history"])
    options = {name: getattr(metric, name) for name in ("depth", "propagation", "activation")}
    metric.module_ = restored(metric.encoder, strip_prefix(tensors, "encoder."), **options)
    directions = torch.from_numpy(tensors["directions"]) if "directions" in tensors else None
    _, carry = resolve(metric.distance, 1, 1, None, 0, torch.empty(0))
    metric.rule_ = CurveRule(directions, carry, metric.ties)
