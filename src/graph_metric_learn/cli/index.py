"""`index`: writes an index of many graphs by a saved model, or adds graphs to one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
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
        "--ids", choices=["names", "numbers"], default="names",
        help="what graphs are known by: their names, which must differ, or running numbers (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--known", choices=["raise", "skip", "update"], default="raise",
        help="what to do with a name that is in the index already or comes twice: stop, keep the first graph, or "
        "replace it by the last (%(default)s)",
    )  # fmt: skip
    overwrite_option(parser, "an earlier index")
    scheduler_option(parser)
    source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from ..index import GraphIndex
    from ..index.folder import new_folder
    from ..metrics.base import is_same_metric
    from ..predictors import load

    if options.append and options.overwrite:
        raise ValueError("--append adds to an index, --overwrite replaces it: give one of them")
    if options.ids == "numbers" and options.known != "raise":
        raise ValueError(f"--known {options.known} goes by names: leave out --ids numbers")
    if not options.append:
        check_new(options.out, options.overwrite)
    model = load(options.model)
    metric = getattr(model, "metric_", model)
    if options.append:
        with GraphIndex.load(options.out) as index:
            if not is_same_metric(index.metric, metric):
                raise ValueError(f"{options.out} was made with another model than {options.model}")
            before = len(index)
            _fill(index, options)
            total = len(index)
    else:
        before = 0
        with new_folder(options.out, overwrite=options.overwrite) as folder:
            GraphIndex(metric).save(folder)
            with GraphIndex.load(folder) as index:
                _fill(index, options)
                total = len(index)
    print(f"written: {options.out} ({total} graphs, {total - before} of them new)")


def _fill(index: Any, options: argparse.Namespace) -> None:
    """Adds all graphs of the source; where it stops early, it says what an index that was there has got."""
    from .._core.parallel import n_workers
    from .._core.progress import progress_bar

    before, replaced = len(index), 0
    try:
        with progress_bar(None, "index", total=None, unit="graph", delay=1.0) as bar:
            for chunk in source_chunks(options, _CHUNK * n_workers()):
                if options.ids == "names":
                    replaced += _add(index, chunk, options)
                else:
                    _add_numbered(index, chunk)
                bar.update(len(chunk.names))
    except BaseException:
        added = len(index) - before
        if options.append and (added or replaced):
            print(_how_far(added, replaced, options), file=sys.stderr)
        raise


def _add(index: Any, chunk: Any, options: argparse.Namespace) -> int:
    """Adds some graphs by name, which are on disk when the next are read; how many took the place of others."""
    names, graphs, y = chunk
    there = [name in index for name in names]
    if options.known == "raise":
        _check_new_names(names, there, options)
    numbered = list(enumerate(names))
    kept = {name: i for i, name in (numbered if options.known == "update" else reversed(numbered))}
    new = sorted(i for i in kept.values() if not there[i])
    old = sorted(i for i in kept.values() if there[i] and options.known == "update")
    for rows, change in ((new, index.add), (old, index.update)):
        if rows:
            change(_some(graphs, rows), [names[i] for i in rows], _notes(names, y, rows))
    return len(old)


def _add_numbered(index: Any, chunk: Any) -> None:
    """Adds some graphs by running numbers; their names are in the metadata alone."""
    names, graphs, y = chunk
    index.add(replace(index.metric.read(graphs), names=None), metadata=_notes(names, y, range(len(names))))


def _check_new_names(names: list[str], there: list[bool], options: argparse.Namespace) -> None:
    """A `ValueError` that names the first graph whose name has been taken."""
    seen: set[str] = set()
    for name, known in zip(names, there, strict=True):
        if known and options.append:
            raise ValueError(f"{name} is in the index already: --known skip or --known update")
        if known or name in seen:
            source = "standard input" if options.source == "-" else options.source
            raise ValueError(
                f"{name} comes twice in {source}: --known skip keeps the first, --known update the last, "
                "--ids numbers takes running numbers as ids"
            )
        seen.add(name)


def _how_far(added: int, replaced: int, options: argparse.Namespace) -> str:
    """What was done before it stopped, and how to go on."""
    text = f"graph-metric-learn index: stopped after {added} graphs were added to {options.out}"
    if replaced:
        text += f" and {replaced} replaced"
    if options.ids == "numbers":
        return f"{text}; the same command adds them again"
    return f"{text}; --append --known {'update' if options.known == 'update' else 'skip'} goes on from there"


def _some(graphs: Any, rows: list[int]) -> Any:
    """The chosen graphs of a list or a collection."""
    import numpy as np

    return [graphs[i] for i in rows] if isinstance(graphs, (list, tuple)) else graphs[np.array(rows)]


def _notes(names: list[str], y: Any, rows: Any) -> list[dict[str, Any]]:
    """What is kept of each graph: its name, and its class or number if there is one."""
    known = [{} if y is None else {"target": y[i].item() if hasattr(y[i], "item") else y[i]} for i in rows]
    return [{"name": names[i], **more} for i, more in zip(rows, known, strict=True)]
