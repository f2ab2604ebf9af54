"""`neighbors`: the nearest graphs in an index, or among the reference graphs of a model, as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .shared_options import (
    LINES,
    SOURCE,
    check_new,
    is_index,
    overwrite_option,
    scheduler_option,
    source_chunks,
    source_options,
    text_output,
)

if TYPE_CHECKING:
    import numpy as np

_AT_ONCE = 1000  # graphs that are read and looked up

Neighbors = list[list[dict[str, Any]]]  # of each graph
Search = Callable[[Any], Neighbors]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", type=Path, help="folder of an index, or of a model with neighbours")
    parser.add_argument("source", help=SOURCE + LINES)
    parser.add_argument("-k", type=int, default=10, help="how many neighbours (%(default)s)")
    parser.add_argument("--approximate", action="store_true", help="may miss some, for speed; says how many it finds")
    parser.add_argument("--out", type=Path, help="file to write (standard output)")
    parser.add_argument(
        "--format", choices=list(FORMATS), default="table",
        help="table: to read; csv: a line per neighbour; json: one JSON object per line and graph (%(default)s)",
    )  # fmt: skip
    overwrite_option(parser)
    scheduler_option(parser)
    source_options(parser)


def run(options: argparse.Namespace) -> None:
    if options.out:
        check_new(options.out, options.overwrite)
    search = _in_index(options) if is_index(options.index) else _in_model(options)
    count = 0
    with text_output(options.out, options.overwrite) as file:
        for names, graphs, _ in source_chunks(options, _AT_ONCE):
            file.write(FORMATS[options.format](names, search(graphs), first=count == 0))
            count += len(names)
    if options.out:
        print(f"written: {options.out} ({count} graphs)")


def _in_index(options: argparse.Namespace) -> Search:
    """The neighbours of each graph in an index: "id", "distance" and "metadata"."""
    from ..index import GraphIndex

    index = GraphIndex.load(options.index, read_only=True)

    def search(graphs: Any) -> Neighbors:
        measured = index.recall_ is not None
        distances, ids, metadata = index.search(graphs, options.k, approximate=options.approximate, metadata=True)
        if options.approximate and not measured:  # it is now, and said once
            print(index.describe_recall(), file=sys.stderr)
        return _listed(distances, ids, metadata)

    return search


def _in_model(options: argparse.Namespace) -> Search:
    """The same among the reference graphs of a model; ids are their names, or their rows where they have none."""
    from ..predictors import load

    model = load(options.index)
    if not hasattr(model, "kneighbors"):
        raise ValueError(f"{options.index} has no neighbours: fit with --model knn, or make an index of it")
    if options.approximate:
        raise ValueError("--approximate goes with an index")

    def search(graphs: Any) -> Neighbors:
        distances, rows = model.kneighbors(graphs, options.k)
        metadata = [[{"target": target} for target in model.y_[row].tolist()] for row in rows]
        return _listed(distances, rows if model.names_ is None else model.names_[rows], metadata)

    return search


def _listed(distances: np.ndarray, ids: np.ndarray, metadata: Any) -> Neighbors:
    """Of arrays [N, k], what each neighbour of each graph is."""
    graphs = zip(ids.tolist(), distances.tolist(), metadata, strict=True)
    keys = ("id", "distance", "metadata")
    return [[dict(zip(keys, one, strict=True)) for one in zip(*columns, strict=True)] for columns in graphs]


def _table(names: list[str], of_graphs: Neighbors, *, first: bool) -> str:
    """A paragraph per graph: its neighbours with their distances."""
    parts = []
    for name, neighbors in zip(names, of_graphs, strict=True):
        lines = [f"  {one['distance']:10.4g}  {one['id']}{_target(one['metadata'])}\n" for one in neighbors]
        parts.append(f"{name}\n" + "".join(lines))
    return "".join(parts)


def _target(metadata: Any) -> str:
    return f"  ({metadata['target']})" if isinstance(metadata, dict) and metadata.get("target") is not None else ""


def _csv(names: list[str], of_graphs: Neighbors, *, first: bool) -> str:
    """A line per neighbour; metadata as JSON."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if first:
        writer.writerow(["graph", "rank", "neighbor", "distance", "metadata"])
    for name, neighbors in zip(names, of_graphs, strict=True):
        for rank, one in enumerate(neighbors, start=1):
            metadata = "" if one["metadata"] is None else json.dumps(one["metadata"], ensure_ascii=False)
            writer.writerow([name, rank, one["id"], f"{one['distance']:.6g}", metadata])
    return text.getvalue()


def _json_lines(names: list[str], of_graphs: Neighbors, *, first: bool) -> str:
    lines = [{"graph": name, "neighbors": neighbors} for name, neighbors in zip(names, of_graphs, strict=True)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


FORMATS = {"table": _table, "csv": _csv, "json": _json_lines}
