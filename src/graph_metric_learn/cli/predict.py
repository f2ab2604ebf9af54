"""`predict`: classes or numbers of graphs by a saved model, as CSV or JSON."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

from .shared_options import (
    LINES,
    SOURCE,
    check_model,
    check_new,
    overwrite_option,
    source_chunks,
    source_options,
    text_output,
)

_AT_ONCE = 1000  # graphs that are read and predicted


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("source", help=SOURCE + LINES)
    parser.add_argument("--out", type=Path, help="file to write (standard output)")
    parser.add_argument(
        "--format", choices=list(FORMATS), default="table",
        help="table: CSV; json: one JSON object per line and graph (%(default)s)",
    )  # fmt: skip
    overwrite_option(parser)
    source_options(parser)


def run(options: argparse.Namespace) -> None:
    from ..predictors import load

    if options.out:
        check_new(options.out, options.overwrite)
    check_model(options.model, "predict")
    model = load(options.model)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a predictor: fit with --model knn or another")
    has_shares, count = hasattr(model, "predict_proba"), 0
    classes = model.classes_ if has_shares else ()
    with text_output(options.out, options.overwrite) as file:
        for names, graphs, _ in source_chunks(options, _AT_ONCE):
            graphs = model.metric_.read(graphs)
            predicted, shares = model.predict_with_shares(graphs) if has_shares else (model.predict(graphs), None)
            file.write(FORMATS[options.format](names, predicted, shares, classes, first=count == 0))
            count += len(names)
    if options.out:
        print(f"written: {options.out} ({count} graphs)")


def _table(names: list[str], predicted: Any, shares: Any, classes: Any, *, first: bool) -> str:
    """CSV, a line per graph: its name, its class, and the share of the votes of every class if the model has such."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if first:
        writer.writerow(["graph", "prediction", *(f"share {c}" for c in classes)])
    for i, (name, label) in enumerate(zip(names, predicted, strict=True)):
        writer.writerow([name, label, *(f"{share:.4g}" for share in (shares[i] if shares is not None else ()))])
    return text.getvalue()


def _json_lines(names: list[str], predicted: Any, shares: Any, classes: Any, *, first: bool) -> str:
    """The same as one JSON object per line; shares are in the order of the classes, and not rounded."""
    lines = []
    for i, (name, label) in enumerate(zip(names, predicted.tolist(), strict=True)):
        line = {"graph": name, "prediction": label}
        if shares is not None:
            line["shares"] = dict(zip(map(str, classes), shares[i].tolist(), strict=True))
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)


FORMATS = {"table": _table, "json": _json_lines}
