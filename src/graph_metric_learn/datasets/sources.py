"""Graphs by what a user names on the command line: a TU dataset, a folder in TU format or of graph files, a CSV."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .base import GraphDataset
from .folder import load_folder
from .smiles import read_smiles_file
from .tu import load_tu

_MOST_LISTED = 20  # graphs that a warning names one by one


class Columns(NamedTuple):
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
    columns: Columns | None = None,
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
    columns : Columns, optional
        Of a CSV of molecules.
    """
    folder = Path(source)
    columns = columns or Columns()
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


def check_columns(columns: Columns, *, of_files: bool) -> None:
    """A `ValueError` for columns where there is no CSV; files of a folder may be left out by option."""
    for option, value in columns._asdict().items():
        if value is not None and not (of_files and option == "on_error"):
            raise ValueError(f"--{option.replace('_', '-')} goes with a CSV of molecules (.csv or .csv.gz)")


def _load_csv(source: str, columns: Columns) -> tuple[list[str], list[Any], np.ndarray | None]:
    smiles, on_error = columns.smiles or "smiles", columns.on_error or "raise"
    molecules = read_smiles_file(source, smiles, columns.target, columns.name, on_error, plain=True)
    return molecules.names, molecules.graphs, molecules.y
