"""Vectors with ids and metadata that can be searched, added, replaced and removed, in memory or in a folder.

A store has one state at a time, which never changes; a change makes another state and puts it in place of the first.
Searches in other threads go on with the state that they began with. In a folder, the change is on disk before that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .approximate import Approximate, vectors_at
from .axes import FEW, Axes
from .folder import IndexFolder, State
from .ids import checked_ids, id_hashes
from .segment import Segment, coordinate_arrays, merge_from

_COMPACT_ROWS = 2**18  # of the segments that compaction makes
_SAMPLE = 20_000  # rows that axes are computed from


class Store:
    """See the docstring of this module.

    Parameters
    ----------
    state : State
        What it holds.
    folder : IndexFolder, optional
        Where it is kept; in memory alone when None.
    read_only : bool
        Whether changes are refused.
    """

    def __init__(
        self, state: State | None = None, folder: IndexFolder | None = None, *, read_only: bool = False
    ) -> None:
        self.state = state or State()
        self.folder = folder
        self.read_only = read_only
        self._changing = threading.RLock()
        self._renumbered = 0  # how often rows got other numbers
        self._approximate: tuple[int, Approximate] | None = None

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False) -> Store:
        """The store in a folder, mapped into memory."""
        folder = IndexFolder(path)
        return cls(folder.read(), folder, read_only=read_only)

    def __len__(self) -> int:
        return len(self.state)

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(
        self,
        vectors: np.ndarray,
        ids: Sequence[Any] | None = None,
        notes: Sequence[Any] | None = None,
        curves: dict[str, np.ndarray] | None = None,
    ) -> list[Any]:
        """Adds vectors [n, d], float32; their ids, running numbers if None were given."""
        given: list[Any] = []

        def make(state: State) -> State:
            given[:] = (
                range(state.next_id, state.next_id + len(vectors)) if ids is None else checked_ids(ids, len(vectors))
            )
            known = np.flatnonzero(rows_of(state, given) >= 0)
            if len(known):
                raise ValueError(
                    f"id {given[known[0]]!r} is in the index already: update() replaces its graph, remove() removes it"
                )
            return appended(state, vectors, given, notes, curves)

        self._change(make)
        return given

    def update(
        self,
        vectors: np.ndarray,
        ids: Sequence[Any],
        notes: Sequence[Any] | None = None,
        curves: dict[str, np.ndarray] | None = None,
    ) -> None:
        """Replaces the vectors of known ids, and their metadata unless None is given."""

        def make(state: State) -> State:
            given = checked_ids(ids, len(vectors))
            rows = known_rows(state, given)
            kept = notes_at(state, rows) if notes is None else notes
            return appended(_without(state, rows), vectors, given, kept, curves)

        self._change(make)

    def remove(self, ids: Sequence[Any]) -> None:
        """Removes known ids; their rows stay on disk until `compact`."""
        self._change(lambda state: _without(state, known_rows(state, checked_ids(ids, _count(ids)))))

    def compact(self) -> None:
        """Writes all rows that count anew, without gaps, with axes computed anew."""
        self._change(lambda state: _compacted(state) if len(state) else State(next_id=state.next_id))
        self._renumbered += 1

    def _change(self, make: Callable[[State], State]) -> None:
        with self._changing:
            if self.read_only:
                raise ValueError("the index was opened for reading: load it with read_only=False to change it")
            if self.folder is not None and self.folder.lock():
                self.refresh()
            before = self.state
            after = make(before)
            if self.folder is None:
                self.state = replace(after, segments=tuple(after.segments))
                return
            try:
                self.state = self.folder.commit(before, after)
            except BaseException:
                self.folder.clean()
                self.state = self.folder.read(before)  # before the change or after it: what the manifest says
                raise

    def refresh(self) -> bool:
        """Sees what another process has written; whether there was something."""
        with self._changing:
            if self.folder is None or self.folder.is_current():
                return False
            metric = self.folder.manifest.metric
            state = self.folder.read(self.state)
            if self.folder.manifest.metric != metric:
                raise ValueError(f"{self.folder.path} was replaced by another index: load it again")
            self.state = state
            self._renumbered += 1
            return True

    def close(self) -> None:
        """Lets others change the folder."""
        if self.folder is not None:
            self.folder.unlock()

    # --- search ------------------------------------------------------------------------------------------------------

    def approximate(self, state: State) -> Approximate:
        """The approximate index of a state, made when it is first asked for and extended when rows were added."""
        assert state.axes is not None
        with self._changing:
            known = self._approximate
            if known is None or known[0] != self._renumbered:
                known = self._renumbered, Approximate(len(state.axes.centre))
            known[1].follow(state.segments, state.axes.coordinates)
            self._approximate = known
            return known[1]


def rows_of(state: State, ids: Sequence[Any]) -> np.ndarray:
    """The row of each id, numbered through all segments [n]; -1 for those that are not there."""
    hashes = id_hashes(ids)
    found, first = np.full(len(ids), -1, np.int64), 0
    for segment in state.segments:
        rows = segment.find(ids, hashes)
        found[rows >= 0] = rows[rows >= 0] + first
        first += len(segment)
    return found


def known_rows(state: State, ids: Sequence[Any]) -> np.ndarray:
    """The same for ids that must be there."""
    rows = rows_of(state, ids)
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        raise ValueError(f"id {ids[missing[0]]!r} is not in the index")
    return rows


def ids_at(state: State, rows: np.ndarray) -> list[Any]:
    """The ids of rows [n], in any order."""
    return _gathered(state, rows, lambda segment, own: segment.ids.at(own))


def notes_at(state: State, rows: np.ndarray) -> list[Any]:
    """The metadata of rows [n], in any order."""
    return _gathered(state, rows, lambda segment, own: segment.metadata(own))


def _gathered(state: State, rows: np.ndarray, get: Callable[[Segment, np.ndarray], list[Any]]) -> list[Any]:
    found: list[Any] = [None] * len(rows)
    first = 0
    for segment in state.segments:
        places = np.flatnonzero((rows >= first) & (rows < first + len(segment)))
        if len(places):
            for place, value in zip(places, get(segment, rows[places] - first), strict=True):
                found[place] = value
        first += len(segment)
    return found


def _count(ids: Any) -> int:
    return 1 if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__") else len(ids)


def appended(
    state: State,
    vectors: np.ndarray,
    ids: Sequence[Any],
    notes: Sequence[Any] | None,
    curves: dict[str, np.ndarray] | None,
) -> State:
    """The state with one more segment, merged with those before it where they have become many."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    axes, segments = state.axes, state.segments
    if axes is not None and vectors.shape[1] != len(axes.centre):
        raise ValueError(f"vectors of width {vectors.shape[1]}, those of the index have {len(axes.centre)}")
    total = len(vectors) + sum(map(len, segments))
    if axes is None:
        axes = Axes.first(vectors.shape[1])
    outgrown = axes.is_outgrown(total)
    if outgrown:
        some = [*_sample(segments, total), vectors[:: max(1, total // _SAMPLE)]]
        axes = Axes.fit(np.concatenate(some), total)
        segments = tuple(_turned(segment, axes) for segment in segments)
    segments = (*segments, Segment.of(axes.coordinates(vectors), vectors, ids, notes, curves))
    start = 0 if outgrown and total <= _SAMPLE else merge_from(segments)
    if start < len(segments) - 1:
        segments = (*segments[:start], Segment.merged(segments[start:]))
    numbers = [value for value in ids if isinstance(value, int)]
    return State(segments, axes, max([state.next_id, *(number + 1 for number in numbers)]))


def _sample(segments: Sequence[Segment], total: int) -> Iterator[np.ndarray]:
    step = max(1, total // _SAMPLE)
    yield from (segment.arrays["vectors"][::step] for segment in segments)


def _turned(segment: Segment, axes: Axes) -> Segment:
    """The same rows with heads along other axes."""
    return replace(
        segment, arrays={**segment.arrays, **coordinate_arrays(axes.coordinates(segment.arrays["vectors"]))}, file=None
    )


def _without(state: State, rows: np.ndarray) -> State:
    segments, first = [], 0
    for segment in state.segments:
        own = rows[(rows >= first) & (rows < first + len(segment))] - first
        segments.append(segment.without(own) if len(own) else segment)
        first += len(segment)
    return replace(state, segments=tuple(segments))


def _compacted(state: State) -> State:
    """The rows that count, in large segments; they are made one by one."""
    total = len(state)
    step = max(1, total // _SAMPLE)
    rows = np.flatnonzero(~np.concatenate([_dead(segment) for segment in state.segments]))
    axes = Axes.fit(vectors_at(state.segments, rows[::step]), total) if total >= 4 * FEW else state.axes
    assert axes is not None

    def segments() -> Iterator[Segment]:
        pending: list[Segment] = []
        for segment in state.segments:
            alive = np.flatnonzero(~_dead(segment))
            for lo in range(0, len(alive), _COMPACT_ROWS):
                pending.append(segment.taken(alive[lo : lo + _COMPACT_ROWS]))
                if sum(map(len, pending)) >= _COMPACT_ROWS:
                    yield _turned(Segment.merged(pending), axes)
                    pending = []
        if pending:
            yield _turned(Segment.merged(pending), axes)

    return State(segments(), axes, state.next_id)


def _dead(segment: Segment) -> np.ndarray:
    return segment.dead if len(segment.dead) else np.zeros(len(segment), np.bool_)
