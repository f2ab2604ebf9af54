"""Finished cells on disk: one line of JSON each, appended in one write; what is there is not computed again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROTOCOL = 2  # raise when the protocol changes: old records then no longer count


def key_of(config: dict[str, Any]) -> str:
    """A name for a configuration: equal for equal ones, whatever the order of their entries.

    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps({"protocol": PROTOCOL, **config}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class Records:
    """The records of a folder, one file per dataset.

    A line that was cut off (the machine went down in the middle of it) is dropped when the file is opened next.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.found: dict[str, dict[str, Any]] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            self._read(path)

    def _read(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) != len(data):
            os.truncate(path, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                record = json.loads(line)
                key = record["key"]
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path}, line {number}: not a record; restore or remove it") from None
            if key == key_of(record["config"]):  # records of another protocol stay in the file and do not count
                self.found[key] = record

    def __contains__(self, config: dict[str, Any]) -> bool:
        return key_of(config) in self.found

    def __getitem__(self, config: dict[str, Any]) -> dict[str, Any]:
        """The result of a configuration."""
        return self.found[key_of(config)]["result"]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.found.values())

    def add(self, config: dict[str, Any], result: dict[str, Any]) -> None:
        """Keeps a finished cell: on disk before this returns."""
        key = key_of(config)
        result = {name: _short(value) if name in ("loss", "seconds") else value for name, value in result.items()}
        record = {"key": key, "config": config, "result": result}
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"
        handle = os.open(self.folder / f"{config['dataset']}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
        self.found[key] = record


def _short(value: Any) -> Any:
    """Times and losses with 6 digits: more of them say nothing, and records are kept for long.

    >>> _short({"training": 2 / 3, "distances": 1234.56789}), _short([0.12345678, 5])
    ({'training': 0.666667, 'distances': 1234.57}, [0.123457, 5])
    """
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
