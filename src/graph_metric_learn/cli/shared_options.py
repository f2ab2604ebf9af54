"""What several commands share: where graphs come from, what is written, and on which workers it is computed."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

SOURCE = (
    "name of a TU dataset (MUTAG), a folder in TU format, a folder of .graphml, .json, .pt or .safetensors files, "
    "one graph each, or a .csv or .csv.gz with a column of SMILES"
)
_AT_ONCE = 1000  # graphs that are read and looked at together
LINES = "; - reads standard input: a SMILES, or a graph as node-link JSON, per line"


def model_options(parser: argparse.ArgumentParser, *, lines: bool = False) -> None:
    """A model, and the graphs that it is used on; with `lines`, these may come from standard input."""
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("source", help=SOURCE + LINES if lines else SOURCE)


def format_option(parser: argparse.ArgumentParser, choices: Iterable[str], text: str) -> None:
    """How what is printed or written looks; a table if nothing is said."""
    parser.add_argument("--format", choices=list(choices), default="table", help=f"{text} (%(default)s)")


def root_option(parser: argparse.ArgumentParser) -> None:
    """Where TU datasets are."""
    parser.add_argument("--root", type=Path, help="folder with TU datasets (NAME.zip or NAME/); else downloaded")


def source_options(parser: argparse.ArgumentParser, *, target: bool = False) -> None:
    """Where graphs come from, beside their name."""
    root_option(parser)
    add = parser.add_argument_group("with a CSV of molecules").add_argument
    add("--smiles", metavar="COLUMN", help="column of SMILES (smiles)")
    if target:
        add("--target", nargs="+", metavar="COLUMN", help="column of classes or numbers; several of labels or numbers")
    add("--name", metavar="COLUMN", help="column of names, which predictions carry (the SMILES)")
    add("--descriptors", action="store_true", default=None, help="RDKit's descriptors as vectors of whole graphs")
    parser.add_argument(
        "--graph-columns", nargs="+", metavar="NAME",
        help="columns of a CSV, or attributes of graphs, that describe whole graphs: numbers or categories",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=["raise", "skip"],
        help="stop at a row of a CSV or a file of a folder that cannot be read, or leave it out (raise)",
    )  # fmt: skip
    parser.add_argument(
        "--max-unpacked", type=_size, metavar="SIZE",
        help="bytes that an archive or a compressed file may unpack to, as in 500M or 8G (4G)",
    )  # fmt: skip


def _size(text: str) -> int:
    """A size as argparse reads it."""
    from ..datasets.limits import size_in_bytes

    try:
        return size_in_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_source(options: argparse.Namespace, source: str, labels: Path | None = None) -> Any:
    """Names, graphs and targets of what was named."""
    from ..datasets.sources import load_source

    if source == "-":
        raise ValueError(f"`{options.command}` does not read standard input: give the name of a file or folder")
    return load_source(source, root=options.root, labels=labels, columns=_columns(options))


def source_chunks(options: argparse.Namespace, size: int) -> Iterator[Any]:
    """The same, at most `size` graphs at a time; - is standard input."""
    from ..datasets.sources import source_chunks as chunks

    return chunks(options.source, root=options.root, columns=_columns(options), lines=sys.stdin, size=size)


def _columns(options: argparse.Namespace) -> Any:
    """The columns of a CSV that were named."""
    from ..datasets.sources import CsvColumns

    columns = {column: getattr(options, column, None) for column in CsvColumns._fields}
    if columns["target"] is not None and len(columns["target"]) == 1:
        (columns["target"],) = columns["target"]
    return CsvColumns(**columns)


def is_index(path: Path) -> bool:
    """Whether a folder is that of an index, not of a model."""
    return (path / "manifest.json").is_file()


def load_model(options: argparse.Namespace) -> Any:
    """The model of a command; an index is refused."""
    from ..predictors import load

    if is_index(options.model):
        needed = f"`{options.command}` needs the model it was made with, and graphs"
        raise ValueError(f"{options.model} is an index, which keeps no graphs: {needed}")
    return load(options.model)


def overwrite_option(parser: argparse.ArgumentParser, what: str = "an earlier file") -> None:
    """Whether what is there may be replaced."""
    parser.add_argument("--overwrite", action="store_true", help=f"replace {what}")


def write_by_chunks(options: argparse.Namespace, text_of: Callable[..., str]) -> None:
    """Writes what is to be said of the graphs of the source, to --out or standard output.

    ``text_of(names, graphs, first)`` is asked for at most 1000 graphs at a time. A file appears when all is well.
    """
    count = 0
    with ExitStack() as stack:
        file: TextIO = sys.stdout
        if options.out:
            from .._core.files import new_file

            path = stack.enter_context(new_file(options.out, overwrite=options.overwrite))
            file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
        for names, graphs, _ in source_chunks(options, _AT_ONCE):
            file.write(text_of(names, graphs, count == 0))
            count += len(names)
    if options.out:
        print(f"written: {options.out} ({count} graphs)")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def json_lines(records: Iterable[Any]) -> str:
    """One JSON object per line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def say(line: str) -> None:
    """Prints a line; who reads may have gone, as after `| head -1`, but the work goes on."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Nothing reads the output any more: without this, Python complains at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_new(path: Path, overwrite: bool) -> None:
    """Refuses to overwrite, or to write where nothing can be written, before the work starts and not after it."""
    from .._core.files import check_writable

    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another --out or add --overwrite")
    check_writable(path)


def scheduler_option(parser: argparse.ArgumentParser) -> None:
    """The address of a scheduler."""
    parser.add_argument("--scheduler", metavar="tcp://…", help="compute on the workers of this Dask scheduler")


@contextmanager
def workers(address: str) -> Iterator[None]:
    """Inside, joblib sends its work to a scheduler."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install graph-metric-learn[dask]") from None
    from joblib import parallel_config

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TypeError) as error:  # a timeout is an OSError
        raise ValueError(f"no scheduler answers at {address}: {error}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise ValueError(f"the scheduler at {address} has no workers")
        with parallel_config("dask"):
            yield
