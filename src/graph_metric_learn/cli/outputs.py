"""What a command writes: nothing is replaced unless told to."""

from __future__ import annotations

import argparse
from pathlib import Path


def overwrite_option(parser: argparse.ArgumentParser, what: str = "an earlier file") -> None:
    """Whether what is there may be replaced."""
    parser.add_argument("--overwrite", action="store_true", help=f"replace {what}")


def check_new(path: Path, overwrite: bool) -> None:
    """Refuses to overwrite, or to write where nothing can be written, before the work starts and not after it."""
    from .._core.files import check_writable

    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another --out or add --overwrite")
    check_writable(path)
