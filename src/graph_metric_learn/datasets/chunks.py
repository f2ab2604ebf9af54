"""Graphs of a source some at a time, so that memory does not grow with their number: CSV, folder, standard input."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..graphs.sources.smiles import NothingReadError, read_molecules
from .folder import graph_files, graphs_from_node_link, read_files
from .smiles import Table, csv_tables, molecules_of
from .sources import Columns, check_columns, is_csv, is_graph_folder, load_source

SIZE = 1000


class Chunk(NamedTuple):
    """Some graphs with their names, and their targets where the source has some."""

    names: list[str]
    graphs: list[Any]
    y: np.ndarray | None


def source_chunks(
    source: str,
    *,
    root: str | Path | None = None,
    columns: Columns | None = None,
    lines: Iterable[str] = (),
    size: int = SIZE,
) -> Iterator[Chunk]:
    """At most `size` graphs at a time of what `load_source` takes, or of lines of text.

    A CSV of molecules and a folder of graph files are read as they are needed; a TU dataset, which is one file for all
    graphs, at once. What is left out, where `columns` say so, is named in a warning for each part; for several parts,
    one warning at the end counts all.

    Parameters
    ----------
    source : str
        As `load_source` takes it; "-" stands for `lines`.
    root, columns
        See `load_source`.
    lines : iterable of str
        A SMILES or a graph in the node-link format of NetworkX (JSON) each; empty ones do not count. Graphs are named
        by their SMILES, by "name" in the JSON, or by the number of the line.
    """
    columns = columns or Columns()
    if source == "-":
        yield from _of_lines(lines, columns, size)
    elif is_csv(source):
        smiles, on_error = columns.smiles or "smiles", _on_error(columns)

        def molecules(table: Table) -> Chunk:
            found = molecules_of(table, smiles, columns.target, columns.name, on_error, stacklevel=6)
            return Chunk(found.names, found.graphs, found.y)

        tables = ((len(table.rows), table) for table in csv_tables(Path(source), size))
        yield from _counted(tables, molecules, f"{Path(source).name}: ", "rows")
    elif is_graph_folder(source):
        check_columns(columns, of_files=True)

        def graphs_of(files: dict[str, Path]) -> Chunk:
            read = read_files(files, skip=_on_error(columns) == "skip")
            return Chunk(list(read), list(read.values()), None)

        files = iter(graph_files(source).items())
        parts = iter(lambda: dict(islice(files, size)), {})
        yield from _counted(((len(part), part) for part in parts), graphs_of, "", "files")
    else:
        names, graphs, y = load_source(source, root=root, columns=columns)
        for start in range(0, len(names), size):
            part = slice(start, start + size)
            yield Chunk(names[part], graphs[part], None if y is None else y[part])


def _counted(parts: Iterable[tuple[int, Any]], read: Callable[[Any], Chunk], source: str, what: str) -> Iterator[Chunk]:
    """The chunks that `read` makes of parts, which come with their number of graphs; those without any are left out."""
    total = kept = incomplete = 0
    last: NothingReadError | None = None
    for count, part in parts:
        total += count
        try:
            chunk = read(part)
        except NothingReadError as error:
            last = error
            incomplete += 1
            continue
        kept += len(chunk.names)
        incomplete += len(chunk.names) < count
        yield chunk
    if last is not None and not kept:
        raise last if incomplete == 1 else ValueError(f"{source}none of {total} {what} can be read: {last}")
    if incomplete > 1 or last is not None:
        warnings.warn(f"{source}{total - kept} of {total} {what} left out in all", stacklevel=3)


def _of_lines(lines: Iterable[str], columns: Columns, size: int) -> Iterator[Chunk]:
    numbered = ((number, line.strip()) for number, line in enumerate(lines, start=1))
    given = ((number, line) for number, line in numbered if line)

    def graphs_of(some: list[tuple[int, str]]) -> Chunk:
        is_json = [line.startswith("{") for _, line in some]
        if all(is_json):
            found = [_parsed(line, number) for number, line in some]
            names = [_name(one, number) for one, (number, _) in zip(found, some, strict=True)]
            return Chunk(names, graphs_from_node_link(found, names), None)
        if any(is_json):
            number = some[is_json.index(not is_json[0])][0]
            raise ValueError(f"line {number} is not like those before: give SMILES or JSON, not both")
        texts, places = [line for _, line in some], [f"line {number}" for number, _ in some]
        graphs = read_molecules(texts, places, on_error=_on_error(columns), source="standard input", plain=True)
        return Chunk(graphs.names, graphs, None)

    first = next(given, None)
    if first is None:
        raise ValueError("standard input has no graphs: give a SMILES or a graph as JSON per line")
    rest = chain([first], given)
    parts = iter(lambda: list(islice(rest, size)), [])
    yield from _counted(((len(part), part) for part in parts), graphs_of, "standard input: ", "lines")


def _parsed(line: str, number: int) -> dict[str, Any]:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None


def _name(found: dict[str, Any], number: int) -> str:
    """What a graph in node-link format is called, at the top or as NetworkX writes it; else the number of its line."""
    attributes = found.get("graph")
    own = attributes.get("name") if isinstance(attributes, dict) else None
    return str(found.get("name") or own or number)


def _on_error(columns: Columns) -> str:
    return columns.on_error or "raise"
