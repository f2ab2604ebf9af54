"""Files of named arrays, one after the other and mapped into memory when read; a record says what is where.

A record is a dictionary of JSON: "file", "bytes" and "arrays" by name, each with "offset", "dtype", "shape" and
"crc32". Everything in it is checked before it is used: a record comes from a file, too.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

NAME = re.compile(r"[0-9]{8}-[0-9a-f]{8}\.(rows|axes|removed)")
_ALIGNED = 64  # bytes: arrays begin at cache lines
_DTYPES = {np.dtype(name).str for name in ("<f4", "<f8", "<i4", "<i8", "<u8", "u1")}
_WRITE = 2**24  # bytes at a time


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Writes a new file, which is yet to be synced to disk; its record."""
    entries: dict[str, Any] = {}
    end = 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        for name, array in arrays.items():
            data = np.ascontiguousarray(array)
            if data.dtype.str not in _DTYPES:
                raise ValueError(f"array {name!r} is of {data.dtype}")
            start = -(-end // _ALIGNED) * _ALIGNED
            write_all(handle, b"\0" * (start - end))
            raw = _raw(data)
            write_all(handle, raw)
            end = start + len(raw)
            entries[name] = {
                "offset": start, "dtype": data.dtype.str, "shape": list(data.shape), "crc32": zlib.crc32(raw),
            }  # fmt: skip
        if end == 0:
            write_all(handle, b"\0")  # an empty file cannot be mapped
            end = 1
    finally:
        os.close(handle)
    return {"file": path.name, "bytes": end, "arrays": entries}


def write_all(handle: int, data: bytes | memoryview) -> None:
    """Writes all bytes: the system may take some of them at a time."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(handle, view[:_WRITE]) :]


def check_record(record: Any, where: str) -> dict[str, Any]:
    """The record, if all of its fields make sense; where: what it is called in messages."""
    fields(record, where, {"file": str, "bytes": int, "arrays": dict})
    if not NAME.fullmatch(record["file"]):
        raise ValueError(f"{where}.file is {record['file']!r}, which is no file of an index")
    if record["bytes"] < 1:
        raise ValueError(f"{where}.bytes must be positive, got {record['bytes']}")
    for name, entry in record["arrays"].items():
        place = f"{where}.arrays.{name}"
        fields(entry, place, {"offset": int, "dtype": str, "shape": list, "crc32": int})
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"{place}.dtype is {entry['dtype']!r}: use one of {', '.join(sorted(_DTYPES))}")
        for size in entry["shape"]:
            if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**48:
                raise ValueError(f"{place}.shape must be whole numbers, got {entry['shape']}")
        if not 1 <= len(entry["shape"]) <= 3:
            raise ValueError(f"{place}.shape must have one to three numbers, got {entry['shape']}")
        if entry["offset"] < 0 or entry["offset"] % _ALIGNED or entry["offset"] + _bytes(entry) > record["bytes"]:
            raise ValueError(f"{place}.offset is {entry['offset']}: the array does not lie in the file")
        if not 0 <= entry["crc32"] < 2**32:
            raise ValueError(f"{place}.crc32 must be a number of 32 bits, got {entry['crc32']}")
    return record


def fields(value: Any, where: str, kinds: dict[str, type]) -> None:
    """A `ValueError` unless the value is a dictionary with these fields, of these types."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be an object, got {type(value).__name__}")  # noqa: TRY004
    for name, kind in kinds.items():
        if name not in value:
            raise ValueError(f"{where}.{name} is missing")
        if not isinstance(value[name], kind) or (kind is int and isinstance(value[name], bool)):
            raise ValueError(f"{where}.{name} must be of type {kind.__name__}, got {value[name]!r}")


def check_array(record: dict[str, Any], where: str, name: str, dtype: str, shape: tuple[int | None, ...]) -> None:
    """A `ValueError` unless an array of the record has this type and shape; None stands for any number."""
    entry = record["arrays"].get(name)
    if entry is None:
        raise ValueError(f"{where}.arrays.{name} is missing")
    if entry["dtype"] != np.dtype(dtype).str:
        raise ValueError(f"{where}.arrays.{name}.dtype is {entry['dtype']!r}, expected {np.dtype(dtype).str!r}")
    fits = len(entry["shape"]) == len(shape) and all(
        wanted is None or size == wanted for size, wanted in zip(entry["shape"], shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{where}.arrays.{name}.shape is {entry['shape']}, expected {list(shape)}")


def map_arrays(folder: Path, record: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of a checked record, mapped: pages are read when they are used. Writing to them changes no file."""
    path = folder / record["file"]
    size = path.stat().st_size
    if size != record["bytes"]:
        raise ValueError(f"{path} has {size} bytes, the manifest says {record['bytes']}: it is damaged")
    # Copy on write: compiled loops take arrays that may be written to.
    mapped = np.asarray(np.memmap(path, np.uint8, mode="c"))
    return {name: _array(mapped, entry) for name, entry in record["arrays"].items()}


def verify_arrays(folder: Path, record: dict[str, Any]) -> None:
    """A `ValueError` unless every array is the one that was written."""
    for name, array in map_arrays(folder, record).items():
        if zlib.crc32(_raw(array)) != record["arrays"][name]["crc32"]:
            raise ValueError(f"{folder / record['file']} is damaged: {name} is not what was written")


def _raw(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array."""
    return memoryview(array.reshape(-1).view(np.uint8).data) if array.size else memoryview(b"")


def _bytes(entry: dict[str, Any]) -> int:
    total = np.dtype(entry["dtype"]).itemsize
    for size in entry["shape"]:
        total *= size
    return total


def _array(mapped: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    raw = mapped[entry["offset"] : entry["offset"] + _bytes(entry)]
    return raw.view(np.dtype(entry["dtype"])).reshape(entry["shape"])
