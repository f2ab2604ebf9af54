"""Graphs by what a user names on the command line: a TU dataset, a folder in TU format or of graph files, a CSV.

All at once, or in chunks, so that memory does not grow with their number; then also lines of standard input.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import first_few
from ..graphs.graph_vectors import attach, declare
from ..graphs.sources.descriptors import describe, descriptor_names
from ..graphs.sources.raw_graph import attribute_names
from ..graphs.sources.smiles import NothingReadError, read_molecules
from .folder import graph_files, load_folder, read_files
from .graph_dataset import GraphDataset
from .json_graphs import graphs_from_node_link
from .molecule_csv import MoleculeDataset, Table, csv_tables, molecules_of
from .tu import load_tu

SIZE = 1000  # graphs of a chunk
_MOST_LISTED = 20  # graphs that a warning names one by one


class CsvColumns(NamedTuple):
    """Which columns of a CSV of molecules to read, and what to do with rows that cannot be read."""

    smiles: str | None = None  # "smiles" when None
    target: str | list[str] | None = None  # several: labels or numbers, NaN where one is missing
    name: str | None = None
    on_error: str | None = None  # "raise" when None
    graph_columns: list[str] | None = None  # that describe whole graphs; of graph files, names of their attributes
    descriptors: bool | None = None  # whether RDKit's descriptors do

    def molecules(self, table: Table, *, stacklevel: int) -> MoleculeDataset:
        """The molecules in a part of a CSV; `stacklevel` is that of warnings, counted from here."""
        smiles, on_error = self.smiles or "smiles", self.on_error or "raise"
        return molecules_of(
            table, smiles, self.target, self.name, on_error, self.graph_columns, self.descriptors, plain=True,
            stacklevel=stacklevel + 1,
        )  # fmt: skip


def load_source(
    source: str, *, root: str | Path | None = None, labels: str | Path | None = None, columns: CsvColumns | None = None
) -> tuple[list[str], list[Any], np.ndarray | None]:
    """Names, graphs and classes [G] (None where unknown).

    Parameters
    ----------
    source : str
        The name of a TU dataset, in the folder `root`, if there is one; a folder: of TU files, or of graph files as
        `load_folder` takes them, with the classes in the CSV `labels`; or a CSV of molecules, `.csv` or `.csv.gz`, as
        `load_smiles` takes it, of which `columns` are read. Graphs of TU files are named "0", "1", … by their index in
        the files, where those without nodes count, too.
    """
    folder = Path(source)
    columns = columns or CsvColumns()
    if is_csv(source):
        if labels is not None:
            raise ValueError("--labels goes with a folder of graph files; --target names the column of a CSV")
        (table,) = csv_tables(folder)
        molecules = columns.molecules(table, stacklevel=5)
        return molecules.names, molecules.graphs, molecules.y
    check_columns(columns, of_files=is_graph_folder(source))
    if is_graph_folder(source):
        names, graphs, y = load_folder(folder, labels, on_error=columns.on_error or "raise")
        _name_vectors(graphs, columns)
        return names, graphs, y
    if labels is not None:
        raise ValueError("--labels goes with a folder of graph files; TU datasets have their own")
    if folder.is_file():
        advice = "give a CSV of molecules, or a folder of graph files"
        raise ValueError(f"{source} is a file, and no .csv or .csv.gz: {advice}")
    if ("/" in source or "\\" in source) and not folder.is_dir():
        raise ValueError(f"there is no folder {source}")
    if folder.is_dir():
        dataset = load_tu(folder.resolve().name, features=None, root=folder.resolve().parent)
    else:
        dataset = load_tu(source, features=None, root=root)
    _name_vectors(dataset.graphs, columns)
    return _numbered(dataset), dataset.graphs, dataset.y


def _name_vectors(graphs: list[Any], columns: CsvColumns) -> None:
    """Writes into graphs which attributes of whole graphs are to be read, each of which one of them must have."""
    names = attribute_names("--graph-columns", columns.graph_columns)
    declare(graphs, names)
    for name in names:
        if not any(name in getattr(graph, "graph", graph) for graph in graphs):
            raise ValueError(f"no graph has a graph attribute {name!r}")


def _numbered(dataset: GraphDataset) -> list[str]:
    """The indices of graphs in TU files as their names; a warning says which lack, having no nodes."""
    rows = np.arange(len(dataset)) if dataset.rows is None else dataset.rows
    names = [str(row) for row in rows]
    if dataset.dropped:
        total = len(dataset) + dataset.dropped
        listed = first_few([*map(str, np.setdiff1d(np.arange(total), rows))], _MOST_LISTED)
        text = f"{dataset.name}: {dataset.dropped} of {total} graphs left out, which have no nodes: {listed}"
        warnings.warn(text, stacklevel=3)
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
        if value is not None and option != "graph_columns" and not (of_files and option == "on_error"):
            raise ValueError(f"--{option.replace('_', '-')} goes with a CSV of molecules (.csv or .csv.gz)")


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

    As a source, "-" stands for `lines`: a SMILES or a graph in the node-link format of NetworkX (JSON) each; empty ones
    do not count. Graphs are named by their SMILES, by "name" in the JSON, or by the number of the line.
    """
    columns = columns or CsvColumns()
    if source == "-":
        yield from _of_lines(lines, columns, size)
    elif is_csv(source):

        def molecules_in(table: Table) -> Chunk:
            molecules = columns.molecules(table, stacklevel=6)
            return Chunk(molecules.names, molecules.graphs, molecules.y)

        tables = ((len(table.rows), table) for table in csv_tables(Path(source), size))
        yield from _counted(tables, molecules_in, f"{Path(source).name}: ", "rows")
    elif is_graph_folder(source):
        check_columns(columns, of_files=True)

        def graphs_of(files: dict[str, Path]) -> Chunk:
            read = read_files(files, skip=columns.on_error == "skip")
            declare(list(read.values()), columns.graph_columns)
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
    """Graphs of lines that are all SMILES, or all JSON."""
    numbered = ((line_number, line.strip()) for line_number, line in enumerate(lines, start=1))
    filled = ((line_number, line) for line_number, line in numbered if line)

    def graphs_of(part: list[tuple[int, str]]) -> Chunk:
        is_json = [line.startswith("{") for _, line in part]
        if all(is_json):
            contents = [_parsed(line, line_number) for line_number, line in part]
            names = [_name(content, line_number) for content, (line_number, _) in zip(contents, part, strict=True)]
            from_json = graphs_from_node_link(contents, names)
            declare(from_json, columns.graph_columns)
            return Chunk(names, from_json, None)
        if any(is_json):
            line_number = part[is_json.index(not is_json[0])][0]
            raise ValueError(f"line {line_number} is not like those before: give SMILES or JSON, not both")
        texts, places = [line for _, line in part], [f"line {line_number}" for line_number, _ in part]
        on_error = columns.on_error or "raise"
        graphs = read_molecules(texts, places, on_error=on_error, source="standard input", plain=True)
        described = descriptor_names(columns.descriptors)
        attach(graphs, describe([texts[i] for i in graphs.rows], described) if described else None)
        return Chunk(graphs.names, graphs, None)

    first = list(islice(filled, size))
    if not first:
        raise ValueError("standard input has no graphs: give a SMILES or a graph as JSON per line")
    parts = chain([first], iter(lambda: list(islice(filled, size)), []))
    yield from _counted(((len(part), part) for part in parts), graphs_of, "standard input: ", "lines")


def _parsed(line: str, line_number: int) -> dict[str, Any]:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {line_number} is not JSON: {error}") from None


def _name(content: dict[str, Any], line_number: int) -> str:
    """What a graph in node-link format is called, at the top or as NetworkX writes it; else the number of its line."""
    attributes = content.get("graph")
    own = attributes.get("name") if isinstance(attributes, dict) else None
    return str(content.get("name") or own or line_number)
