"""Molecules from CSV files, with their targets and names; scaffolds of molecules, for folds."""

from __future__ import annotations

import csv
import gzip
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..graphs.graph_vectors import GraphVectors, attach, joined, read_vector
from ..graphs.sources.descriptors import describe, descriptor_names
from ..graphs.sources.raw_graph import attribute_names
from ..graphs.sources.smiles import Molecules, as_rows, parse, quiet_rdkit, quoted, rdkit_chem, read_molecules
from .graph_dataset import dataset_html
from .limits import max_unpacked, refuse_large

_MISSING = ("", "na", "n/a", "nan", "null")  # how files write that there is no value, in lower case
_WHOLE = re.compile(r"[+-]?\d{1,18}")  # fits into int64
_NAME = re.compile(r"0\d+|\d{19,}")  # more than a number: zeros before it, or more digits than are kept
_FRACTION = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False, repr=False)
class MoleculeDataset:
    """Molecules of a file.

    Attributes
    ----------
    graphs : list of torch_geometric.data.Data
        As `from_smiles` makes them; with a target they also have `y`, with columns or descriptors of whole graphs `u`.
    y : ndarray [G] or [G, T], or None
        The target: int64 or float64 where all values of the file are numbers, else strings. Several: float64, NaN where
        a value is missing. None where none was asked for.
    names : list of str
        From the column of names, or the SMILES.
    name : str
        What the dataset is called: the file without its ending.
    rows : ndarray [G]
        Row of the file of each molecule, from 0, the header not counted: all, unless bad ones were skipped.
    """

    graphs: Molecules
    y: np.ndarray | None
    names: list[str]
    name: str
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def smiles(self) -> list[str]:
        """The SMILES of each molecule, as in the file."""
        return self.graphs.smiles

    def __repr__(self) -> str:
        parts = [f"{len(self)} molecules"]
        if self.y is not None and self.y.ndim == 2:
            count, missing = self.y.shape[1], int(np.isnan(self.y).sum())
            parts.append(f"{count} number{'s' * (count > 1)} each" + (f", {missing} of them missing" * (missing > 0)))
        elif self.y is not None:
            distinct, numbers = len(np.unique(self.y)), self.y.dtype.kind == "f"
            parts.append(f"a number each, {distinct} different ones" if numbers else f"{distinct} classes")
        nodes = np.mean([graph.num_nodes for graph in self.graphs])
        edges = np.mean([graph.edge_index.shape[1] / 2 for graph in self.graphs])
        return f"MoleculeDataset({self.name}: {', '.join(parts)}, on average {nodes:.1f} atoms and {edges:.1f} bonds)"

    def _repr_html_(self) -> str:
        y = None if self.y is not None and self.y.ndim == 2 else self.y  # several numbers are no caption
        return dataset_html(repr(self), self.graphs, y, self.names)


def load_smiles(
    path: str | Path,
    smiles: str = "smiles",
    target: str | Sequence[str] | None = None,
    name: str | None = None,
    on_error: str = "raise",
    *,
    graph_columns: str | Sequence[str] | None = None,
    descriptors: bool | Sequence[str] | None = None,
) -> MoleculeDataset:
    """Molecules of a CSV file with a header, `.csv` or `.csv.gz`.

    Needs RDKit: `pip install graph-metric-learn[chem]`.

    Parameters
    ----------
    path : path
    smiles, name : str
        Columns of SMILES, and of names, if there are any.
    target : str or list of str
        Column of classes or numbers, if wanted; a list of columns of numbers gives `y` [G, T], NaN where a value is
        missing.
    on_error : {"raise", "skip"}
        What to do with a row whose SMILES is none or whose target is missing (empty, NA, N/A, NaN or null; of several
        targets, all): raise a `ValueError` that names its line, or leave it out and name all such lines in one warning.
    graph_columns : str or list of str, optional
        Columns that describe whole graphs, beside the molecule: a vector that metrics read, see `Graphs.graph_x`. Text
        is a category; a missing value is NaN.
    descriptors : bool or list of str, optional
        RDKit's descriptors, as :func:`from_smiles` takes them, in the same vector behind these columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "drinks.csv"
    ...     _ = file.write_text("name,smiles,fun,boils,logP\\nwater,O,no,100,\\nethanol,CCO,yes,78,-0.3\\n")
    ...     drinks = load_smiles(file, target="fun", name="name")
    ...     properties = load_smiles(file, target=["boils", "logP"])
    >>> drinks
    MoleculeDataset(drinks: 2 molecules, 2 classes, on average 2.0 atoms and 1.0 bonds)
    >>> drinks.names, drinks.y.tolist()
    (['water', 'ethanol'], ['no', 'yes'])

    Several properties, not all of them measured:

    >>> properties.y
    array([[100. ,   nan],
           [ 78. ,  -0.3]])
    """
    (table,) = csv_tables(Path(path))
    return molecules_of(table, smiles, target, name, on_error, graph_columns, descriptors)


