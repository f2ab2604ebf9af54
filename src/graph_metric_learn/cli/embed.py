"""`embed`: vectors of graphs by a saved model, to .npy or .parquet."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from . import shared_options as shared

_CHUNK = 4000  # graphs that are embedded and written at a time, times the number of workers


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="folder of a model or of an index")
    parser.add_argument("source", help=shared.SOURCE + shared.LINES)
    text = "file to write: .npy, or .parquet with names and targets (needs pyarrow)"
    parser.add_argument("--out", type=Path, required=True, help=text)
    parser.add_argument("--names", type=Path, metavar="FILE", help="CSV to write: names and targets, a line per vector")
    shared.overwrite_option(parser, "earlier files")
    shared.scheduler_option(parser)
    shared.source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from contextlib import ExitStack

    from .._core.files import new_file
    from .._core.parallel import n_workers
    from .._core.progress import progress_bar
    from ..io.vectors import check_ending, new_vectors

    check_ending(options.out)
    for path in filter(None, (options.out, options.names)):
        shared.check_new(path, options.overwrite)
    metric, count = _metric(options), 0
    with ExitStack() as stack:
        names_file = None
        if options.names:
            path = stack.enter_context(new_file(options.names, overwrite=options.overwrite))
            names_file = stack.enter_context(path.open("w", encoding="utf-8", errors="backslashreplace", newline=""))
        write = stack.enter_context(new_vectors(options.out, overwrite=options.overwrite))
        bar = stack.enter_context(progress_bar(None, "embed", total=None, unit="graph", delay=1.0))
        for names, graphs, y in shared.source_chunks(options, _CHUNK * n_workers()):
            targets = None if y is None else y.tolist()
            notes = [None] * len(names) if targets is None else [json.dumps({"target": one}) for one in targets]
            write(names, metric.transform(graphs), notes)
            if names_file is not None:
                rows = [[name] for name in names] if targets is None else zip(names, targets, strict=True)
                header = ["graph"] if targets is None else ["graph", "target"]
                names_file.write(shared.csv_text([header, *rows] if count == 0 else rows))
            count += len(names)
            bar.update(len(names))
    print(f"written: {options.out} ({count} graphs)")


def _metric(options: argparse.Namespace) -> Any:
    """The metric of a model or of an index."""
    from ..index import GraphIndex
    from ..predictors import load

    if shared.is_index(options.model):
        return GraphIndex.load(options.model, read_only=True).metric
    model = load(options.model)
    return getattr(model, "metric_", model)
