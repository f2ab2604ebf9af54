"""`neighbors`: the nearest graphs in an index, or among the reference graphs of a model, as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import shared_options as shared

_KEYS = ("id", "distance", "metadata")  # of a neighbour
Neighbors = list[list[dict[str, Any]]]  # of each graph
Search = Callable[[Any], tuple[Any, ...]]  # of graphs, distances [N, k] of their neighbours, ids and metadata


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", type=Path, help="folder of an index, or of a model with neighbours")
    parser.add_argument("source", help=shared.SOURCE + shared.LINES)
    parser.add_argument("-k", type=int, default=10, help="how many neighbours (%(default)s)")
    parser.add_argument("--approximate", action="store_true", help="may miss some, for speed; says how many it finds")
    text = "say at the end whether these graphs are farther from those of the index than these are from each other"
    parser.add_argument("--drift", action="store_true", help=text)
    text = "the same, but than these are: graphs as they should be that the model was not fitted to"
    parser.add_argument("--reference", metavar="SOURCE", help=text)
    parser.add_argument("--out", type=Path, help="file to write (standard output)")
    text = "table: to read; csv: a line per neighbour; json: one JSON object per line and graph"
    shared.format_option(parser, FORMATS, text)
    shared.overwrite_option(parser)
    shared.scheduler_option(parser)
    shared.source_options(parser)


def run(options: argparse.Namespace) -> None:
    options.drift = options.drift or options.reference is not None
    if options.drift and not shared.is_index(options.index):
        raise ValueError("--drift and --reference go with an index")
    if options.out:
        shared.check_new(options.out, options.overwrite)
    search = _in_index(options) if shared.is_index(options.index) else _in_model(options)
    usual: Any = _usual(options) if options.drift else None
    nearest: list[Any] = []

    def text_of(names: list[str], graphs: Any, first: bool) -> str:
        distances, ids, metadata = search(graphs)
        nearest.append(distances[:, 0])
        rows = zip(ids.tolist(), distances.tolist(), metadata, strict=True)
        neighbors = [[dict(zip(_KEYS, one, strict=True)) for one in zip(*row, strict=True)] for row in rows]
        return FORMATS[options.format](names, neighbors, first)

    shared.write_by_chunks(options, text_of)
    if options.drift:
        import numpy as np

        from ..index import Drift

        print(Drift(np.concatenate(nearest), usual), file=sys.stderr)


def _usual(options: argparse.Namespace) -> Any:
    """Distances to the nearest graph of an index that are usual."""
    from ..index import GraphIndex
    from ..index.drift import check_usual

    index = GraphIndex.load(options.index, read_only=True)
    if options.reference is None:
        distances = index.nearest_distances()
    else:
        _, graphs, _ = shared.read_source(options, options.reference)
        distances = index.search(graphs, k=1)[0][:, 0]
    check_usual(distances)
    return distances


def _in_index(options: argparse.Namespace) -> Search:
    """The neighbours of each graph in an index."""
    from ..index import GraphIndex

    index = GraphIndex.load(options.index, read_only=True)

    def search(graphs: Any) -> tuple[Any, ...]:
        measured = index.recall_ is not None
        neighbors = index.search(graphs, options.k, approximate=options.approximate, metadata=True)
        if options.approximate and not measured:  # it is now, and said once
            print(index.describe_recall(), file=sys.stderr)
        return neighbors

    return search


def _in_model(options: argparse.Namespace) -> Search:
    """The same among the reference graphs of a model; ids are their names, or their rows where they have none."""
    from ..predictors import load

    model = load(options.index)
    if not hasattr(model, "kneighbors"):
        raise ValueError(f"{options.index} has no neighbours: fit with --model knn, or make an index of it")
    if options.approximate:
        raise ValueError("--approximate goes with an index")

    def search(graphs: Any) -> tuple[Any, ...]:
        distances, rows = model.kneighbors(graphs, options.k)
        metadata = [[{"target": target} for target in model.y_[row].tolist()] for row in rows]
        return distances, rows if model.names_ is None else model.names_[rows], metadata

    return search


def _table(names: list[str], of_graphs: Neighbors, first: bool) -> str:
    """A paragraph per graph: its neighbours with their distances."""
    text = ""
    for name, neighbors in zip(names, of_graphs, strict=True):
        lines = [f"  {one['distance']:10.4g}  {one['id']}{_target(one['metadata'])}\n" for one in neighbors]
        text += f"{name}\n{''.join(lines)}"
    return text


def _target(metadata: Any) -> str:
    return f"  ({metadata['target']})" if isinstance(metadata, dict) and metadata.get("target") is not None else ""


def _csv(names: list[str], of_graphs: Neighbors, first: bool) -> str:
    """A line per neighbour; metadata as JSON."""
    rows: list[list[Any]] = [["graph", "rank", "neighbor", "distance", "metadata"]] if first else []
    for name, neighbors in zip(names, of_graphs, strict=True):
        for rank, one in enumerate(neighbors, start=1):
            metadata = "" if one["metadata"] is None else json.dumps(one["metadata"], ensure_ascii=False)
            rows.append([name, rank, one["id"], f"{one['distance']:.6g}", metadata])
    return shared.csv_text(rows)


def _json_lines(names: list[str], of_graphs: Neighbors, first: bool) -> str:
    return shared.json_lines({"graph": name, "neighbors": near} for name, near in zip(names, of_graphs, strict=True))


FORMATS = {"table": _table, "csv": _csv, "json": _json_lines}
