"""All rows of an index at one moment: vectors and their coordinates, ids and metadata, and which of them count.

Coordinates are those along the principal axes, in order of variance, so that a few of them tell most rows apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._core.ragged import GrowingArray, concatenated_ranges
from ..linalg.principal_axes import principal_axes
from .catalogue import LARGEST, Catalogue, MemoryCatalogue, decode
from .kernels import COARSE, FINE

NO_ROWS = np.zeros(0, np.int64)
_NO_DEAD = np.zeros(0, np.bool_)
FEW = 16  # rows are too few to compute axes from; four times as many are enough
_SAMPLE = 20_000  # rows that axes are computed from
_BLOCK = 2**22  # numbers that are turned at a time
_BATCH_BYTES = 2**26  # of the vectors that are read at a time while all are written anew


@dataclass(frozen=True, eq=False)
class Axes:
    """The directions in which vectors vary most, about a centre.

    The distance by these coordinates, (v − centre) · directions, is never more than that of the vectors, but for
    rounding.

    Attributes
    ----------
    centre : ndarray [d], float64
    directions : ndarray [d, min(d, 48)], float64
        Orthonormal columns, the one of largest variance first.
    fitted_to : int
        How many rows the index had when they were computed.
    """

    centre: np.ndarray
    directions: np.ndarray
    fitted_to: int

    @classmethod
    def first(cls, width: int) -> Axes:
        """Axes of an index with too few rows to compute any: the first coordinates."""
        return cls(np.zeros(width), np.eye(width, min(width, COARSE + FINE)), FEW)

    def is_outgrown(self, rows: int) -> bool:
        """Whether there are so many more rows now that axes should be computed anew."""
        return self.fitted_to < _SAMPLE and rows >= 4 * self.fitted_to

    @classmethod
    def fit(cls, vectors: np.ndarray, rows: int | None = None) -> Axes:
        """Axes of vectors [n, d], of a sample if they are many; rows: how many the index has in all."""
        some = vectors[:: max(1, -(-len(vectors) // _SAMPLE))].astype(np.float64)
        centre = some.mean(0)
        some -= centre
        _, axes = principal_axes(some.T @ some)
        return cls(centre, np.ascontiguousarray(axes[:, : COARSE + FINE]), len(vectors) if rows is None else rows)

    def coordinates(self, vectors: np.ndarray) -> np.ndarray:
        """Coordinates along the axes [n, 16 + m], float32, m up to 32; zeros where vectors have fewer than 16.

        >>> vectors = np.random.default_rng(0).normal(size=(100, 20)).astype(np.float32)
        >>> some = Axes.fit(vectors).coordinates(vectors)
        >>> bool(np.linalg.norm(some[0] - some[1]) <= np.linalg.norm(vectors[0] - vectors[1]))
        True
        """
        coordinates = np.zeros((len(vectors), max(self.directions.shape[1], COARSE)), np.float32)
        step = max(1, _BLOCK // vectors.shape[1])
        for lo in range(0, len(vectors), step):
            turned = (vectors[lo : lo + step] - self.centre) @ self.directions
            coordinates[lo : lo + step, : turned.shape[1]] = turned
        return coordinates

    def arrays(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """Coordinates as they are compared: the first 16 of them, and then the others."""
        coordinates = self.coordinates(vectors)
        parts = {"coarse": coordinates[:, :COARSE], "fine": coordinates[:, COARSE:]}
        return {name: np.ascontiguousarray(part) for name, part in parts.items()}


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are to be added.

    Attributes
    ----------
    vectors : ndarray [m, d], float32
    ids : list, optional
        Checked ids, all different; without ids, rows are known by their numbers alone.
    notes : list, optional
        Metadata as JSON.
    curves : dict of arrays
        Of metrics that compare curves: curves [S, M, c], curve_ends [m] and, where steps are not equal, steps [S, M].
    """

    vectors: np.ndarray
    ids: Sequence[Any] | None = None
    notes: Sequence[bytes | None] | None = None
    curves: dict[str, np.ndarray] = field(default_factory=dict)

    def arrays(self, axes: Axes, curve_rows: int) -> dict[str, np.ndarray]:
        """All arrays of these rows, to be put behind others that have so many rows of curves."""
        arrays = {**axes.arrays(self.vectors), "vectors": self.vectors, **self.curves}
        if "curve_ends" in arrays:
            arrays["curve_ends"] = arrays["curve_ends"] + curve_rows
        return arrays


