"""Finished rows of a distance matrix on disk, and how to tell whether they belong to the matrix at hand."""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._core.files import new_file
from ..graphs import Graphs
from .base import System

SECONDS_BETWEEN_WRITES = 30.0


def fingerprint(system: System, graphs: Graphs) -> str:
    """A hash of the system's name and parameters and of everything it may read of the graphs."""
    digest = hashlib.sha256(f"{system.name} {sorted(system.params.items())!r}".encode())
    for array in (graphs.sizes, graphs.edges, graphs.x):
        if array is not None:
            digest.update(f"{array.shape} {array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """The upper triangle of a distance matrix while it is computed.

    Attributes
    ----------
    upper : ndarray [n, n]
        Distances to later graphs; zeros elsewhere.
    done : ndarray [n]
        Which rows are finished.

    Parameters
    ----------
    path : path or None
        Where it is kept; None: in memory only. A file that is damaged or has another key is not used, and replaced.
    key : str
        See :func:`fingerprint`.
    n : int
        How many graphs.
    """

    def __init__(self, path: str | Path | None, key: str, n: int) -> None:
        self._path, self._key = None if path is None else Path(path), key
        self._unsaved, self._written = False, time.monotonic()
        self.upper: np.ndarray
        self.done: np.ndarray
        self.upper, self.done = self._load(n) or (np.zeros((n, n)), np.zeros(n, dtype=bool))

    def _load(self, n: int) -> tuple[np.ndarray, np.ndarray] | None:
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

    def finished(self, rows: Sequence[int]) -> None:
        """Marks rows as done; writes the file if the last time was long ago."""
        self.done[list(rows)] = True
        self._unsaved = True
        if time.monotonic() - self._written > SECONDS_BETWEEN_WRITES:
            self.save()

    def save(self) -> None:
        """Writes what is new, in one step: a killed process leaves the old file or the new one."""
        if self._path is None or not self._unsaved:
            return
        with new_file(self._path, overwrite=True) as temporary, temporary.open("wb") as file:
            np.savez(file, key=np.array(self._key), upper=self.upper, done=self.done)
        self._unsaved, self._written = False, time.monotonic()
