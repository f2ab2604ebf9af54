"""Ids of graphs as arrays: numbers and strings side by side, found by hash without a dictionary of all of them.

In arrays, ids are `numbers` (int64 [n]), or `text` (UTF-8, uint8) with `ends` (int64 [n]), or both with `is_text`
(uint8 [n]) where they are mixed. `hashes` (uint64 [n], sorted) and `hash_rows` (int32 [n]) lead from an id to its row.
Ids of another hashable kind are kept as they are, for an index that stays in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._core.hashing import mix

ARRAYS = ("numbers", "text", "ends", "is_text", "hashes", "hash_rows")


def checked_id(value: Any) -> Any:
    """An id as it is kept: NumPy's numbers and strings as Python's own."""
    if isinstance(value, (np.integer, np.str_)):
        value = value.item()
    if isinstance(value, bool) or value is None:
        raise ValueError(f"id {value!r}: ids are whole numbers, strings or other hashable objects")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"id {value}: whole numbers must fit into 64 bits")
    try:
        hash(value)
    except TypeError:
        raise ValueError(f"id {value!r} is a {type(value).__name__}, which cannot be hashed") from None
    return value


def id_hashes(ids: Sequence[Any]) -> np.ndarray:
    """64-bit hashes [n] of checked ids; numbers and strings have the same in every process."""
    if all(type(value) is int for value in ids):
        return mix(np.array(ids, dtype=np.int64).view(np.uint64))
    found = np.empty(len(ids), np.uint64)
    for i, value in enumerate(ids):
        if isinstance(value, int):
            found[i] = value & 0xFFFFFFFFFFFFFFFF
        elif isinstance(value, str):
            data = value.encode("utf-8", "surrogatepass")
            found[i] = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
        else:
            found[i] = hash(value) & 0xFFFFFFFFFFFFFFFF
    return mix(found)


def hash_table(hashes: np.ndarray) -> dict[str, np.ndarray]:
    """The two arrays that lead from a hash to its rows."""
    order = np.argsort(hashes, kind="stable")
    return {"hashes": hashes[order], "hash_rows": order.astype(np.int32)}


class Ids:
    """Ids of the rows of a segment.

    Parameters
    ----------
    arrays : dict of arrays
        As in the docstring of this module.
    objects : list, optional
        All ids, where some are neither numbers nor strings.
    """

    def __init__(self, arrays: dict[str, np.ndarray], objects: list[Any] | None = None) -> None:
        self.arrays = arrays
        self.objects = objects

    @classmethod
    def of(cls, ids: Sequence[Any]) -> Ids:
        """From checked ids, all different.

        >>> Ids.of(["water", 7]).at(np.array([1, 0]))
        [7, 'water']
        """
        arrays = hash_table(id_hashes(ids))
        kinds = {type(value) for value in ids}
        if not kinds <= {int, str}:
            return cls(arrays, list(ids))
        if kinds <= {int}:
            return cls(arrays | {"numbers": np.array(ids, dtype=np.int64)})
        texts = [value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b"" for value in ids]
        arrays["text"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays["ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        if int in kinds:
            arrays["numbers"] = np.array([value if isinstance(value, int) else 0 for value in ids], dtype=np.int64)
            arrays["is_text"] = np.array([isinstance(value, str) for value in ids], dtype=np.uint8)
        return cls(arrays)

    def __len__(self) -> int:
        return len(self.arrays["hashes"])

    @property
    def all_numbers(self) -> bool:
        """Whether every id is a whole number."""
        return self.objects is None and "text" not in self.arrays

    def at(self, rows: np.ndarray) -> list[Any]:
        """The ids of these rows."""
        if self.objects is not None:
            return [self.objects[row] for row in rows]
        if "text" not in self.arrays:
            return self.arrays["numbers"][rows].tolist()
        text, ends = self.arrays["text"], self.arrays["ends"]
        is_text = self.arrays.get("is_text")
        found: list[Any] = []
        for row in rows:
            if is_text is not None and not is_text[row]:
                found.append(int(self.arrays["numbers"][row]))
            else:
                start = ends[row - 1] if row else 0
                found.append(text[start : ends[row]].tobytes().decode("utf-8", "surrogatepass"))
        return found

    def find(self, ids: Sequence[Any], hashes: np.ndarray, dead: np.ndarray | None) -> np.ndarray:
        """The row of each id [m], -1 for those that are not there; dead: rows [n] that do not count."""
        known = self.arrays["hashes"]
        found = np.full(len(ids), -1, np.int64)
        first = np.searchsorted(known, hashes, side="left")
        last = np.searchsorted(known, hashes, side="right")
        for i in np.flatnonzero(first < last).tolist():  # several rows: an id that was replaced, or equal hashes
            rows = np.asarray(self.arrays["hash_rows"][first[i] : last[i]], np.int64)
            alive = rows if dead is None else rows[~dead[rows]]
            for row, value in zip(alive, self.at(alive), strict=True):
                if value == ids[i] and isinstance(value, str) == isinstance(ids[i], str):
                    found[i] = row
        return found

    def without_objects(self) -> None:
        """A `ValueError` if some ids cannot be written to files."""
        for value in self.objects or ():
            if not isinstance(value, (int, str)):
                raise ValueError(  # noqa: TRY004
                    f"id {value!r} is a {type(value).__name__}: ids on disk are whole numbers and strings; others stay "
                    "in memory"
                )


def checked_ids(ids: Iterable[Any], count: int) -> list[Any]:
    """One id for each of `count` graphs, all different."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        ids = [ids]
    found = [checked_id(value) for value in ids]
    if len(found) != count:
        raise ValueError(f"{len(found)} ids for {count} graphs: give one id per graph")
    if len(set(found)) < count:
        seen: set[Any] = set()
        twice = next(value for value in found if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise ValueError(f"id {twice!r} is given twice: ids of an index are all different")
    return found
