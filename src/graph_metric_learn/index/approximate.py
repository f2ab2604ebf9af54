"""Approximate search through usearch or FAISS: a graph of near neighbours, and the recall that was measured."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from .._core.registry import Registry
from .approximate_file import EFFORT, LINKS, OtherVersionError, new_engine, read_graph, write_graph
from .rows import State
from .search import nearest

_SAMPLE = 200  # rows whose neighbours are looked for, to measure the recall
_SAMPLE_K = 10
_MORE = 1.1  # growth after which the recall is measured again


class Engine(Protocol):
    """An approximate index of vectors that only grows."""

    def add(self, first: int, vectors: np.ndarray) -> None:
        """Adds vectors [n, d] as rows first, first + 1, …"""

    def search(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Rows [Q, k] that are likely the nearest; -1 where fewer were found."""

    def write(self, path: Path) -> None:
        """Writes it, without its vectors, to a file; a `ValueError` where the engine cannot."""

    def read(self, path: Path, vectors: np.ndarray) -> int:
        """Reads what `write` wrote into an empty index, with its vectors [n, d]; how many rows it has, 0 if not any."""


ENGINES: Registry[type] = Registry("approximate engine")  # in the order in which they are tried


@ENGINES.register("usearch")
class UsearchEngine:
    """HNSW of usearch."""

    def __init__(self, width: int) -> None:
        self._index = new_engine(width)

    def add(self, first: int, vectors: np.ndarray) -> None:
        self._index.add(np.arange(first, first + len(vectors), dtype=np.uint64), vectors)

    def search(self, queries: np.ndarray, k: int) -> np.ndarray:
        matches = self._index.search(queries, k)
        keys = np.asarray(matches.keys).reshape(len(queries), -1).astype(np.int64)
        if len(queries) > 1:
            counts = np.asarray(matches.counts)
            keys[np.arange(keys.shape[1])[None, :] >= counts[:, None]] = -1
        return keys

    def write(self, path: Path) -> None:
        write_graph(path, self._index)

    def read(self, path: Path, vectors: np.ndarray) -> int:
        return read_graph(path, self._index, vectors)


@ENGINES.register("faiss")
class FaissEngine:
    """HNSW of FAISS."""

    def __init__(self, width: int) -> None:
        import faiss

        self._index = faiss.IndexHNSWFlat(width, LINKS)
        self._index.hnsw.efConstruction = EFFORT
        self._index.hnsw.efSearch = EFFORT

    def add(self, first: int, vectors: np.ndarray) -> None:
        self._index.add(np.ascontiguousarray(vectors))

    def search(self, queries: np.ndarray, k: int) -> np.ndarray:
        return self._index.search(np.ascontiguousarray(queries), k)[1]

    def write(self, path: Path) -> None:
        raise ValueError("the approximate index of FAISS is not saved: pip install usearch, which comes first then")

    def read(self, path: Path, vectors: np.ndarray) -> int:
        return 0


class Approximate:
    """An approximate index of the rows of an exact one, which grows with it.

    Attributes
    ----------
    recall_ : float
        Share of the 10 nearest rows that were found, measured on 200 rows of the index, each searched with its vector.
    """

    def __init__(self, width: int) -> None:
        engine = next((engine for name, engine in ENGINES.items() if find_spec(name) is not None), None)
        if engine is None:
            raise ValueError("approximate=True needs usearch or faiss-cpu: pip install graph-metric-learn[index]")
        self._engine: Engine = engine(width)
        self._rows = 0
        self._measured = 0
        self.recall_ = 1.0

    def write(self, path: Path) -> None:
        """Writes the links between rows to a file."""
        self._engine.write(path)

    def read(self, path: Path, state: State) -> None:
        """Begins with what `write` wrote for the first rows of a state; with nothing where that is of no use."""
        try:
            self._rows = self._engine.read(path, state.arrays["vectors"])
        except FileNotFoundError:
            return
        except OtherVersionError as error:
            warnings.warn(f"{error}: it is not used; save the approximate index again", stacklevel=2)

    def follow(self, state: State) -> None:
        """Adds the rows that are new, and measures the recall when there are 10 % more."""
        if state.count > self._rows:
            self._engine.add(self._rows, state.arrays["vectors"][self._rows :])
            self._rows = state.count
        if self._rows > _MORE * self._measured:
            self._measured, rows = self._rows, state.alive
            queries = state.arrays["vectors"][np.sort(np.random.default_rng(0).permutation(rows)[:_SAMPLE])]
            k = min(_SAMPLE_K, len(rows))
            exact, distances = nearest(state, queries, k)[0], self.search(state, queries, k)[0]
            self.recall_ = float((distances <= exact[:, -1:]).mean())

    def search(self, state: State, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and rows [Q, k] of rows that are likely the nearest; the distances are exact."""
        distances, rows = np.full((len(queries), k), np.inf), np.full((len(queries), k), -1, np.int64)
        removed = state.count - len(state)
        wanted = min(2 * k + 16, self._rows)
        candidates = self._engine.search(queries, wanted)
        for q in range(len(queries)):
            some = _alive(candidates[q], state)
            if len(some) < k and removed:  # most of what came was removed
                some = _alive(self._engine.search(queries[q : q + 1], min(wanted + removed, self._rows))[0], state)
            if len(some) < k:
                some = state.alive  # a graph that does not lead everywhere: all rows
            steps = state.arrays["vectors"][some].astype(np.float64) - queries[q]
            exact = np.sqrt((steps * steps).sum(1))
            order = np.argsort(exact, kind="stable")[:k]
            distances[q], rows[q] = exact[order], some[order]
        return distances, rows


def _alive(rows: np.ndarray, state: State) -> np.ndarray:
    """The different ones of these rows that count, ascending."""
    rows = np.unique(rows[(rows >= 0) & (rows < state.count)])
    return rows[~state.dead[rows]] if len(state.dead) else rows
