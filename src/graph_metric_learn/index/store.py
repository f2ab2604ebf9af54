"""Vectors with ids and metadata that can be searched, added, replaced and removed, in memory or in a folder.

A store has one state at a time, which never changes; a change makes another state and puts it in place of the first.
Searches in other threads go on with the state that they began with. In a folder, the change is on disk before that.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .approximate import Approximate
from .approximate_file import FILE
from .catalogue import Catalogue, checked_id, encode
from .database import Database
from .folder import IndexFolder
from .rows import NO_ROWS, Axes, Batch, State, appended, batches_of, compacted_axes

_Values = Sequence[Any] | None  # one for each row
_Curves = dict[str, np.ndarray] | None


class Store:
    """See the docstring of this module. Ids that it is given are checked, see `checked_ids`.

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
        self, vectors: np.ndarray, ids: _Values = None, metadata: _Values = None, curves: _Curves = None
    ) -> Sequence[Any]:
        """Adds vectors [n, d], float32; their ids, running numbers if None were given."""
        with self._latest() as state:
            if ids is None:
                ids = list(range(state.next_id, state.next_id + len(vectors)))
                checked_id(max(ids, default=0))
            taken = np.flatnonzero(state.find(ids) >= 0)
            if len(taken):
                taken_id = f"id {ids[taken[0]]!r} is in the index already"
                raise ValueError(f"{taken_id}: update() replaces its graph, remove() removes it")
            self._put(state, NO_ROWS, vectors, ids, None if metadata is None else encode(metadata), curves)
        return ids

    def update(self, vectors: np.ndarray, ids: Sequence[Any], metadata: _Values = None, curves: _Curves = None) -> None:
        """Replaces the vectors [n, d] of known ids, and their metadata unless None is given."""
        with self._latest() as state:
            rows = state.rows_of(ids)
            notes = state.catalogue.notes(rows) if metadata is None else encode(metadata)
            self._put(state, rows, vectors, ids, notes, curves)

    def remove(self, ids: Sequence[Any]) -> None:
        """Removes known ids; their rows stay on disk until `compact`."""
        with self._latest() as state:
            self._change(state, state.rows_of(ids), None, state.axes)

    def compact(self) -> None:
        """Writes all rows that count anew, without gaps, with axes computed anew."""
        with self._latest() as state:
            self._change(state, NO_ROWS, None, compacted_axes(state), anew=True)

    @contextmanager
    def _latest(self) -> Iterator[State]:
        """The state that is to be changed, which nobody else changes meanwhile."""
        with self._changing:
            if self.read_only:
                raise ValueError("the index was opened for reading: load it with read_only=False to change it")
            if self.folder is not None and self.folder.lock():
                self.refresh()
            yield self.state

    def _put(
        self, state: State, removed: np.ndarray, vectors: np.ndarray, ids: _Values, notes: _Values, curves: _Curves
    ) -> None:
        """Adds rows, in place of those that are removed."""
        batch = Batch(np.ascontiguousarray(vectors, dtype=np.float32), ids, notes, curves or {})
        self._change(state, removed, batch, state.next_axes(batch.vectors))

    def _change(
        self, state: State, removed: np.ndarray, batch: Batch | None, axes: Axes | None, *, anew: bool = False
    ) -> None:
        """Removes and adds rows, or writes all of them `anew`: on disk first, where there is a folder."""
        kept = state.without(removed)
        if self.folder is None:
            if anew:
                rows, kept = batches_of(kept), State(axes=axes, next_id=state.next_id)
                for one in rows:
                    kept = appended(kept, one, axes)
            self.state = kept if batch is None else appended(kept, batch, axes)
            return
        try:
            if anew or axes is not state.axes:
                batches = chain(batches_of(kept), [] if batch is None else [batch])
                self.state = self.folder.renew(batches, axes, state.next_id)
            else:
                self.state = self.folder.append(state, removed, batch)
        except BaseException:
            self.folder.clean()
            self.state = self.folder.read()  # before the change or after it: what is on disk
            raise

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
        """The approximate index of a state, read or made when first asked for, and extended when rows were added."""
        assert state.axes is not None
        with self._changing:
            if self._approximate is None or self._approximate[0] is not state.catalogue:  # rows have other numbers
                made = Approximate(len(state.axes.centre))
                if isinstance(state.catalogue, Database):
                    made.read(state.catalogue.folder / FILE, state)
                self._approximate = state.catalogue, made
            self._approximate[1].follow(state)
            return self._approximate[1]

    def save_approximate(self) -> None:
        """Writes the approximate index of the latest state into its build."""
        if self.folder is None:
            raise ValueError("an approximate index is saved beside the files of an index: save and load it first")
        with self._latest() as state:
            if state.axes is None:
                raise ValueError("the index is empty: there is nothing to search")
            assert isinstance(state.catalogue, Database)
            self.approximate(state).write(state.catalogue.folder / FILE)
