"""`index`: writes an index of many graphs by a saved model, or adds graphs to one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .cluster import scheduler_option
from .outputs import check_new, overwrite_option
from .sources import LINES, SOURCE, source_chunks, source_options

_CHUNK = 4000  # graphs that are embedded and written at a time, times the number of workers


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("source", help=SOURCE + LINES)
    parser.add_argument("--out", type=Path, required=True, help="folder of the index")
    parser.add_argument("--append", action="store_true", help="add to an index that is there, which has its own model")
    parser.add_argument(
        "--known", choices=["raise", "skip", "update"], default="raise",
        help="with --append, what to do with names that are in the index (%(default)s)",
    )  # fmt: skip
    overwrite_option(parser, "an earlier index")
    scheduler_option(parser)
    source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from .._core.parallel import n_workers
    from .._core.progress import progress_bar
    from ..index import GraphIndex
    from ..metrics.base import is_same_metric
    from ..neighbors import load

    if options.append and options.overwrite:
        raise ValueError("--append adds to an index, --overwrite replaces it: give one of them")
    if not options.append:
        check_new(options.out, options.overwrite)
    model = load(options.model)
    metric = getattr(model, "metric_", model)
    if not options.append:
        GraphIndex(metric).save(options.out, overwrite=options.overwrite)
    with GraphIndex.load(options.out) as index:
        if options.append and not is_same_metric(index.metric, metric):
            raise ValueError(f"{options.out} was made with another model than {options.model}")
        before = len(index)
        with progress_bar(None, "index", total=None, unit="graph", delay=1.0) as bar:
            for chunk in source_chunks(options, _CHUNK * n_workers()):
                _add(index, chunk, options.known)
                bar.update(len(chunk.names))
        print(f"written: {options.out} ({len(index)} graphs, {len(index) - before} of them new)")


def _add(index: Any, chunk: Any, known: str) -> None:
    """Adds some graphs, which are on disk when the next are read."""
    names, graphs, y = chunk
    own = len(set(names)) == len(names)
    old = [i for i, name in enumerate(names) if own and name in index]
    known_rows = set(old)
    new = [i for i in range(len(names)) if i not in known_rows]
    if old and known == "raise":
        raise ValueError(f"{names[old[0]]} is in the index already: --known skip or --known update")
    if new:
        index.add(_some(graphs, new), [names[i] for i in new] if own else None, _notes(names, y, new))
    if old and known == "update":
        index.update(_some(graphs, old), [names[i] for i in old], _notes(names, y, old))


def _some(graphs: Any, rows: list[int]) -> Any:
    """The chosen graphs of a list or a collection."""
    import numpy as np

    return [graphs[i] for i in rows] if isinstance(graphs, (list, tuple)) else graphs[np.array(rows)]


def _notes(names: list[str], y: Any, rows: list[int]) -> list[dict[str, Any]]:
    """What is kept of each graph: its name, and its class or number if there is one."""
    known = [{} if y is None else {"target": y[i].item() if hasattr(y[i], "item") else y[i]} for i in rows]
    return [{"name": names[i], **more} for i, more in zip(rows, known, strict=True)]
