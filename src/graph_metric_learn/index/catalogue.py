"""Ids of graphs and what is known about them beside their vectors, by row: checked as they come in, and kept in memory.

An index in a folder keeps the same in SQLite, see `database`. Metadata are one JSON value per row, as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

LARGEST = 2**63 - 1  # number that can be an id


class Catalogue(Protocol):
    """Ids and metadata by row. Rows are only added, so a state that has `count` of them asks for those below."""

    def candidates(self, ids: Sequence[Any], count: int) -> Iterable[tuple[int, int]]:
        """Pairs (index of an id in `ids`, row below `count` that has it): several where an id was replaced."""

    def ids(self, rows: np.ndarray) -> list[Any]:
        """The ids of these rows [n], in any order."""

    def notes(self, rows: np.ndarray) -> list[bytes | None]:
        """The metadata of these rows [n] as JSON; None where nothing is known."""


class MemoryCatalogue:
    """Ids, which may be any hashable objects, and metadata of an index in memory."""

    def __init__(self) -> None:
        self._ids: list[Any] = []
        self._notes: list[bytes | None] = []
        self._latest: dict[Any, int] = {}  # row of each id
        self._earlier: dict[int, int] = {}  # from a row to the one that had its id before

    def append(self, count: int, ids: Sequence[Any], notes: Sequence[bytes | None] | None) -> None:
        """Adds rows count, count + 1, …; what an interrupted call has left behind `count` is overwritten."""
        del self._ids[count:], self._notes[count:]
        for row, value in enumerate(ids, count):
            if self._latest.get(value, count) < count:
                self._earlier[row] = self._latest[value]
        self._notes += [None] * len(ids) if notes is None else notes
        self._ids += ids
        self._latest.update(zip(ids, range(count, count + len(ids)), strict=True))

    def candidates(self, ids: Sequence[Any], count: int) -> Iterator[tuple[int, int]]:
        for i, value in enumerate(ids):
            row = self._latest.get(value)
            while row is not None:
                if row < count and self._ids[row] == value:
                    yield i, row
                earlier = self._earlier.get(row)
                row = earlier if earlier is not None and earlier < row else None

    def ids(self, rows: np.ndarray) -> list[Any]:
        return [self._ids[row] for row in rows.tolist()]

    def notes(self, rows: np.ndarray) -> list[bytes | None]:
        return [self._notes[row] for row in rows.tolist()]


# --- ids -------------------------------------------------------------------------------------------------------------


def checked_id(value: Any) -> Any:
    """An id as it is kept: NumPy's numbers and strings as Python's own."""
    if isinstance(value, (np.integer, np.str_)):
        value = value.item()
    if isinstance(value, bool) or value is None:
        raise ValueError(f"id {value!r}: ids are whole numbers, strings or other hashable objects")
    if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError(f"id {value}: whole numbers must fit into 64 bits")
    try:
        hash(value)
    except TypeError:
        raise ValueError(f"id {value!r} is a {type(value).__name__}, which cannot be hashed") from None
    return value


def checked_ids(ids: Iterable[Any], count: int) -> list[Any]:
    """One id for each of `count` graphs, all different."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        ids = [ids]
    checked = [checked_id(value) for value in ids]
    if len(checked) != count:
        raise ValueError(f"{len(checked)} ids for {count} graphs: give one id per graph")
    if len(set(checked)) < count:
        seen: set[Any] = set()
        twice = next(value for value in checked if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise ValueError(f"id {twice!r} is given twice: ids of an index are all different")
    return checked


# --- metadata --------------------------------------------------------------------------------------------------------


def checked_metadata(metadata: Any, count: int) -> list[Any] | None:
    """One value for each of `count` graphs: from a sequence of them, or from columns by name.

    >>> checked_metadata({"class": ["a", "b"], "mass": [1.0, 2.0]}, 2)
    [{'class': 'a', 'mass': 1.0}, {'class': 'b', 'mass': 2.0}]
    """
    if metadata is None:
        return None
    if isinstance(metadata, Mapping):
        for name, column in metadata.items():
            if isinstance(column, (str, bytes)) or not hasattr(column, "__len__") or len(column) != count:
                raise ValueError(f"metadata {name!r} must be a column with one value for each of the {count} graphs")
        return [{str(name): column[i] for name, column in metadata.items()} for i in range(count)]
    if isinstance(metadata, (str, bytes)) or not hasattr(metadata, "__len__") or len(metadata) != count:
        raise ValueError(f"metadata must have one value for each of the {count} graphs, or be columns by name")
    return list(metadata)


def encode(values: Sequence[Any]) -> list[bytes | None]:
    """One value per row (class, name, number, or a dictionary of such) as JSON."""
    texts: list[bytes | None] = []
    for i, value in enumerate(values):
        try:
            texts.append(None if value is None else json.dumps(value, default=_plain, allow_nan=False).encode())
        except (TypeError, ValueError) as error:
            raise ValueError(f"metadata of graph {i} cannot be written as JSON: {error}") from None
    return texts


def decode(texts: Sequence[bytes | None]) -> list[Any]:
    """The values; None where nothing is known."""
    try:
        return [None if text is None else json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        raise ValueError("metadata of the index are not JSON: it is damaged") from None


def _plain(value: Any) -> Any:
    """What JSON can hold for NumPy's numbers and arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not a number, a string, a list or a dictionary")
