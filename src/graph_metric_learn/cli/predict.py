"""`predict`: classes or numbers of graphs by a saved model, as CSV or JSON."""

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
    if options.out:
        shared.check_new(options.out, options.overwrite)
    model = shared.load_model(options)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a predictor: fit with --model knn or another")
    has_shares = hasattr(model, "predict_proba")

    def text_of(names: list[str], graphs: Any, first: bool) -> str:
        graphs = model.metric_.read(graphs)
        predicted, shares = model.predict_with_shares(graphs) if has_shares else (model.predict(graphs), None)
        return FORMATS[options.format](names, predicted, shares, model.classes_ if has_shares else (), first)

    shared.write_by_chunks(options, text_of)


def _table(names: list[str], predicted: Any, shares: Any, classes: Any, first: bool) -> str:
    """CSV, a line per graph: its name, its class, and the share of the votes of every class if the model has such."""
    rows = [["graph", "prediction", *(f"share {c}" for c in classes)]] if first else []
    for i, (name, label) in enumerate(zip(names, predicted, strict=True)):
        rows.append([name, label, *(f"{share:.4g}" for share in (shares[i] if shares is not None else ()))])
    return shared.csv_text(rows)


def _json_lines(names: list[str], predicted: Any, shares: Any, classes: Any, first: bool) -> str:
    """The same as one JSON object per line; shares are in the order of the classes, and not rounded."""
    lines = [{"graph": name, "prediction": label} for name, label in zip(names, predicted.tolist(), strict=True)]
    for line, row in zip(lines, [] if shares is None else shares.tolist(), strict=shares is not None):
        line["shares"] = dict(zip(map(str, classes), row, strict=True))
    return shared.json_lines(lines)


FORMATS = {"table": _table, "json": _json_lines}