def molecules_of(
    table: Table,
    smiles: str,
    target: str | Sequence[str] | None,
    name: str | None,
    on_error: str,
    graph_columns: str | Sequence[str] | None = None,
    descriptors: bool | Sequence[str] | None = None,
    *,
    plain: bool = False,
    stacklevel: int = 4,
) -> MoleculeDataset:
    """The molecules in a part of a CSV file; `plain` makes `PlainData`, without importing PyTorch Geometric.

    Warnings name the line of code that `stacklevel` says, as `warnings.warn` counts.
    """
    texts = table.column(smiles)
    places = [f"line {line}" for line in table.lines]
    columns = [] if target is None else [target] if isinstance(target, str) else list(target)
    if target is not None and (not columns or len(set(columns)) < len(columns)):
        raise ValueError(f"target={columns} must name one column or more, each once")
    targets = list(zip(*map(table.column, columns), strict=True))  # the targets of each row
    problems = {i: f"has no {' and no '.join(columns)}" for i, row in enumerate(targets) if all(map(_is_missing, row))}
    problems |= table.problems
    wanted, described = attribute_names("graph_columns", graph_columns), descriptor_names(descriptors)
    vectors = {column: table.column(column) for column in wanted}
    names = None if name is None else [own or text for own, text in zip(table.column(name), texts, strict=True)]
    graphs = read_molecules(
        texts, places, names=names, on_error=on_error, problems=problems, source=table.path.name, plain=plain,
        stacklevel=stacklevel,
    )  # fmt: skip
    y = None
    if columns:
        import torch

        kept, where = [targets[i] for i in graphs.rows], [places[i] for i in graphs.rows]
        if isinstance(target, str):
            y = _typed([value for (value,) in kept])
            _warn_mixed(y, where, f"{table.path.name}: {target}", stacklevel)
        else:
            y = _numbers(kept, where, columns, table.path.name)
        for i, graph in enumerate(graphs):
            graph.y = str(y[i]) if y.dtype.kind == "U" else torch.from_numpy(y[i : i + 1].copy())
    of_rows = _vectors(vectors, graphs.rows, places, table.path.name)
    attach(graphs, of_rows, describe([texts[i] for i in graphs.rows], described) if described else None)
    return MoleculeDataset(graphs, y, graphs.names, re.sub(r"\.csv(\.gz)?$", "", table.path.name), graphs.rows)


def scaffolds(smiles: Iterable[Any]) -> list[str]:
    """The Bemis-Murcko scaffold of each molecule, as SMILES: its rings and what joins them.

    Molecules of one scaffold resemble each other. To learn how well molecules of a new kind are predicted, give them as
    groups to folds, as in `cross_val_score(…, groups=scaffolds(smiles), cv=GroupKFold())`. All molecules without rings
    have the scaffold "".

    Parameters
    ----------
    smiles : sequence of str or rdkit.Chem.Mol

    Examples
    --------
    >>> scaffolds(["Cc1ccccc1", "OC(=O)c1ccccc1", "CCO"])
    ['c1ccccc1', 'c1ccccc1', '']
    """
    rows = as_rows(smiles)
    smiles_of_scaffolds = []
    with quiet_rdkit():
        chem = rdkit_chem()
        from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol

        for i, row in enumerate(rows):
            try:
                molecule = parse(row)
            except ValueError as error:
                raise ValueError(f"row {i}{quoted(row)} {error}") from None
            smiles_of_scaffolds.append(chem.MolToSmiles(GetScaffoldForMol(molecule), isomericSmiles=False))
    return smiles_of_scaffolds


