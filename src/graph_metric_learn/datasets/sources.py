"""Graphs by what a user names on the command line: a TU dataset, a folder in TU format or of graph files, a CSV."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..graphs.sources.smiles import NothingReadError, read_molecules
from .folder import graph_files, graphs_from_node_link, load_folder, read_files
from .graph_dataset import GraphDataset
from .molecule_csv import Table, csv_tables, molecules_of, read_smiles_file
from .tu import load_tu

_MOST_LISTED = 20  # graphs that a warning names one by one


class CsvColumns(NamedTuple):
    """Which columns of a CSV of molecules to read, and what to do with rows that cannot be read."""

    smiles: str | None = None  # "smiles" when None
    target: str | None = None
    name: str | None = None
    on_error: str | None = None  # "raise" when None


def load_source(
    source: str,
    *,
    root: str | Path | None = None,
    labels: str | Path | None = None,
    columns: CsvColumns | None = None,
) -> tuple[list[str], list[Any], np.ndarray | None]:
    """Names, graphs and classes (None where unknown).

    Parameters
    ----------
    source : str
        The name of a TU dataset; a folder: of TU files, or of graph files as `load_folder` takes them; or a CSV of
        molecules, `.csv` or `.csv.gz`, as `load_smiles` takes it. Graphs of TU files are named "0", "1", … by their
        place in the files, where those without nodes count, too.
    root : path, optional
        Folder that holds NAME.zip or NAME/ of a TU dataset.
    labels : path, optional
        CSV with the classes of a folder of graph files.
    columns : CsvColumns, optional
        Of a CSV of molecules.
    """
    folder = Path(source)
    columns = columns or CsvColumns()
    if is_csv(source):
        if labels is not None:
            raise ValueError("--labels goes with a folder of graph files; --target names the column of a CSV")
        return _load_csv(source, columns)
    check_columns(columns, of_files=is_graph_folder(source))
    if is_graph_folder(source):
        return load_folder(folder, labels, on_error=columns.on_error or "raise")
    if labels is not None:
        raise ValueError("--labels goes with a folder of graph files; TU datasets have their own")
    if folder.is_file():
        raise ValueError(
            f"{source} is a file, and no .csv or .csv.gz: give a CSV of molecules, or a folder of graph files"
        )
    if ("/" in source or "\\" in source) and not folder.is_dir():
        raise ValueError(f"there is no folder {source}")
    if folder.is_dir():
        dataset = load_tu(folder.resolve().name, features=None, root=folder.resolve().parent)
    else:
        dataset = load_tu(source, features=None, root=root)
    return _numbered(dataset), dataset.graphs, dataset.y


def _numbered(dataset: GraphDataset) -> list[str]:
    """The places of graphs in TU files as their names; a warning says which are not there, since they have no nodes."""
    rows = np.arange(len(dataset)) if dataset.rows is None else dataset.rows
    names = [str(row) for row in rows]
    if dataset.dropped:
        total = len(dataset) + dataset.dropped
        missing = np.setdiff1d(np.arange(total), rows)
        more = f" and {len(missing) - _MOST_LISTED} more" if len(missing) > _MOST_LISTED else ""
        listed = ", ".join(map(str, missing[:_MOST_LISTED])) + more
        warnings.warn(
            f"{dataset.name}: {dataset.dropped} of {total} graphs left out, which have no nodes: {listed}", stacklevel=3
        )
        for graph, name in zip(dataset.graphs, names, strict=True):
            graph.name = name  # models and pages would else count those that are left
    return names


def is_csv(source: str) -> bool:
    """Whether a source is a CSV of molecules, by its name."""
    return source.lower().endswith((".csv", ".csv.gz")) and not Path(source).is_dir()


def is_graph_folder(source: str) -> bool:
    """Whether a source is a folder of graph files; one in TU format is not."""
    folder = Path(source)
    return folder.is_dir() and not (folder / f"{folder.name}_A.txt").is_file()


def check_columns(columns: CsvColumns, *, of_files: bool) -> None:
    """A `ValueError` for columns where there is no CSV; files of a folder may be left out by option."""
    for option, value in columns._asdict().items():
        if value is not None and not (of_files and option == "on_error"):
            raise ValueError(f"--{option.replace('_', '-')} goes with a CSV of molecules (.csv or .csv.gz)")


def _load_csv(source: str, columns: CsvColumns) -> tuple[list[str], list[Any], np.ndarray | None]:
    smiles, on_error = columns.smiles or "smiles", columns.on_error or "raise"
    molecules = read_smiles_file(source, smiles, columns.target, columns.name, on_error, plain=True)
    return molecules.names, molecules.graphs, molecules.y


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
    columns: CsvColumns | None = None,
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
    columns = columns or CsvColumns()
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


def _of_lines(lines: Iterable[str], columns: CsvColumns, size: int) -> Iterator[Chunk]:
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


def _on_error(columns: CsvColumns) -> str:
    return columns.on_error or "raise"
