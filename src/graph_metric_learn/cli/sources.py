"""Where a command gets its graphs from: its options, and what they name, read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = (
    "name of a TU dataset (MUTAG), a folder in TU format, a folder of .graphml, .json, .pt or .safetensors files, "
    "one graph each, or a .csv or .csv.gz with a column of SMILES"
)
LINES = "; - reads standard input: a SMILES, or a graph as node-link JSON, per line"


def root_option(parser: argparse.ArgumentParser) -> None:
    """Where TU datasets are."""
    parser.add_argument("--root", type=Path, help="folder with TU datasets (NAME.zip or NAME/); else downloaded")


def source_options(parser: argparse.ArgumentParser, *, target: bool = False) -> None:
    """Where graphs come from, beside their name."""
    root_option(parser)
    add = parser.add_argument_group("with a CSV of molecules").add_argument
    add("--smiles", metavar="COLUMN", help="column of SMILES (smiles)")
    if target:
        add("--target", metavar="COLUMN", help="column of classes or numbers")
    add("--name", metavar="COLUMN", help="column of names, which predictions carry (the SMILES)")
    parser.add_argument(
        "--on-error", choices=["raise", "skip"],
        help="stop at a row of a CSV or a file of a folder that cannot be read, or leave it out (raise)",
    )  # fmt: skip
    parser.add_argument(
        "--max-unpacked", type=_size, metavar="SIZE",
        help="bytes that an archive or a compressed file may unpack to, as in 500M or 8G (4G)",
    )  # fmt: skip


def _size(text: str) -> int:
    from ..datasets.limits import size_in_bytes

    try:
        return size_in_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_source(options: argparse.Namespace, source: str, labels: Path | None = None) -> Any:
    """Names, graphs and classes of what was named."""
    from ..datasets.sources import CsvColumns, load_source

    if source == "-":
        raise ValueError(f"`{options.command}` does not read standard input: give the name of a file or folder")
    return load_source(source, root=options.root, labels=labels, columns=_columns(options, CsvColumns))


def source_chunks(options: argparse.Namespace, size: int) -> Iterator[Any]:
    """The same, at most `size` graphs at a time; - is standard input."""
    from ..datasets.sources import CsvColumns
    from ..datasets.sources import source_chunks as chunks

    return chunks(options.source, root=options.root, columns=_columns(options, CsvColumns), lines=sys.stdin, size=size)


def is_index(path: Path) -> bool:
    """Whether a folder is that of an index, not of a model."""
    return (path / "manifest.json").is_file()


def check_model(path: Path, command: str) -> None:
    """Refuses an index where a model is wanted."""
    if is_index(path):
        raise ValueError(
            f"{path} is an index, which keeps no graphs: `{command}` needs the model it was made with, and graphs"
        )


def _columns(options: argparse.Namespace, kind: Any) -> Any:
    return kind(**{column: getattr(options, column, None) for column in kind._fields})
