"""Finished rows of a distance matrix on disk, with a key that says for which graphs and parameters they hold."""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graph_metric_learn._core.files import new_file
from graph_metric_learn.graphs import Graphs

from .base import System

SECONDS_BETWEEN_WRITES = 30.0  # a crash loses no more work than this


def fingerprint(system: System, graphs: Graphs) -> str:
    """A hash of the baseline's name and parameters and of the graphs' sizes, edges, features and edge data.

    edges=False is left out: files that were written before there was this option hold for it.
    """
    params = [(name, value) for name, value in sorted(system.params.items()) if (name, value) != ("edges", False)]
    digest = hashlib.sha256(f"{system.name} {params!r}".encode())
    data = graphs.edge_data
    edge_arrays = () if data is None else (data.ends, data.labels, data.x, data.weights, np.array(data.directed))
    for array in (graphs.sizes, graphs.edges, graphs.x, *edge_arrays):
        if array is not None:
            digest.update(f"{array.shape} {array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """The upper triangle of a distance matrix of n graphs while it is computed, in a .npz file or in memory.

    A file that is damaged or has another key, see :func:`fingerprint`, is ignored and replaced.
    """

    def __init__(self, path: str | Path | None, key: str, n: int) -> None:
        self._path, self._key = None if path is None else Path(path), key
        self._unsaved, self._written = False, time.monotonic()
        self.upper: np.ndarray  # distances of each graph to later ones, zeros elsewhere [n, n]
        self.done: np.ndarray  # which rows are finished [n]
        self.upper, self.done = self._load(n) or (np.zeros((n, n)), np.zeros(n, dtype=bool))

    def _load(self, n: int) -> tuple[np.ndarray, np.ndarray] | None:
        """`upper` and `done` from the file; None if it does not hold them for this key."""
        if self._path is None or not self._path.is_file():
            return None
        try:
            with np.load(self._path, allow_pickle=False) as stored:
                if str(stored["key"]) != self._key:
                    return None
                upper, done = stored["upper"], stored["done"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return (upper, done) if upper.shape == (n, n) and done.shape == (n,) else None

    def finish(self, rows: Sequence[int]) -> None:
        """Marks rows as done; saves if that was last done more than `SECONDS_BETWEEN_WRITES` ago."""
        self.done[list(rows)] = True
        self._unsaved = True
        if time.monotonic() - self._written > SECONDS_BETWEEN_WRITES:
            self.save()

    def save(self) -> None:
        """Writes the file if a row was finished since the last time, atomically."""
        if self._path is None or not self._unsaved:
            return
        with new_file(self._path, overwrite=True) as temporary, temporary.open("wb") as file:
            np.savez(file, key=np.array(self._key), upper=self.upper, done=self.done)
        self._unsaved, self._written = False, time.monotonic()
