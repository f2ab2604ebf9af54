"""`info`: what a saved model or an index is."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .shared_options import format_option, is_index


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="folder of a model or an index")
    format_option(parser, ("table", "json"), "table: a line for each thing; json: one JSON object")


def run(options: argparse.Namespace) -> None:
    from ..predictors import load

    facts = _about_index(options.model) if is_index(options.model) else _about(load(options.model))
    facts["bytes"] = sum(path.stat().st_size for path in options.model.rglob("*") if path.is_file())
    if options.format == "json":
        print(json.dumps(facts, ensure_ascii=False, default=str))
        return
    for name, value in facts.items():
        if value is not None and value != {}:
            print(f"{name.replace('_', ' ')}: {_in_words(value)}")


def _about_index(path: Path) -> dict[str, Any]:
    from ..index import GraphIndex

    index = GraphIndex.load(path, read_only=True)
    return {
        "kind": "GraphIndex",
        "graphs": len(index),
        "metric": type(index.metric).__name__,
        "metric_settings": _settings(index.metric),
        "task": _task(index.metric),
        "report": getattr(index.metric, "report_", None),
    }


def _about(model: Any) -> dict[str, Any]:
    """Facts on a metric, or on a predictor and its metric; None where there is nothing to say."""
    import numpy as np

    from ..predictors.predictor import target_titles

    metric = getattr(model, "metric_", model)
    predicts = metric is not model
    classes = getattr(model, "classes_", None)
    targets = target_titles(model)
    chosen = getattr(model, "chosen_", {}).items()  # but for what only files keep
    chosen = {name: value for name, value in chosen if isinstance(value, (str, int, float, bool))}
    return {
        "kind": type(model).__name__,
        "settings": _settings(model),
        "task": model.task_ if predicts and model.task != "auto" else _task(metric),
        "classes": None if classes is None or targets else np.asarray(classes).tolist(),
        "targets": targets or None,
        "reference_graphs": len(model.embedded_) if predicts else None,
        "chosen": chosen if predicts else None,
        "metric": type(metric).__name__ if predicts else None,
        "metric_settings": _settings(metric) if predicts else None,
        "report": getattr(metric, "report_", None),
    }


def _task(metric: Any) -> str | None:
    """What a metric was fitted for; not its setting, which may be "auto"."""
    from ..objectives import OBJECTIVES

    objective = getattr(metric, "objective_", None)
    return next((name for name, kind in OBJECTIVES.items() if type(objective) is kind), None)


def _settings(model: Any) -> dict[str, Any]:
    """What it was made with, but for the metric, which has its own, and what only says how to work."""
    settings = model.get_params(deep=False).items()
    return {name: value for name, value in settings if name not in ("metric", "memory", "progress")}


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}={one!r}" for name, one in value.items()]
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
