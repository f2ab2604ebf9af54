"""`predict`: classes or numbers of graphs by a saved model, as CSV."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .outputs import check_new, overwrite_option
from .sources import SOURCE, read_source, source_options


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("source", help=SOURCE)
    parser.add_argument("--out", type=Path, help="CSV to write (standard output)")
    overwrite_option(parser)
    source_options(parser)


def run(options: argparse.Namespace) -> None:
    from .._core.files import write_atomic
    from ..neighbors import load

    if options.out:
        check_new(options.out, options.overwrite)
    model = load(options.model)
    if not hasattr(model, "predict"):
        raise ValueError(f"{options.model} holds a metric without a predictor: fit with --model knn or another")
    names, graphs, _ = read_source(options, options.source)
    text = _predictions_csv(model, names, graphs)
    if options.out:
        write_atomic(options.out, text, overwrite=options.overwrite)
        print(f"written: {options.out} ({len(names)} graphs)")
    else:
        print(text, end="")


def _predictions_csv(model: Any, names: list[str], graphs: Any) -> str:
    """A line per graph: its name, its class, and the share of the votes of every class if the model has such."""
    import csv
    import io

    predicted = model.predict(graphs)
    shares = model.predict_proba(graphs) if hasattr(model, "predict_proba") else None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["graph", "prediction", *(f"share {c}" for c in (model.classes_ if shares is not None else ()))])
    for i, (name, label) in enumerate(zip(names, predicted, strict=True)):
        writer.writerow([name, label, *(f"{share:.4g}" for share in (shares[i] if shares is not None else ()))])
    return text.getvalue()
