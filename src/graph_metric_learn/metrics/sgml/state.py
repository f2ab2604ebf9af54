"""A fitted SGML metric as JSON and arrays, and back."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import torch
from msgspec import Meta
from msgspec.structs import asdict

from ..._core import schema
from ..._core.schema import Count, FieldError, Natural, Positive, Saved, array, check_choice, dims_of, join, read, split
from ...features import NodeFeatures
from ...features.edge_sums import EdgeSums, EdgeSumsState
from ...features.node_features import FeaturesState
from ...features.propagation import PROPAGATIONS
from ...graphs import Columns
from ...objectives import Classes, Numbers
from ...transport.curves import DISTANCES, resolve
from ..base import CommonParams
from .encoders import ACTIVATIONS, DIRECTED, MASSES, SGCN
from .inputs import MAX_DEPTH, TASKS
from .training import History
from .training.batch_distances import CurveRule

if TYPE_CHECKING:
    from .estimator import SGML

_CHOICES = {
    "distance": DISTANCES, "propagation": (*PROPAGATIONS, *DIRECTED), "activation": ACTIVATIONS, "task": TASKS,
    "masses": MASSES,
}  # fmt: skip


class Params(CommonParams, kw_only=True):
    """Options of an SGML metric."""

    depth: Annotated[int, Meta(ge=0, le=MAX_DEPTH)]
    n_components: Count
    distance: str
    loss: str | None = None  # its name, if it has one
    n_epochs: Natural
    batch_size: Annotated[int, Meta(ge=2, le=schema.MANY)]
    learning_rate: Positive
    features: str
    propagation: str
    activation: str
    ties: Literal["canonical", "first"]
    n_projections: Count
    encoder: str | None = None  # the class of one of the caller's
    restart_optimizer: bool
    batching: str
    n_cells: Annotated[int, Meta(ge=1, le=4096)]
    warm_start: bool
    device: str
    edge_sums: bool
    task: str
    masses: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)


class EncoderWeights(Saved):
    """Weights of the built-in encoder."""

    theta: Annotated[np.ndarray, array("q p")]
    attention: Annotated[np.ndarray, array("q")] | None = None
    scale: Annotated[np.ndarray, array("q", least=1e-30)] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta.shape[1] < 1:
            raise FieldError("theta", "has no columns")


class MetricState(Saved, kw_only=True):
    """What files hold of an SGML metric."""

    params: Params
    features: FeaturesState
    edge_sums: EdgeSumsState | None = None
    directed: bool
    weighted: bool
    columns: Columns
    targets: Literal["classes", "numbers"]
    objective: Any
    history: History
    encoder: dict[str, np.ndarray]
    directions: Annotated[np.ndarray, array("p M")] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.directions is None) != (self.params.distance == "rpw"):
            raise FieldError("directions", f"do not go with the distance {self.params.distance!r}")


def fitted_state(metric: SGML) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = metric.get_params(deep=False)
    params["encoder"] = None if metric.encoder is None else type(metric.encoder).__name__
    params |= {"loss": metric.loss if isinstance(metric.loss, str) else None, "random_state": metric.seed_}
    config = {
        "params": {name: str(value) if name == "device" else value for name, value in params.items()},
        "features": metric.features_.state(),
        "edge_sums": None if metric.edge_sums_ is None else metric.edge_sums_.state(),
        "directed": metric.directed_,
        "weighted": metric.weighted_,
        "columns": metric.columns_,
        "targets": "classes" if isinstance(metric.objective_, Classes) else "numbers",
        "objective": metric.objective_.state(),
        "history": metric.history_,
        "encoder": {name: value.cpu().numpy() for name, value in metric.module_.state_dict().items()},
    }
    directions = metric.rule_.directions
    return split(config if directions is None else {**config, "directions": directions.numpy()})


def restored(home: type[SGML], config: Any, tensors: dict[str, np.ndarray], encoder: torch.nn.Module | None) -> SGML:
    """The metric that `fitted_state` came from, with the encoder that it was made with, or a :class:`FieldError`."""
    saved = read(MetricState, join(config, tensors))
    if encoder is not None and saved.params.encoder is None:
        raise ValueError("this metric was made with the built-in SGCN: load it without encoder=")
    if encoder is None and saved.params.encoder is not None:
        raise ValueError(
            f"this metric was made with {saved.params.encoder}, an encoder of your own, which files do not hold: "
            "load it in Python, passing encoder="
        )
    metric = home(**{**asdict(saved.params), "encoder": encoder})
    metric.seed_ = metric.random_state
    metric.features_ = NodeFeatures.from_state(saved.features)
    if metric.features_.width_ != metric.features_.columns_:
        raise FieldError("features.width_", f"is not {metric.features_.columns_}, the number of columns")
    metric.edge_sums_ = None if saved.edge_sums is None else EdgeSums.from_state(saved.edge_sums)
    metric.directed_, metric.weighted_, metric.columns_ = saved.directed, saved.weighted, saved.columns
    metric.objective_ = Classes() if saved.targets == "classes" else Numbers()
    metric.objective_.set_state(saved.objective)
    metric.history_ = saved.history
    width = metric.features_.width_ + (0 if metric.edge_sums_ is None else metric.edge_sums_.width)
    if encoder is None:
        weights = read(EncoderWeights, saved.encoder, "encoder", q=width)
        if {weights.attention is not None, weights.scale is not None} != {metric.masses == "learned"}:
            raise FieldError("encoder.attention", f"and scale do not go with masses={metric.masses!r}")
        dims_of(saved, p=weights.theta.shape[1])
    metric.module_ = deepcopy(encoder) if encoder is not None else SGCN(
        *saved.encoder["theta"].shape, depth=metric.depth, propagation=metric.propagation,
        activation=metric.activation, learned_masses=metric.masses == "learned",
    )  # fmt: skip
    try:
        metric.module_.load_state_dict({name: torch.from_numpy(value) for name, value in saved.encoder.items()})
    except RuntimeError as error:
        raise ValueError(f"the saved weights do not fit this encoder: {error}") from None
    metric.module_.eval()
    directions = None if saved.directions is None else torch.from_numpy(saved.directions)
    _, carry = resolve(metric.distance, 1, 1, None, 0, torch.empty(0))
    metric.rule_ = CurveRule(directions, carry, metric.ties)
    return metric
