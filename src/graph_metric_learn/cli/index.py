"""`index`: writes an index of many graphs by a saved model, or adds graphs to one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import shared_options as shared

_CHUNK = 4000  # graphs that are embedded and written at a time, times the number of workers


def options(parser: argparse.ArgumentParser) -> None:
    shared.model_options(parser, lines=True)
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
    text = "also write what approximate search needs, so that it is not built at each start (needs usearch)"
    parser.add_argument("--approximate", action="store_true", help=text)
    shared.overwrite_option(parser, "an earlier index")
    shared.scheduler_option(parser)
    shared.source_options(parser, target=True)


def run(options: argparse.Namespace) -> None:
    from ..index import GraphIndex
    from ..index.folder import new_folder
    from ..metrics.base import is_same_metric

    if options.append and options.overwrite:
        raise ValueError("--append adds to an index, --overwrite replaces it: give one of them")
    if options.ids == "numbers" and options.known != "raise":
        raise ValueError(f"--known {options.known} goes by names: leave out --ids numbers")
    if not options.append:
        shared.check_new(options.out, options.overwrite)
    model = shared.load_model(options)
    metric = getattr(model, "metric_", model)
    if options.append:
        with GraphIndex.load(options.out) as index:
            if not is_same_metric(index.metric, metric):
                raise ValueError(f"{options.out} was made with another model than {options.model}")
            new, total = _fill(index, options)
    else:
        with new_folder(options.out, overwrite=options.overwrite) as folder:
            GraphIndex(metric).save(folder)
            with GraphIndex.load(folder) as index:
                new, total = _fill(index, options)
    print(f"written: {options.out} ({total} graphs, {new} of them new)")


def _fill(index: Any, options: argparse.Namespace) -> tuple[int, int]:
    """Adds all graphs of the source: how many are new, and how many there are.

    Where it stops early, it says how many were added to an earlier index. At the end, approximate search is prepared.
    """
    from .._core.parallel import n_workers
    from .._core.progress import progress_bar

    before, replaced = len(index), 0
    try:
        with progress_bar(None, "index", total=None, unit="graph", delay=1.0) as bar:
            for chunk in shared.source_chunks(options, _CHUNK * n_workers()):
                if options.ids == "names":
                    replaced += _add(index, chunk, options)
                else:  # by running numbers; names are in the metadata alone
                    names, graphs, y = chunk
                    graphs = replace(index.metric.read(graphs), names=None)
                    index.add(graphs, metadata=_metadata(names, y, range(len(names))))
                bar.update(len(chunk.names))
    except BaseException:
        added = len(index) - before
        if options.append and (added or replaced):
            print(_stopped(added, replaced, options), file=sys.stderr)
        raise
    if options.approximate:
        index.save_approximate()
    return len(index) - before, len(index)


def _add(index: Any, chunk: Any, options: argparse.Namespace) -> int:
    """Adds some graphs by name, which are on disk when the next are read; returns how many replaced others."""
    import numpy as np

    names, graphs, y = chunk
    present = [name in index for name in names]
    if options.known == "raise":
        _check_new_names(names, present, options)
    numbered = list(enumerate(names))
    kept = {name: i for i, name in (numbered if options.known == "update" else reversed(numbered))}
    new = sorted(i for i in kept.values() if not present[i])
    old = sorted(i for i in kept.values() if present[i] and options.known == "update")
    for rows, change in ((new, index.add), (old, index.update)):
        if rows:
            part = [graphs[i] for i in rows] if isinstance(graphs, (list, tuple)) else graphs[np.array(rows)]
            change(part, [names[i] for i in rows], _metadata(names, y, rows))
    return len(old)


def _check_new_names(names: list[str], present: list[bool], options: argparse.Namespace) -> None:
    """A `ValueError` that names the first graph whose name has been taken."""
    seen: set[str] = set()
    for name, known in zip(names, present, strict=True):
        if known and options.append:
            raise ValueError(f"{name} is in the index already: --known skip or --known update")
        if known or name in seen:
            source = "standard input" if options.source == "-" else options.source
            raise ValueError(
                f"{name} comes twice in {source}: --known skip keeps the first, --known update the last, "
                "--ids numbers takes running numbers as ids"
            )
        seen.add(name)


def _stopped(added: int, replaced: int, options: argparse.Namespace) -> str:
    """What was done before it stopped, and how to go on."""
    known, also = "update" if options.known == "update" else "skip", f" and {replaced} replaced" if replaced else ""
    advice = f"--append --known {known} goes on from there"
    if options.ids == "numbers":
        advice = "the same command adds them again"
    return f"graph-metric-learn index: stopped after {added} graphs were added to {options.out}{also}; {advice}"


def _metadata(names: list[str], y: Any, rows: Iterable[int]) -> list[dict[str, Any]]:
    """What is kept of each graph: its name, and its class or number if there is one."""
    if y is None:
        return [{"name": names[i]} for i in rows]
    return [{"name": names[i], "target": _plain(y[i])} for i in rows]


def _plain(target: Any) -> Any:
    """A class or number as JSON can hold it; several as a list, None where one is missing."""
    if getattr(target, "ndim", 0) == 1:
        return [None if one != one else one for one in target.tolist()]
    return target.item() if hasattr(target, "item") else target
