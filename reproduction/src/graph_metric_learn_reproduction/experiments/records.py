"""Results on disk, one line of JSON per configuration. What is recorded is not computed again."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from graph_metric_learn._core.files import clear_disk_errors

PROTOCOL = 2  # raise when the protocol changes: old records then no longer count

Config = dict[str, Any]  # what was run: "dataset", "method", "model", …
Result = dict[str, Any]  # what came out: "test", "validation", "seconds", …
Record = dict[str, Any]  # {"key": key_of(config), "config": config, "result": result}


def key_of(config: Config) -> str:
    """A hash of a configuration, whatever the order of its entries.

    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps({"protocol": PROTOCOL, **config}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def cell(
    what: str,
    dataset: str,
    method: str,
    classifier: str,
    run: int,
    *,
    features: str | None = None,
    model: dict[str, Any] | None = None,
) -> Config:
    """The configuration of one run of an experiment beside the paper's tables; `what` names the experiment."""
    return {
        "what": what, "dataset": dataset, "features": features, "method": method, "model": model or {}, "run": run,
        "classifier": classifier,
    }  # fmt: skip


class Measured(list[Record]):
    """Records to make tables of, and the same by dataset, so that a table need not look through all of them."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        super().__init__(records)
        self.by_dataset: dict[str, list[Record]] = defaultdict(list)
        for record in self:
            self.by_dataset[record["config"]["dataset"]].append(record)


def matching(records: Iterable[Record], **wanted: Any) -> list[Record]:
    """The records whose configuration has the wanted entries; None also stands for an entry that is not there."""
    if isinstance(records, Measured) and "dataset" in wanted:
        records = records.by_dataset.get(wanted["dataset"], [])
    entries = list(wanted.items())
    return [one for one in records if all(one["config"].get(name) == value for name, value in entries)]


class Records:
    """The records of a folder, a file for each dataset and features, such as ENZYMES-fuse.jsonl.

    An incomplete last line, left by a crash while it was written, is removed when the file is opened next.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.by_key: dict[str, Record] = {}
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
                self.by_key[key] = record

    def __contains__(self, config: Config) -> bool:
        return key_of(config) in self.by_key

    def __getitem__(self, config: Config) -> Result:
        """The result of a configuration."""
        return self.by_key[key_of(config)]["result"]

    def __len__(self) -> int:
        return len(self.by_key)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.by_key.values())

    def add(self, config: Config, result: Result) -> None:
        """Appends a record, in one write; it is on disk before this returns."""
        key = key_of(config)
        result = {name: _rounded(value) if name in ("loss", "seconds") else value for name, value in result.items()}
        record = {"key": key, "config": config, "result": result}
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"
        path = self.folder / f"{'-'.join(filter(None, (config['dataset'], config.get('features'))))}.jsonl"
        with clear_disk_errors(path):
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                before = os.fstat(handle).st_size
                try:
                    written = os.write(handle, line)
                    if written != len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    os.fsync(handle)
                except BaseException:
                    _cut_back(handle, before, line)
                    raise
            finally:
                os.close(handle)
        self.by_key[key] = record


def _cut_back(handle: int, before: int, line: bytes) -> None:
    """Removes what was written of a line, unless somebody else has written after it: the next line stays whole."""
    with contextlib.suppress(OSError):
        if os.fstat(handle).st_size <= before + len(line):
            os.ftruncate(handle, before)


def _rounded(value: Any) -> Any:
    """Times and losses with 6 significant digits: more mean nothing, and the files stay small.

    >>> _rounded({"training": 2 / 3, "distances": 1234.56789}), _rounded([0.12345678, 5])
    ({'training': 0.666667, 'distances': 1234.57}, [0.123457, 5])
    """
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
