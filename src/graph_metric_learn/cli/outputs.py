"""What a command writes: nothing is replaced unless told to."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def overwrite_option(parser: argparse.ArgumentParser, what: str = "an earlier file") -> None:
    """Whether what is there may be replaced."""
    parser.add_argument("--overwrite", action="store_true", help=f"replace {what}")


@contextmanager
def text_output(path: Path | None, overwrite: bool) -> Iterator[TextIO]:
    """A file that appears when the block ends well, or standard output."""
    if path is None:
        yield sys.stdout
        return
    from .._core.files import new_file

    with new_file(path, overwrite=overwrite) as name, name.open("w", encoding="utf-8", newline="") as file:
        yield file


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
