"""Loading a saved model without knowing what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from ..io.models import opened_model
from ..metrics.base import METRICS, BaseGraphMetric
from .base import PREDICTORS, MetricPredictor
from .state import restored


def load(path: str | Path, *, encoder: torch.nn.Module | None = None) -> Any:
    """Any model folder, whatever was saved: a metric, or a predictor on a metric."""
    from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known
    from . import class_means, heads, kmeans, knn, ridge, svc  # noqa: F401

    known: dict[str, type[BaseGraphMetric] | type[MetricPredictor]] = {**METRICS, **PREDICTORS}
    with opened_model(path, tuple(known)) as (kind, config, tensors):
        home: Any = known[kind]
        if issubclass(home, MetricPredictor):
            return restored(home, config, tensors, encoder)
        return home.from_state(config, tensors, **({"encoder": encoder} if home.takes_encoder else {}))
