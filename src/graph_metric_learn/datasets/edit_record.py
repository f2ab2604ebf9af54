"""Edit distances that are known, in memory and in a file that each call goes on from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from .._core.files import clear_disk_errors, locked, sync
from .edit_costs import EditCosts

_FORMAT = "graph-metric-learn edit distances 1"
_LINE = re.compile(r"([0-9a-f]{32}) ([0-9a-f]{32}) (\S+) (\S+) (\S+)")


class Known(NamedTuple):
    """What is known of one pair."""

    lower: float
    upper: float
    timeout: float  # seconds that networkx had

    def joined(self, other: Known | None) -> Known:
        """The same with what another call has found."""
        if other is None:
            return self
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        return Known(min(lower, upper), upper, max(self.timeout, other.timeout))


Pair = tuple[str, str]  # digests of two graphs, ascending


class EditRecord:
    """What is known of pairs of graphs, by their digests."""

    def __init__(self, handle: int | None = None) -> None:
        self.known: dict[Pair, Known] = {}
        self._handle = handle

    @staticmethod
    @contextmanager
    def opened(path: str | Path | None, costs: EditCosts) -> Iterator[EditRecord]:
        """A record that goes on from a file, made if it is not there; None keeps it in memory."""
        if path is None:
            yield EditRecord()
            return
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with locked(path) as alone:
            if not alone:
                raise ValueError(f"another process is writing {path.name}")
            handle = os.open(path, os.O_RDWR | os.O_APPEND)
            try:
                record = EditRecord(handle)
                record._read(path, costs)
                with clear_disk_errors(path):
                    yield record
                    os.fsync(handle)
            finally:
                os.close(handle)
        sync(path.parent)

    def add(self, pairs: Iterable[tuple[Pair, Known]]) -> None:
        """Takes in what was found; into the file all of it, or, after an error, nothing."""
        lines = []
        for pair, found in pairs:
            self.known[pair] = found.joined(self.known.get(pair))
            lines.append(f"{pair[0]} {pair[1]} {' '.join(repr(float(number)) for number in self.known[pair])}\n")
        if self._handle is not None:
            self._append("".join(lines).encode())

    def _append(self, content: bytes) -> None:
        assert self._handle is not None
        size = os.fstat(self._handle).st_size
        try:
            while content:
                content = content[os.write(self._handle, content) :]
        except BaseException:
            os.ftruncate(self._handle, size)
            raise

    def _read(self, path: Path, costs: EditCosts) -> None:
        """What a file holds; what a process was writing when it was killed, the end of the last line, is cut off."""
        assert self._handle is not None
        content, header = path.read_bytes(), (json.dumps({"format": _FORMAT, "costs": asdict(costs)}) + "\n").encode()
        if len(content) < len(header) and header.startswith(content):  # new, or nothing was written yet
            os.ftruncate(self._handle, 0)
            self._append(header)
            return
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].decode("ascii", errors="replace").splitlines()
        _check_header(path, lines[0] if lines else "", costs)
        if whole < len(content):
            os.ftruncate(self._handle, whole)
        for number, line in enumerate(lines[1:], start=2):
            found = _parsed(line)
            if found is None:
                raise ValueError(f"line {number} of {path.name} is damaged: remove it, or the file")
            self.known[found[0]] = found[1].joined(self.known.get(found[0]))


def _check_header(path: Path, line: str, costs: EditCosts) -> None:
    """A `ValueError` unless a file begins as one of edit distances with these costs does."""
    try:
        header = json.loads(line)
    except json.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{path.name} is no file of edit distances: choose another name")
    if header.get("costs") != asdict(costs):
        raise ValueError(f"{path.name} has edit distances with other costs, {header.get('costs')}: choose another name")


def _parsed(line: str) -> tuple[Pair, Known] | None:
    """What a line says; None where it is damaged."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    try:
        known = Known(*(float(text) for text in match.groups()[2:]))
    except ValueError:
        return None
    in_order = match[1] <= match[2] and 0 <= known.lower <= known.upper < float("inf") and known.timeout >= 0
    return ((match[1], match[2]), known) if in_order else None
