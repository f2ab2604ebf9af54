"""A fitted GraphMetric as JSON and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...features.blocks import NodeBlocks
from ...features.edge_reading import EdgeReading
from ...graphs import Columns
from ...objectives import resolve_objective
from ...persistence.models import strip_prefix
from .compaction import Projection
from .estimate import Estimate
from .learning import Learned
from .low_rank import LowRankMap
from .selection import Choice
from .terms import Term
from .width import Width

if TYPE_CHECKING:
    from .estimator import GraphMetric


def fitted_state(metric: GraphMetric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = {**metric.get_params(deep=False), "random_state": metric.seed_}
    params["features"] = metric.features if isinstance(metric.features, str) else list(metric.features)
    blocks, centres = metric.blocks_.state()
    tensors = {f"blocks.{name}": value for name, value in centres.items()}
    terms = []
    for i, term in enumerate(metric.used_terms().values()):
        state, arrays = term.state()
        terms.append(state)
        tensors |= {f"term{i}.{name}": value for name, value in arrays.items()}
    config = {
        "params": params, "blocks": blocks, "terms": terms, "objective": metric.objective_.state(),
        "label_columns": metric.label_columns_.tolist(), "labelled": metric.labelled_,
        "edge_reading": metric.edge_reading_.state(), "columns": metric.columns_.state(),
        "choice": vars(metric.choice_), "task": metric.task_, "seconds": metric.seconds_,
        "n_terms": len(metric.terms_),  # the others are those of the regression alone
    }  # fmt: skip
    if metric.low_rank_ is not None:
        tensors |= {f"update.{name}": value for name, value in vars(metric.low_rank_).items()}
    if metric.compaction_ is not None:
        tensors |= {f"compaction.{name}": value for name, value in metric.compaction_.arrays().items()}
    if metric.learned_ is not None:
        config["learned"], arrays = metric.learned_.state()
        tensors |= {f"learned.{name}": value for name, value in arrays.items()}
    if metric.width_ is not None:
        config["width"] = vars(metric.width_)
    if metric.estimate_ is not None:
        config["estimate"] = vars(metric.estimate_)
    return config, tensors


def restore_state(metric: GraphMetric, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Makes an unfitted metric the one that `fitted_state` came from."""
    metric.seed_ = config["params"]["random_state"]
    metric.blocks_ = NodeBlocks.from_state(config["blocks"], strip_prefix(tensors, "blocks."))
    terms = [Term.from_state(term, strip_prefix(tensors, f"term{i}.")) for i, term in enumerate(config["terms"])]
    metric.terms_ = terms[: config.get("n_terms", len(terms))]
    low_rank = strip_prefix(tensors, "update.")
    metric.low_rank_ = LowRankMap(**low_rank) if low_rank else None
    metric.compaction_ = Projection.from_arrays(strip_prefix(tensors, "compaction."))
    metric.learned_ = None
    if "learned" in config:
        by_key = {term.key: term for term in terms}
        metric.learned_ = Learned.from_state(config["learned"], strip_prefix(tensors, "learned."), by_key)
    metric.width_ = Width(**config["width"]) if "width" in config else None
    metric.estimate_ = Estimate(**config["estimate"]) if "estimate" in config else None
    metric.objective_ = resolve_objective(config.get("task", metric.task))
    metric.objective_.set_state(config.get("objective", config.get("classes")))  # "classes": the older name
    metric.label_columns_ = np.array(config["label_columns"], dtype=bool)
    metric.labelled_ = config["labelled"]
    metric.edge_reading_ = EdgeReading.from_state(config.get("edge_reading", EdgeReading().state()))
    metric.directed_ = metric.edge_reading_.directed
    metric.columns_ = Columns.from_state(config.get("columns"))
    metric.choice_ = Choice(**config["choice"])
    metric.choice_.trail = [(name, score) for name, score in metric.choice_.trail]
    metric.seconds_ = config["seconds"]
