"""The graph of an approximate index of usearch in a file, which is checked before usearch follows it.

usearch trusts what it loads: a link to a row that is not there would make it read anywhere. So the file holds what it
writes but for the vectors, which are those of the build, and every field and link is looked at. A file that was made
up can then make search miss neighbours, which the recall tells, and nothing else.

The file is a head of our own and then usearch's: its version and settings (64 bytes), numbers of rows, links and levels
(40 bytes), the level of each row, and for each row its key, its level, and its links, once for each level from 0.
"""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .._core.files import write_atomic

FILE = "approximate"
_MAGIC = b"GML usearch graph"
_OWN = len(_MAGIC) + 4  # bytes of our head: what it is, and a checksum of what follows
_HEAD, _SIZES = 64, 40  # bytes of usearch's heads
_COUNT = slice(17, 25)  # where the first of them has the number of rows
LINKS = 32  # neighbours that each row is linked to
EFFORT = 128  # candidates that are followed
_MOST_LEVELS = 40  # a row in 32 is on the next level: so many are not needed for any number of rows
_ROWS = 10_000  # looked at together


def new_engine(width: int) -> Any:
    """An empty index of usearch."""
    from usearch.index import Index

    return Index(
        ndim=width, metric="l2sq", dtype="f32", connectivity=LINKS, expansion_add=EFFORT, expansion_search=EFFORT
    )


class OtherVersionError(ValueError):
    """The file is sound as far as can be seen, but was written with other settings."""


def write_graph(path: Path, index: Any) -> None:
    """Writes the graph of an index of usearch."""
    data = bytes(index.save())
    rows, width = struct.unpack("<II", data[:8])
    graph = data[8 + rows * width :]
    _checked_keys(path, np.frombuffer(graph, np.uint8), index.ndim)  # usearch writes what we expect
    write_atomic(path, _MAGIC + struct.pack("<I", zlib.crc32(graph)) + graph, overwrite=True)


def read_graph(path: Path, index: Any, vectors: np.ndarray) -> int:
    """Reads the graph in a file into an empty index of usearch, with vectors [n, d], float32; how many it has.

    A `ValueError` where the file is damaged. None are read where it has more rows than there are vectors: it was
    written when there were more.
    """
    graph = _read(path)
    keys = _checked_keys(path, np.frombuffer(graph, np.uint8), index.ndim)
    if len(keys) > len(vectors):
        return 0
    matrix = np.ascontiguousarray(vectors[keys], dtype="<f4")
    try:
        index.load(struct.pack("<II", len(matrix), 4 * matrix.shape[1]) + matrix.tobytes() + graph)
    except RuntimeError as error:
        raise _damage(path, str(error)) from None
    return len(keys)


def check_graph(path: Path, count: int, width: int) -> None:
    """A `ValueError` unless the file, if there is one, is sound and has at most `count` rows of this width."""
    with suppress(FileNotFoundError, OtherVersionError):
        graph = np.frombuffer(_read(path), np.uint8)
        if find_spec("usearch") is not None and len(_checked_keys(path, graph, width)) > count:
            raise _damage(path, f"it has more rows than the index, {count}")


def _read(path: Path) -> bytes:
    """The graph in a file, if it is what was written."""
    data = path.read_bytes()
    graph = data[_OWN:]
    if data[:_OWN] != _MAGIC + struct.pack("<I", zlib.crc32(graph)):
        raise _damage(path, "it is not what was written")
    return graph


def _checked_keys(path: Path, graph: np.ndarray, width: int) -> np.ndarray:
    """The row of each node [n] of a graph in bytes, if all of its links lead to nodes."""
    empty = bytes(new_engine(width).save())[8:]
    if len(graph) < _HEAD + _SIZES:
        raise _damage(path, "it is too short")
    head = graph[:_HEAD].tobytes()
    _, links, base_links, _, _ = struct.unpack("<5Q", empty[_HEAD : _HEAD + _SIZES])
    count, *numbers, top, entry = struct.unpack("<5Q", graph[_HEAD : _HEAD + _SIZES].tobytes())
    settings = [head[: _COUNT.start], head[_COUNT.stop :], *numbers]
    if settings != [empty[: _COUNT.start], empty[_COUNT.stop : _HEAD], links, base_links]:
        raise OtherVersionError(f"{path} is of another version of usearch or of this library")
    body = graph[_HEAD + _SIZES :]
    if struct.unpack("<Q", head[_COUNT])[0] != count or not 0 < 2 * count < len(body):
        raise _damage(path, "its sizes do not fit")
    nodes = _Nodes(path, body, int(count), int(links), int(base_links))
    if entry >= count or nodes.levels[entry] != top or nodes.levels.max() != top:
        raise _damage(path, "search would begin nowhere")
    return nodes.keys()


class _Nodes:
    """Levels and nodes in bytes, one node after the other."""

    def __init__(self, path: Path, body: np.ndarray, count: int, links: int, base_links: int) -> None:
        self._path, self._data = path, body[2 * count :]
        self.levels = body[: 2 * count].view("<i2").astype(np.int64)
        self._base = np.dtype([("key", "<u8"), ("level", "<i2"), ("count", "<u4"), ("links", "<u4", base_links)])
        self._upper = np.dtype([("count", "<u4"), ("links", "<u4", links)])
        if self.levels.min() < 0 or self.levels.max() > _MOST_LEVELS:
            raise _damage(path, "its levels do not make sense")
        sizes = self._base.itemsize + self._upper.itemsize * self.levels
        if sizes.sum() != len(self._data):
            raise _damage(path, "its size does not fit to its levels")
        self._starts = np.cumsum(sizes) - sizes

    def keys(self) -> np.ndarray:
        """The key of each node [n], after a look at all links."""
        count, keys = len(self.levels), []
        for lo in range(0, count, _ROWS):
            some = self._read(self._base, self._starts[lo : lo + _ROWS])
            if (some["level"] != self.levels[lo : lo + _ROWS]).any():
                raise _damage(self._path, "its levels do not fit")
            self._check_links(some, 0)
            keys.append(some["key"])
        for level in range(1, int(self.levels.max()) + 1):
            above = np.flatnonzero(self.levels >= level)
            for lo in range(0, len(above), _ROWS):
                starts = self._starts[above[lo : lo + _ROWS]] + self._base.itemsize
                self._check_links(self._read(self._upper, starts + self._upper.itemsize * (level - 1)), level)
        found = np.concatenate(keys)
        if not np.array_equal(np.sort(found), np.arange(count, dtype=np.uint64)):
            raise _damage(self._path, "its nodes are not the rows of the index")
        return found.astype(np.int64)

    def _read(self, dtype: np.dtype, starts: np.ndarray) -> np.ndarray:
        """Records that start at these bytes [m]."""
        return self._data[starts[:, None] + np.arange(dtype.itemsize)].reshape(-1).view(dtype)

    def _check_links(self, records: np.ndarray, level: int) -> None:
        """Links on a level must lead to nodes that are on it."""
        links = records["links"]
        used = np.arange(links.shape[1]) < records["count"][:, None]
        targets = links[used]
        if (records["count"] > links.shape[1]).any() or (targets >= len(self.levels)).any():
            raise _damage(self._path, "a link leads nowhere")
        if (self.levels[targets] < level).any():
            raise _damage(self._path, "a link leads to a node that is not on its level")


def _damage(path: Path, what: str) -> ValueError:
    return ValueError(f"{path} is damaged: {what}: remove it, or save the approximate index again")
