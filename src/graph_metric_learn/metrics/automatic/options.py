"""What the options of GraphMetric may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._core.validation import one_of, whole_number
from ...embeddings import EMBEDDINGS
from ...objectives import OBJECTIVES

if TYPE_CHECKING:
    from .estimator import GraphMetric


def check_options(metric: GraphMetric) -> None:
    """A `ValueError` for the first option that makes no sense; those of reading are checked where graphs are read."""
    whole_number("n_steps", metric.n_steps, 1)
    whole_number("n_graphs", metric.n_graphs, 4)
    one_of("embedding", metric.embedding, ("auto", *EMBEDDINGS))
    one_of("task", metric.task, ("auto", *OBJECTIVES))
    width = metric.n_components
    if width is not None and not (isinstance(width, str) and width == "auto"):
        whole_number('n_components, if not "auto" or None,', width, 1)
    given = metric.features
    named = isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
    if not (named or (isinstance(given, str) and given == "auto")):
        raise ValueError(f'features must be "auto" or a list of blocks, such as ["wl@1"], got {given!r}')
