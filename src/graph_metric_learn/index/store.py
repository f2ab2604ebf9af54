"""Vectors with ids and metadata that can be searched, added, replaced and removed, in memory or in a folder.

A store has one state at a time, which never changes; a change makes another state and puts it in place of the first.
Searches in other threads go on with the state that they began with. In a folder, the change is on disk before that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .approximate import Approximate
from .axes import Axes
from .catalogue import Catalogue, MemoryCatalogue, checked_id, checked_ids, encode
from .folder import IndexFolder
from .rows import NO_ROWS, Batch, State, appended, batches_of, compacted_axes

_Curves = dict[str, np.ndarray]


@dataclass(frozen=True)
class Change:
    """Rows that are removed, rows that are added, and the axes afterwards; `anew`: all rows are written anew."""

    removed: np.ndarray
    batch: Batch | None
    axes: Axes | None
    anew: bool = False


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
        self.state = State() if state is None else state
        self.folder = folder
        self.read_only = read_only
        self._changing = threading.RLock()
        self._approximate: tuple[Catalogue, Approximate] | None = None

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
        metadata: Sequence[Any] | None = None,
        curves: _Curves | None = None,
    ) -> list[Any]:
        """Adds vectors [n, d], float32; their ids, running numbers if None were given."""
        new_ids: list[Any] = []

        def plan(state: State) -> Change:
            new_ids[:] = checked_ids(ids, len(vectors)) if ids is not None else _running(state, len(vectors))
            taken = np.flatnonzero(state.find(new_ids) >= 0)
            if len(taken):
                first = new_ids[taken[0]]
                raise ValueError(
                    f"id {first!r} is in the index already: update() replaces its graph, remove() removes it"
                )
            return _with_rows(state, NO_ROWS, vectors, new_ids, None if metadata is None else encode(metadata), curves)

        self._change(plan)
        return new_ids

    def update(
        self,
        vectors: np.ndarray,
        ids: Sequence[Any],
        metadata: Sequence[Any] | None = None,
        curves: _Curves | None = None,
    ) -> None:
        """Replaces the vectors [n, d] of known ids, and their metadata unless None is given."""

        def plan(state: State) -> Change:
            checked = checked_ids(ids, len(vectors))
            rows = state.rows_of(checked)
            notes = state.catalogue.notes(rows) if metadata is None else encode(metadata)
            return _with_rows(state, rows, vectors, checked, notes, curves)

        self._change(plan)

    def remove(self, ids: Sequence[Any]) -> None:
        """Removes known ids; their rows stay on disk until `compact`."""
        count = 1 if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__") else len(ids)
        self._change(lambda state: Change(state.rows_of(checked_ids(ids, count)), None, state.axes))

    def compact(self) -> None:
        """Writes all rows that count anew, without gaps, with axes computed anew."""
        self._change(lambda state: Change(NO_ROWS, None, compacted_axes(state), anew=True))

    def _change(self, plan: Callable[[State], Change]) -> None:
        with self._changing:
            if self.read_only:
                raise ValueError("the index was opened for reading: load it with read_only=False to change it")
            if self.folder is not None and self.folder.lock():
                self.refresh()
            change = plan(self.state)
            if self.folder is None:
                self.state = _changed(self.state, change)
                return
            try:
                self.state = self._written(self.folder, change)
            except BaseException:
                self.folder.clean()
                self.state = self.folder.read()  # before the change or after it: what is on disk
                raise

    def _written(self, folder: IndexFolder, change: Change) -> State:
        """The state after a change that is on disk."""
        if not change.anew and change.axes is self.state.axes:
            return folder.append(self.state, change.removed, change.batch)
        kept = batches_of(self.state.without(change.removed))
        batches = kept if change.batch is None else chain(kept, [change.batch])
        return folder.renew(batches, change.axes, self.state.next_id)

    def refresh(self) -> bool:
        """Sees what another process has written; whether there was something."""
        with self._changing:
            if self.folder is None or self.folder.is_current():
                return False
            self.state = self.folder.read()
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
            if self._approximate is None or self._approximate[0] is not state.catalogue:  # rows have other numbers
                self._approximate = state.catalogue, Approximate(len(state.axes.centre))
            self._approximate[1].follow(state)
            return self._approximate[1]


def _with_rows(
    state: State,
    removed: np.ndarray,
    vectors: np.ndarray,
    ids: list[Any],
    notes: Sequence[bytes | None] | None,
    curves: _Curves | None,
) -> Change:
    """Rows in place of others, or new ones."""
    batch = Batch(np.ascontiguousarray(vectors, dtype=np.float32), ids, notes, curves or {})
    return Change(removed, batch, state.next_axes(batch.vectors))


def _changed(state: State, change: Change) -> State:
    """The state after a change, in memory."""
    if change.anew:
        new = State(axes=change.axes, next_id=state.next_id, catalogue=MemoryCatalogue())
        for batch in batches_of(state):
            new = appended(new, batch, change.axes)
        return new
    state = state.without(change.removed)
    return state if change.batch is None else appended(state, change.batch, change.axes)


def _running(state: State, count: int) -> Iterator[int]:
    """Running numbers for graphs without ids."""
    if count:
        checked_id(state.next_id + count - 1)
    return iter(range(state.next_id, state.next_id + count))
