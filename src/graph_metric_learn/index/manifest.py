"""The manifest of an index on disk: the one file whose replacement makes a change, checked field by field when read."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .array_file import check_array, check_record, fields
from .kernels import HEAD, MIDDLE

FORMAT = "graph-metric-learn index"
VERSION = 1
FILE = "manifest.json"
METRIC = re.compile(r"metric-[0-9a-f]{8}")
_PLAIN = {"numbers": "<i8", "is_text": "u1", "ends": "<i8", "note_ends": "<i8", "curve_ends": "<i8"}
_TEXT = {"text": "ends", "notes": "note_ends"}


@dataclass(frozen=True)
class Manifest:
    """What an index on disk consists of.

    Attributes
    ----------
    generation : int
        Counts the changes.
    metric : str
        The folder of the metric.
    width : int or None
        Coordinates of a vector; None before the first graph.
    next_id : int
        The number that the next graph without an id gets.
    fitted_to : int
        Rows that the axes were computed from.
    axes, removed : record or None
        Files of arrays, see `array_file`; removed: one bit for each row of all segments, those without a bit count.
    segments : list of records
        In order of their rows.
    """

    generation: int
    metric: str
    width: int | None
    next_id: int
    fitted_to: int
    axes: dict[str, Any] | None
    removed: dict[str, Any] | None
    segments: list[dict[str, Any]]

    @property
    def files(self) -> set[str]:
        """Names of all files and folders that it refers to."""
        return {self.metric} | {
            record["file"] for record in (self.axes, self.removed, *self.segments) if record is not None
        }

    def text(self) -> bytes:
        """As it is written: JSON with its own digest."""
        text = _canonical({"format": FORMAT, "version": VERSION, **vars(self)})
        return b'{"sha256":"' + hashlib.sha256(text).hexdigest().encode() + b'",' + text[1:]

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """The manifest in a file, or a `ValueError` that names the field which is wrong."""
        try:
            body = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            raise ValueError(f"{path} is damaged or not ours: it is not JSON") from None
        where = path.name
        fields(body, where, {"format": str, "version": int, "sha256": str})
        if body["format"] != FORMAT:
            raise ValueError(f"{path}: format is {body['format']!r}, expected {FORMAT!r}")
        if body["version"] != VERSION:
            raise ValueError(
                f"{path}: version is {body['version']}, this library reads {VERSION}: use the version of the library "
                "that it is from"
            )
        rest = _canonical({name: value for name, value in body.items() if name != "sha256"})
        if hashlib.sha256(rest).hexdigest() != body["sha256"]:
            raise ValueError(f"{path} is damaged: sha256 is not that of its other fields")
        fields(body, where, {"generation": int, "metric": str, "next_id": int, "fitted_to": int, "segments": list})
        for name in ("generation", "next_id", "fitted_to"):
            if not 0 <= body[name] <= 2**63:
                raise ValueError(f"{where}.{name} must not be negative, got {body[name]}")
        found = cls(**{name: body.get(name) for name in cls.__dataclass_fields__})
        found._check(where)
        return found

    def _check(self, where: str) -> None:
        if not METRIC.fullmatch(self.metric):
            raise ValueError(f"{where}.metric is {self.metric!r}, which is no folder of an index")
        width = self.width
        if width is None:
            if self.segments or self.axes is not None or self.removed is not None:
                raise ValueError(f"{where}.width is missing")
            return
        if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width < 2**31:
            raise ValueError(f"{where}.width must be a positive whole number, got {width!r}")
        axes = check_record(self.axes, f"{where}.axes")
        check_array(axes, f"{where}.axes", "centre", "<f8", (width,))
        check_array(axes, f"{where}.axes", "directions", "<f8", (width, min(width, HEAD + MIDDLE)))
        total = 0
        for i, record in enumerate(self.segments):
            total += check_segment(record, f"{where}.segments[{i}]", width)
        if len({"curves" in record["arrays"] for record in self.segments}) > 1:
            raise ValueError(f"{where}.segments: some hold curves, some do not")
        if self.removed is not None:
            check_record(self.removed, f"{where}.removed")
            check_array(self.removed, f"{where}.removed", "bits", "u1", (None,))
            if self.removed["arrays"]["bits"]["shape"][0] > -(-total // 8):
                raise ValueError(f"{where}.removed.arrays.bits has more bits than there are rows")
        listed = [record["file"] for record in (axes, *self.segments)]
        if len(set(listed)) < len(listed):
            raise ValueError(f"{where}.segments names a file twice")


def check_segment(record: Any, where: str, width: int) -> int:
    """A `ValueError` unless the record is that of a segment; how many rows it has."""
    check_record(record, where)
    arrays = record["arrays"]
    if "heads" not in arrays:
        raise ValueError(f"{where}.arrays.heads is missing")
    n = arrays["heads"]["shape"][0]
    check_array(record, where, "heads", "<f4", (n, HEAD))
    check_array(record, where, "middles", "<f4", (n, min(max(width - HEAD, 0), MIDDLE)))
    check_array(record, where, "vectors", "<f4", (n, width))
    check_array(record, where, "hashes", "<u8", (n,))
    check_array(record, where, "hash_rows", "<i4", (n,))
    for name in arrays:
        if name in _PLAIN:
            check_array(record, where, name, _PLAIN[name], (n,))
        elif name in _TEXT:
            check_array(record, where, name, "u1", (None,))
            check_array(record, where, _TEXT[name], "<i8", (n,))
        elif name == "curves":
            check_array(record, where, name, arrays[name]["dtype"], (None, None, None))
            check_array(record, where, "curve_ends", "<i8", (n,))
        elif name == "steps":
            check_array(record, where, "curves", arrays.get("curves", {}).get("dtype", "<f4"), (None, None, None))
            check_array(record, where, name, "<f8", tuple(arrays["curves"]["shape"][:2]))
        elif name not in ("heads", "middles", "vectors", "hashes", "hash_rows"):
            raise ValueError(f"{where}.arrays.{name}: there is no such array")
    for name, ends in {**_TEXT, "curves": "curve_ends"}.items():
        if ends in arrays and name not in arrays:
            raise ValueError(f"{where}.arrays.{name} is missing, though there is {ends}")
    needed = {"numbers"} if "text" not in arrays else {"is_text"} if "numbers" in arrays else set()
    for name in needed - set(arrays):
        raise ValueError(f"{where}.arrays.{name} is missing")
    return n


def check_contents(arrays: dict[str, np.ndarray], where: str) -> None:
    """A `ValueError` if numbers that lead into other arrays lead out of them."""
    n = len(arrays["heads"])
    rows = arrays["hash_rows"]
    if n and not (rows.min() >= 0 and rows.max() < n):
        raise ValueError(f"{where}: hash_rows must lie between 0 and {n - 1}: the file is damaged")
    for name, ends in {**_TEXT, "curves": "curve_ends"}.items():
        if name in arrays:
            last = arrays[ends]
            if n and (last[0] < 0 or last[-1] != len(arrays[name]) or (np.diff(last) < 0).any()):
                raise ValueError(f"{where}: {ends} must rise to the length of {name}: the file is damaged")


def _canonical(body: dict[str, Any]) -> bytes:
    """JSON in the one form whose digest is kept."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
