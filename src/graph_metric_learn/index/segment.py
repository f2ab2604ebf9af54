"""A segment: consecutive rows of an index as named arrays, in memory or mapped from a file. Segments never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._core.ragged import concatenated_ranges
from . import metadata
from .ids import Ids, hash_table
from .kernels import HEAD

# Arrays by how they belong to rows. Ragged ones have some entries per row; the array named behind says where each ends.
PLAIN = ("heads", "middles", "vectors", "numbers", "is_text")
RAGGED = {"text": "ends", "notes": "note_ends", "curves": "curve_ends", "steps": "curve_ends"}
DERIVED = ("hashes", "hash_rows")
_FANOUT = 8  # segments that are merged
_LARGEST_MERGED = 4  # segments of this tier, 4096 rows and more, are left as they are
NO_DEAD = np.zeros(0, np.bool_)


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows of an index.

    Attributes
    ----------
    arrays : dict of arrays
        heads [n, 16], middles [n, m] and vectors [n, d], float32 (see `kernels`); ids (see `ids`), metadata (see
        `metadata`); for metrics that compare curves, curves [S, M, c] and, where steps are not equal, steps [S, M].
    dead : ndarray [n] of bool, or [0]
        Rows that were removed; empty if none was.
    objects : list or None
        Ids that are neither numbers nor strings.
    file : str or None
        The name of the file that the arrays are mapped from.
    """

    arrays: dict[str, np.ndarray]
    dead: np.ndarray = field(default_factory=lambda: NO_DEAD)
    objects: list[Any] | None = None
    file: str | None = None

    @classmethod
    def of(
        cls,
        coordinates: np.ndarray,
        vectors: np.ndarray,
        ids: Sequence[Any],
        notes: Sequence[Any] | None = None,
        curves: dict[str, np.ndarray] | None = None,
    ) -> Segment:
        """From coordinates along the axes, vectors, checked ids, metadata, and the arrays of curves."""
        encoded = Ids.of(ids)
        arrays = {**coordinate_arrays(coordinates), "vectors": vectors, **encoded.arrays, **(curves or {})}
        if notes is not None and any(note is not None for note in notes):
            arrays |= metadata.encode(notes)
        return cls(arrays, objects=encoded.objects)

    def __len__(self) -> int:
        return len(self.arrays["heads"])

    @property
    def alive(self) -> int:
        """How many rows count."""
        return len(self) - int(self.dead.sum())

    @property
    def tier(self) -> int:
        """The size by powers of 8: segments of the same tier are merged."""
        return tier_of(len(self))

    @property
    def ids(self) -> Ids:
        """Their ids."""
        return Ids(self.arrays, self.objects)

    def metadata(self, rows: np.ndarray) -> list[Any]:
        """What is known about these rows."""
        return metadata.decode(self.arrays, rows)

    def find(self, ids: Sequence[Any], hashes: np.ndarray) -> np.ndarray:
        """The row of each id, -1 for those that are not there."""
        return self.ids.find(ids, hashes, self.dead if len(self.dead) else None)

    def without(self, rows: np.ndarray) -> Segment:
        """The same segment with these rows removed: only the mask is new."""
        dead = self.dead.copy() if len(self.dead) else np.zeros(len(self), np.bool_)
        dead[rows] = True
        return replace(self, dead=dead)

    def taken(self, rows: np.ndarray) -> Segment:
        """A copy of these rows, in their order, in memory."""
        arrays = {name: self.arrays[name][rows] for name in PLAIN if name in self.arrays}
        for name, ends in RAGGED.items():
            if name in self.arrays:
                all_ends = self.arrays[ends]
                starts = np.concatenate([[0], all_ends[:-1]])[rows]
                lengths = all_ends[rows] - starts
                arrays[name] = self.arrays[name][concatenated_ranges(starts, lengths)]
                arrays[ends] = np.cumsum(lengths, dtype=np.int64)
        dead = self.dead[rows] if len(self.dead) else NO_DEAD
        objects = None if self.objects is None else [self.objects[row] for row in rows]
        return Segment(arrays | hash_table(self._row_hashes()[rows]), dead if dead.any() else NO_DEAD, objects)

    def _row_hashes(self) -> np.ndarray:
        hashes = np.empty(len(self), np.uint64)
        hashes[self.arrays["hash_rows"]] = self.arrays["hashes"]
        return hashes

    def _with_all(self, names: set[str]) -> dict[str, np.ndarray]:
        """The arrays, with those that other segments have and this one does not."""
        n, given = len(self), self.arrays
        missing: dict[str, Callable[[], np.ndarray]] = {
            "numbers": lambda: np.zeros(n, np.int64),
            "is_text": lambda: np.full(n, "text" in given, np.uint8),
            "text": lambda: np.zeros(0, np.uint8),
            "ends": lambda: np.zeros(n, np.int64),
            "notes": lambda: np.zeros(0, np.uint8),
            "note_ends": lambda: np.zeros(n, np.int64),
        }
        return {name: given[name] if name in given else missing[name]() for name in names}

    @staticmethod
    def merged(parts: Sequence[Segment]) -> Segment:
        """All rows of the parts, one part after the other, in memory.

        >>> rows = np.zeros((1, 16), np.float32), np.zeros((1, 3), np.float32)
        >>> both = Segment.merged([Segment.of(*rows, ["water"]), Segment.of(*rows, [7], [{"mass": 1}])])
        >>> both.ids.at(np.arange(2)), both.metadata(np.arange(2))
        (['water', 7], [None, {'mass': 1}])
        """
        if len(parts) == 1:
            return parts[0]
        names = {name for part in parts for name in part.arrays} - set(DERIVED)
        has_text = any("text" in part.arrays for part in parts)
        if has_text and "numbers" in names:
            names |= {"is_text"}
        filled = [part._with_all(names) for part in parts]
        arrays = {}
        for name in names - set(RAGGED.values()):
            arrays[name] = np.concatenate([one[name] for one in filled])
        for name, ends in RAGGED.items():
            if name in names and ends not in arrays:
                shifts = np.cumsum([0, *(len(one[name]) for one in filled[:-1])])
                arrays[ends] = np.concatenate([one[ends] + shift for one, shift in zip(filled, shifts, strict=True)])
        hashes = np.concatenate([part._row_hashes() for part in parts])
        dead = np.concatenate([part.dead if len(part.dead) else np.zeros(len(part), np.bool_) for part in parts])
        objects = None
        if any(part.objects is not None for part in parts):
            arrays = {
                name: array for name, array in arrays.items() if name not in ("numbers", "text", "ends", "is_text")
            }
            objects = [value for part in parts for value in part.ids.at(np.arange(len(part)))]
        return Segment(arrays | hash_table(hashes), dead if dead.any() else NO_DEAD, objects)


def coordinate_arrays(coordinates: np.ndarray) -> dict[str, np.ndarray]:
    """Coordinates along the axes as they are compared: first the heads, then the middles."""
    return {
        name: np.ascontiguousarray(part)
        for name, part in (("heads", coordinates[:, :HEAD]), ("middles", coordinates[:, HEAD:]))
    }


def merge_from(segments: Sequence[Segment]) -> int:
    """Where the segments begin that are to be merged into one with the last; the last itself if none is.

    Eight or more segments at the end that are not larger than the last become one, and so on with what they make. Sizes
    count by powers of 8 (`Segment.tier`), so a row is copied at most five times in all, and few segments are left.
    """
    start = len(segments) - 1
    while (tier := tier_of(sum(map(len, segments[start:])))) < _LARGEST_MERGED:
        first = start
        while first > 0 and segments[first - 1].tier <= tier:
            first -= 1
        if start - first + 1 < _FANOUT:
            break
        start = first
    return start


def tier_of(rows: int) -> int:
    """A size by powers of 8: 0 for less than 8 rows, 1 for less than 64, and so on."""
    return (max(rows, 1).bit_length() - 1) // 3