@dataclass(frozen=True, eq=False)
class State:
    """Rows of an index. States never change: a change makes another one.

    Attributes
    ----------
    arrays : dict of arrays
        coarse [n, 16], fine [n, m] and vectors [n, d], float32 (see `kernels`); curves as in `Batch`. Empty before the
        first row.
    dead : ndarray [n] of bool, or [0]
        Rows that were removed; empty if none was.
    axes : Axes or None
    next_id : int
        The number that the next graph without an id gets.
    only_numbers : bool
        Whether all ids are whole numbers.
    catalogue : Catalogue
        Ids and metadata, perhaps of later rows, too. Another one means that rows have other numbers.
    buffers : dict of GrowingArray
        What the arrays are the beginnings of, in memory.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    dead: np.ndarray = field(default_factory=lambda: _NO_DEAD)
    axes: Axes | None = None
    next_id: int = 0
    only_numbers: bool = True
    catalogue: Catalogue = field(default_factory=MemoryCatalogue)
    buffers: dict[str, GrowingArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.count - int(np.count_nonzero(self.dead))

    @property
    def count(self) -> int:
        """The number of rows, those that were removed included."""
        return len(self.arrays["vectors"]) if self.arrays else 0

    @property
    def alive(self) -> np.ndarray:
        """The rows that count, ascending [n]."""
        return np.flatnonzero(~self.dead) if len(self.dead) else np.arange(self.count)

    def without(self, rows: np.ndarray) -> State:
        """The same with these rows removed: only the mask is new."""
        if not len(rows):
            return self
        dead = self.dead.copy() if len(self.dead) else np.zeros(self.count, np.bool_)
        dead[rows] = True
        return replace(self, dead=dead)

    def dead_among(self, count: int) -> np.ndarray:
        """`dead` where there are more rows."""
        return np.concatenate([self.dead, np.zeros(count - len(self.dead), np.bool_)]) if len(self.dead) else self.dead

    # --- ids and metadata --------------------------------------------------------------------------------------------

    def find(self, ids: Sequence[Any]) -> np.ndarray:
        """The row of each id [n]; -1 for those that are not there."""
        rows = np.full(len(ids), -1, np.int64)
        for i, row in self.catalogue.candidates(ids, self.count):
            if not (len(self.dead) and self.dead[row]):
                rows[i] = row
        return rows

    def rows_of(self, ids: Sequence[Any]) -> np.ndarray:
        """The same for ids that must be there."""
        rows = self.find(ids)
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            raise ValueError(f"id {ids[missing[0]]!r} is not in the index")
        return rows

    def metadata(self, rows: np.ndarray) -> list[Any]:
        """What is known about these rows [n], in any order."""
        return decode(self.catalogue.notes(rows))

    # --- growing -----------------------------------------------------------------------------------------------------

    def next_axes(self, vectors: np.ndarray) -> Axes:
        """Axes for these rows and the new ones: those that are there unless there are many more rows now."""
        if self.axes is not None and vectors.shape[1] != len(self.axes.centre):
            raise ValueError(f"vectors of width {vectors.shape[1]}, those of the index have {len(self.axes.centre)}")
        axes = Axes.first(vectors.shape[1]) if self.axes is None else self.axes
        total = self.count + len(vectors)
        if not axes.is_outgrown(total):
            return axes
        step = max(1, total // _SAMPLE)
        parts = [self.arrays["vectors"][::step]] if self.arrays else []
        return Axes.fit(np.concatenate([*parts, vectors[::step]]), total)


def numbering(next_id: int, only_numbers: bool, ids: Sequence[Any] | None) -> tuple[int, bool]:
    """`next_id` and `only_numbers` of a state when graphs with these ids have been added."""
    numbers = [value for value in ids or () if isinstance(value, int)]
    return max(next_id, min(max(numbers, default=-1) + 1, LARGEST)), only_numbers and len(numbers) == len(ids or ())


def appended(state: State, batch: Batch, axes: Axes | None = None) -> State:
    """The state with more rows, in memory; vectors of the first are taken as they are, not copied.

    >>> state = appended(State(), Batch(np.zeros((2, 3), np.float32), ["water", 7]))
    >>> state.find([7, "7"]).tolist(), state.without(np.array([1])).find([7]).tolist()
    ([1, -1], [-1])
    """
    axes = state.next_axes(batch.vectors) if axes is None else axes
    buffers = dict(state.buffers)
    if axes is not state.axes and state.arrays:
        buffers |= {name: GrowingArray(array) for name, array in axes.arrays(state.arrays["vectors"]).items()}
    for name, array in batch.arrays(axes, len(state.arrays.get("curves", ()))).items():
        buffers[name] = buffers[name].grown(array) if name in buffers else GrowingArray(array)
    next_id, only_numbers = numbering(state.next_id, state.only_numbers, batch.ids)
    if batch.ids is not None:
        assert isinstance(state.catalogue, MemoryCatalogue)
        state.catalogue.append(state.count, batch.ids, batch.notes)
    arrays = {name: buffer.rows for name, buffer in buffers.items()}
    dead = state.dead_among(len(arrays["vectors"]))
    return State(arrays, dead, axes, next_id, only_numbers, state.catalogue, buffers)


def compacted_axes(state: State) -> Axes | None:
    """Axes computed from the rows that count; None where there are none."""
    rows = state.alive
    if len(rows) < 4 * FEW:
        return state.axes if len(rows) else None
    return Axes.fit(state.arrays["vectors"][rows[:: max(1, len(rows) // _SAMPLE)]], len(rows))


def batches_of(state: State) -> Iterator[Batch]:
    """All rows that count, in order, some at a time."""
    rows = state.alive
    if not len(rows):
        return
    step = max(1, _BATCH_BYTES // state.arrays["vectors"][:1].nbytes)
    for lo in range(0, len(rows), step):
        some = rows[lo : lo + step]
        ids, notes = state.catalogue.ids(some), state.catalogue.notes(some)
        yield Batch(state.arrays["vectors"][some], ids, notes, curve_arrays_at(state, some))


def curve_arrays_at(state: State, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of the curves of these rows, in their order; none where the index holds no curves."""
    if "curves" not in state.arrays:
        return {}
    ends = state.arrays["curve_ends"]
    starts = np.where(rows > 0, ends[rows - 1], 0)
    lengths = ends[rows] - starts
    entries = concatenated_ranges(starts, lengths)
    arrays = {name: array[entries] for name, array in state.arrays.items() if name in ("curves", "steps")}
    return {**arrays, "curve_ends": np.cumsum(lengths, dtype=np.int64)}