class Table(NamedTuple):
    """Rows of a CSV file: columns by place, the line on which each row starts, and what is wrong with some of them."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    problems: dict[int, str]

    def column(self, name: str) -> list[str]:
        """The values of a column, without white space around them."""
        if self.header.count(name) != 1:
            other = next((mark for mark in ";\t|" if len(self.header) == 1 and mark in self.header[0]), None)
            if other is not None:
                raise ValueError(f"{self.path.name} has columns separated by {other!r}: separate them by commas")
            what = "no column" if name not in self.header else "several columns"
            raise ValueError(f"{self.path.name} has {what} {name!r}, its columns are {', '.join(self.header)}")
        index = self.header.index(name)
        return [row[index].strip() for row in self.rows]


def csv_tables(path: Path, size: int | None = None) -> Iterator[Table]:
    """A CSV file, at most `size` rows at a time; None is all at once."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    header: list[str] | None = None
    rows: list[list[str]] = []
    lines: list[int] = []
    problems: dict[int, str] = {}
    line, any_row = 1, False
    unpacked, most = 0, max_unpacked()
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                if row and header is None:
                    header = [name.strip() for name in row]
                elif row and header is not None:  # not an empty line
                    if len(row) != len(header):
                        problems[len(rows)] = f"has {len(row)} values for {len(header)} columns"
                        row = [*row, *[""] * len(header)][: len(header)]
                    rows.append(row)
                    lines.append(line)
                    any_row = True
                line = reader.line_num + 1
                unpacked += sum(map(len, row)) + len(row)
                if unpacked > most and size is None:
                    refuse_large(unpacked, path.name)
                if header is not None and len(rows) == size:
                    yield Table(path, header, rows, lines, problems)
                    rows, lines, problems = [], [], {}
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: it is not text in UTF-8") from None
    except (OSError, EOFError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if header is None or not any_row:
        raise ValueError(f"{path} needs a header with names of columns, and at least one row")
    if rows:
        yield Table(path, header, rows, lines, problems)


def _typed(values: list[str]) -> np.ndarray:
    """Texts [G] as int64 or float64, where all of them are finite numbers, else as they are.

    Names that look like numbers but would not be the same again, such as 007, stay as they are.
    """
    if any(_NAME.fullmatch(value) for value in values):
        return np.array(values)
    if all(_WHOLE.fullmatch(value) for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return np.array(values)
    return numbers if np.isfinite(numbers).all() else np.array(values)


def _is_missing(value: str) -> bool:
    return value.lower() in _MISSING


def _numbers(rows: list[tuple[str, ...]], places: list[str], columns: list[str], source: str) -> np.ndarray:
    """Several targets [G, T] as float64, NaN where a value is missing; other texts raise."""
    y = np.full((len(rows), len(columns)), np.nan)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if _is_missing(value):
                continue
            if not _FRACTION.fullmatch(value) or not np.isfinite(float(value)):
                which = f"{columns[j]} on {places[i]} is {value!r}"
                raise ValueError(f"{source}: several targets are numbers, and {which}; for classes give one column")
            y[i, j] = float(value)
    return y


def _vectors(columns: dict[str, list[str]], rows: np.ndarray, places: list[str], source: str) -> GraphVectors | None:
    """Values of columns in the chosen rows as vectors [G, q], None without columns: numbers, or categories."""
    values: dict[str, list[Any]] = {}
    for name, texts in columns.items():
        chosen = [None if _is_missing(texts[i]) else texts[i] for i in rows]
        there = [text for text in chosen if text is not None]
        numbers = all(_FRACTION.fullmatch(text) and not _NAME.fullmatch(text) for text in there)
        values[name] = [float(text) if numbers and text is not None else text for text in chosen]
    found = [
        read_vector({name: of_column[i] for name, of_column in values.items()}, f"{source}, {places[row]}")
        for i, row in enumerate(rows)
    ]
    return joined(found, [1] * len(found))


def _warn_mixed(y: np.ndarray, places: list[str], what: str, stacklevel: int) -> None:
    """A warning where nearly all of the targets are numbers, but not all: they count as classes then."""
    others = [i for i, value in enumerate(y) if y.dtype.kind == "U" and not _FRACTION.fullmatch(value)]
    if others and len(others) < 0.1 * len(y):
        reason = f"{len(others)} of {len(y)} values are not numbers"
        first = f"the first, on {places[others[0]]}, is {str(y[others[0]])!r}"
        warnings.warn(f"{what} is read as classes, since {reason}: {first}", stacklevel=stacklevel)
