"""`distances`: distances between graphs by a saved model, to .npy or .csv."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import shared_options as shared


def options(parser: argparse.ArgumentParser) -> None:
    shared.model_options(parser)
    parser.add_argument("--others", help="second set of graphs (columns); the same as source without it")
    parser.add_argument("--out", type=Path, required=True, help="file to write, .npy or .csv")
    shared.scheduler_option(parser)
    shared.overwrite_option(parser)
    shared.source_options(parser)


def run(options: argparse.Namespace) -> None:
    from ..io.matrices import write_csv, write_npy

    if options.out.suffix not in (".npy", ".csv"):
        raise ValueError(f"{options.out}: the ending must be .npy or .csv")
    shared.check_new(options.out, options.overwrite)
    model = shared.load_model(options)
    metric = getattr(model, "metric_", model)
    names, graphs, _ = shared.read_source(options, options.source)
    rows, columns, column_names = metric.embed(graphs), None, names
    if options.others:
        column_names, graphs, _ = shared.read_source(options, options.others)
        columns = metric.embed(graphs)
    if options.out.suffix == ".npy":
        write_npy(options.out, rows, columns, rounding=metric.rounding)
    else:
        write_csv(options.out, rows, columns, names, column_names, rounding=metric.rounding)
    print(f"written: {options.out} ({len(names)} x {len(column_names)})")
