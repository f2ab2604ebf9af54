"""Predictors on one fitted GraphMetric, each scored on the same test graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graph_metric_learn.graphs import Graphs
from graph_metric_learn.metrics.automatic.estimator import GraphMetric
from graph_metric_learn.predictors import GraphClassifier, GraphRegressor

from .records import Result

Score = Callable[[Any, Graphs, np.ndarray], float]


def accuracy(model: Any, graphs: Graphs, y: np.ndarray) -> float:
    """Share of the graphs whose class is predicted right."""
    return float(np.mean(model.predict(graphs) == y))


def area_under_curve(model: Any, graphs: Graphs, y: np.ndarray) -> float:
    """Of the ROC curve, for two classes."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, model.predict_proba(graphs)[:, 1]))


def root_mean_square_error(model: Any, graphs: Graphs, y: np.ndarray) -> float:
    """In the units of the targets."""
    return float(np.sqrt(np.mean((model.predict(graphs) - y) ** 2)))


def head_results(
    metric: GraphMetric,
    heads: Sequence[str],
    train: tuple[Graphs, np.ndarray],
    test: tuple[Graphs, np.ndarray],
    score: Score = accuracy,
    groups: Any = None,
) -> tuple[GraphMetric, list[Result]]:
    """The metric fitted to the training graphs, and the result of each head: "head-knn", "head-auto", …

    Heads choose their settings, and "head-auto" the head, on the training graphs alone; the metric is fitted once.
    """
    kind = GraphRegressor if metric.task == "numbers" else GraphClassifier
    model = kind(metric, "knn")
    start = time.perf_counter()
    model.fit(*train, groups)
    fitted: GraphMetric = model.metric_  # type: ignore[assignment]
    seconds = {"training": fitted.seconds_, "distances": time.perf_counter() - start - fitted.seconds_}
    learned = fitted.learned_
    extra = {
        "weights": fitted.weights_,
        "learning": None if learned is None else {
            "weight": learned.gate.weight, "even_share": learned.setting.share, "penalty": learned.setting.penalty
        },
    }  # fmt: skip
    results = []
    for name in heads:
        began = time.perf_counter()
        head = model.with_head(name.removeprefix("head-"))
        reached = score(head, *test)
        own = {**seconds, "classifier": time.perf_counter() - began}
        chosen = {key: value for key, value in head.chosen_.items() if key not in ("settings", "scores")}
        validation = head.chosen_["scores"][head.chosen_["head"]]
        results.append({"chosen": chosen, "validation": validation, "test": reached, "seconds": own, **extra})
    return fitted, results
