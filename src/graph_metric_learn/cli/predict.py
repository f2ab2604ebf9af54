"""`predict`: classes, labels or numbers of graphs by a saved model, as CSV or JSON."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import shared_options as shared


def options(parser: argparse.ArgumentParser) -> None:
    shared.model_options(parser, lines=True)
    parser.add_argument("--out", type=Path, help="file to write (standard output)")
    shared.format_option(parser, FORMATS, "table: CSV; json: one JSON object per line and graph")
    shared.overwrite_option(parser)
    shared.source_options(parser)


def run(options: argparse.Namespace) -> None:
    from ..predictors.predictor import target_titles

    if options.out:
        shared.check_new(options.out, options.overwrite)
    model = shared.load_model(options)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a predictor: fit with --model knn or another")
    has_shares = hasattr(model, "predict_proba")

    def text_of(names: list[str], graphs: Any, first: bool) -> str:
        graphs = model.metric_.read(graphs)
        predicted, chances = model.predict_with_shares(graphs) if has_shares else (model.predict(graphs), None)
        titles = target_titles(model)
        classes = (titles or model.classes_.tolist()) if has_shares else []
        return FORMATS[options.format](names, predicted, chances, titles, list(map(str, classes)), first)

    shared.write_by_chunks(options, text_of)


def _table(names: list[str], predicted: Any, chances: Any, titles: list[str], classes: list[str], first: bool) -> str:
    """CSV, a line per graph: its name, its class or number, and the probability of every class if the model has such.

    Of several labels or numbers, a column for each.
    """
    columns = [f"prediction {title}" for title in titles] or ["prediction"]
    chances = [[]] * len(names) if chances is None else chances
    rows = [["graph", *columns, *(f"probability {c}" for c in classes)]] if first else []
    for name, values, row in zip(names, predicted.reshape(len(names), -1), chances, strict=True):
        rows.append([name, *values, *(f"{chance:.4g}" for chance in row)])
    return shared.csv_text(rows)


def _json_lines(
    names: list[str], predicted: Any, chances: Any, titles: list[str], classes: list[str], first: bool
) -> str:
    """The same as one JSON object per line; probabilities are in the order of the classes, and not rounded."""
    lines = []
    for i, (name, value) in enumerate(zip(names, predicted.tolist(), strict=True)):
        lines.append({"graph": name, "prediction": dict(zip(titles, value, strict=True)) if titles else value})
        if chances is not None:
            lines[-1]["probabilities"] = dict(zip(classes, chances[i].tolist(), strict=True))
    return shared.json_lines(lines)


FORMATS = {"table": _table, "json": _json_lines}
