"""Predictors by a short name, for a task."""

from __future__ import annotations

from typing import Any

from .._core.validation import one_of
from .base import MetricPredictor
from .heads import GraphClassifier, GraphRegressor

_AUTO: dict[str, type[GraphClassifier] | type[GraphRegressor]] = {"classes": GraphClassifier, "numbers": GraphRegressor}


def predictor(name: str, task: str, metric: Any, **settings: Any) -> MetricPredictor:
    """A predictor, not fitted.

    Parameters
    ----------
    name : {"auto", "knn", "ridge", "svc"}
        "auto" chooses among the others.
    task : {"classes", "numbers"}
    metric : BaseGraphMetric or None
    settings
        Of its constructor.

    Examples
    --------
    >>> predictor("knn", "numbers", None, n_neighbors=3)
    GraphKNNRegressor(n_neighbors=3)
    """
    kind = _AUTO[task]
    one_of("model", name, ("auto", *kind.heads))
    home: Any = kind if name == "auto" else kind.heads[name]
    known = home().get_params(deep=False)
    for option in settings:
        if option not in known:
            raise ValueError(f"{home.__name__} has no setting {option!r}")
    return home(metric, **settings)
