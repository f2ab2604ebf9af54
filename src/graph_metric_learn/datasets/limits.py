"""Limits of what files may unpack to, so that a small file cannot fill the memory."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any
from xml.parsers import expat

LIMIT_VARIABLE = "GRAPH_METRIC_LEARN_MAX_UNPACKED"  # bytes
_UNPACKED = 4 * 2**30
_DEPTH = 64  # elements inside each other; GraphML has five


def max_unpacked() -> int:
    """Bytes that an archive may unpack to: 4 GiB, or what the environment variable says."""
    given = os.environ.get(LIMIT_VARIABLE)
    if given is None:
        return _UNPACKED
    if not given.isdigit() or int(given) < 1:
        raise ValueError(f"{LIMIT_VARIABLE} must be a number of bytes, got {given!r}")
    return int(given)


def refuse_large(size: int, name: str) -> None:
    """A `ValueError` for an archive of which this many bytes would be unpacked, if these are too many."""
    most = max_unpacked()
    if size > most:
        raise ValueError(
            f"{name} unpacks to {size:,} bytes or more, the limit is {most:,}: if you trust it, raise {LIMIT_VARIABLE}"
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
