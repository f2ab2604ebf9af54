"""Limits of what files may unpack to, so that a small file cannot fill the memory."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from xml.parsers import expat

LIMIT_VARIABLE = "GRAPH_METRIC_LEARN_MAX_UNPACKED"  # bytes
OPTION = "--max-unpacked"
_UNPACKED = 4 * 2**30
_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_most_unpacked: ContextVar[int | None] = ContextVar("max_unpacked", default=None)
_DEPTH = 64  # elements inside each other; GraphML has five


def max_unpacked() -> int:
    """Bytes that an archive may unpack to: those of `unpacking_at_most`, of the environment variable, or 4 GiB."""
    most = _most_unpacked.get()
    if most is not None:
        return most
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return _UNPACKED
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{LIMIT_VARIABLE} must be a number of bytes, got {text!r}")
    return int(text)


@contextmanager
def unpacking_at_most(size: int) -> Iterator[None]:
    """Inside it, archives may unpack to this many bytes, whatever the environment says."""
    token = _most_unpacked.set(size)
    try:
        yield
    finally:
        _most_unpacked.reset(token)


def size_in_bytes(text: str) -> int:
    """A size as it is written: a number of bytes, or one with K, M, G or T behind it.

    >>> size_in_bytes("2G"), size_in_bytes("1000")
    (2147483648, 1000)
    """
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text.strip().upper())
    size = int(match[1]) * _SIZES[match[2]] if match else 0
    if size < 1:
        raise ValueError(f"{text!r} is not a size: give a number of bytes, as in 1000000, or 500M or 8G")
    return size


def refuse_large(size: int, name: str) -> None:
    """A `ValueError` for an archive of which this many bytes would be unpacked, if these are too many."""
    most = max_unpacked()
    if size > most:
        raise ValueError(
            f"{name} unpacks to {size:,} bytes or more, the limit is {most:,}: if you trust it, raise {OPTION} on the "
            f"command line or {LIMIT_VARIABLE} in the environment"
        )


def check_unpacked(path: Path) -> None:
    """The same for a file that may be a zip archive, as those of `torch.save` are."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            refuse_large(sum(member.file_size for member in archive.infolist()), path.name)


def check_xml(path: Path) -> None:
    """A `ValueError` for XML that declares a document type, through which entities grow, or that is deeply nested."""
    parser, depth = expat.ParserCreate(), 0

    def refuse(*_: Any) -> None:
        raise ValueError("it declares a document type or entities, which graphs do not need")

    def start(name: str, attributes: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH:
            raise ValueError(f"its elements are nested more than {_DEPTH} deep")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with path.open("rb") as file:
        parser.ParseFile(file)
