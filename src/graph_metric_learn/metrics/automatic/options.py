"""What the options of GraphMetric may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core.validation import one_of, whole_number
from ...embeddings import EMBEDDINGS
from ...objectives import OBJECTIVES
from ...objectives.scoring import SCORERS
from ...transport.devices import resolve_device
from .recipes import FAMILIES

if TYPE_CHECKING:
    from .estimator import GraphMetric


def check_options(metric: GraphMetric) -> None:
    """A `ValueError` for the first option that makes no sense; those of reading are checked where graphs are read."""
    one_of("embedding", metric.embedding, ("auto", *EMBEDDINGS))
    one_of("task", metric.task, ("auto", *OBJECTIVES))
    one_of("scoring", metric.scoring, SCORERS)
    resolve_device(metric.device)  # an error where there is no such device
    if metric.class_weight is not None:
        one_of("class_weight", metric.class_weight, ("auto", "balanced"))
    for name, least in (("n_components", 1), ("n_landmarks", 10)):
        value = getattr(metric, name)
        if not (value == "auto" if isinstance(value, str) else value is None and name == "n_components"):
            whole_number(f'{name}, if not "auto"{" or None" if name == "n_components" else ""},', value, least)
    if not _is_auto_or_names(metric.features):
        raise ValueError(f'features must be "auto" or a list of blocks, such as ["wl@1"], got {metric.features!r}')
    if not _is_auto_or_names(metric.families):
        raise ValueError(f'families must be "auto" or a list of names, such as ["trees"], got {metric.families!r}')
    named = [name for name in ("features", "families") if not isinstance(getattr(metric, name), str)]
    if len(named) == 2:
        raise ValueError("features and families both say what to look at: give one of them")
    for name in [] if isinstance(metric.families, str) else metric.families:
        one_of("families", name, FAMILIES)


def _is_auto_or_names(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto"
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(name, str) for name in value)
