"""One build of an index on disk: a folder with a file per array, and a database that says which of their rows count.

Files of arrays only grow, and so do the tables of rows and of removed rows: who has read the database may go on with
the rows of that moment. A change writes behind the rows that count, waits until that is on disk, and then commits one
transaction: before it the old rows count, after it the new ones. Everything that is read is checked before it is used,
since anybody may have written it: the schema, every field, and sizes of files against what is claimed of them.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core.files import sync
from .._core.schema import FieldError
from .catalogue import LARGEST, decode
from .kernels import COARSE, FINE
from .rows import Axes, Batch, State, numbering
from .verification import check_arrays

FILE = "index.sqlite"
VERSION = 3
_APPLICATION = 0x474D4C49  # tells this kind of database from others
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")  # at the end of a journal that names other files
_WAIT = 60.0  # seconds for another process that reads or commits
_REMOVING = 500  # hundredths of a second until the files of a build that was replaced are gone
_JOURNAL = 2**20  # bytes that are kept of it between changes
_ERRORS = {
    "readonly": errno.EROFS, "disk is full": errno.ENOSPC, "disk I/O": errno.EIO, "is locked": errno.EBUSY
}  # fmt: skip
_CHECKED = 50_000  # rows that are compared with their checksum at a time
_WRITE = 2**24  # bytes at a time


class Head(NamedTuple):
    """What describes a build at one moment, in whole numbers: one row of the database.

    Attributes
    ----------
    changes : int
        How many there were.
    count, removed : int
        Rows, and how many of them were removed.
    next_id, only_numbers : int
        As in `State`.
    curve_bytes, curve_count, curve_cells, curve_width, curve_steps : int
        Bytes of a number of a curve, 0 where there are none; S, M and c of `Batch`; whether there are steps.
    rows_crc, removed_crc : int
        Checksums of ids and metadata in their order, and of the rows that were removed in theirs.
    coarse_crc, … : int
        Checksums of the arrays.
    crc : int
        The checksum of all this, of the axes and of the digest of the metric.
    """

    changes: int = 0
    count: int = 0  # type: ignore[assignment]  # not the method of tuples
    removed: int = 0
    next_id: int = 0
    only_numbers: int = 1
    curve_bytes: int = 0
    curve_count: int = 0
    curve_cells: int = 0
    curve_width: int = 0
    curve_steps: int = 0
    rows_crc: int = 0
    removed_crc: int = 0
    coarse_crc: int = 0
    fine_crc: int = 0
    vectors_crc: int = 0
    curves_crc: int = 0
    curve_ends_crc: int = 0
    steps_crc: int = 0
    crc: int = 0

    def layout(self, axes: Axes | None) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type and shape of each array, which is the beginning of the file of its name."""
        if axes is None:
            return {}
        width = len(axes.centre)
        shapes = {"coarse": COARSE, "fine": min(max(width - COARSE, 0), FINE), "vectors": width}
        arrays: dict[str, tuple[str, tuple[int, ...]]] = {name: ("<f4", (self.count, d)) for name, d in shapes.items()}
        if self.curve_bytes:
            shape = self.curve_count, self.curve_cells, self.curve_width
            arrays |= {"curves": (f"<f{self.curve_bytes}", shape), "curve_ends": ("<i8", (self.count,))}
            if self.curve_steps:
                arrays["steps"] = "<f8", shape[:2]
        return arrays

    def checksum(self, axes: Axes | None, metric: str) -> int:
        """What `crc` must be."""
        crcs = () if axes is None else (axes.fitted_to, *(zlib.crc32(_raw(a)) for a in (axes.centre, axes.directions)))
        return zlib.crc32(repr((*self[:-1], *crcs, metric)).encode())


_TABLES = (
    f"CREATE TABLE head ({' INTEGER, '.join(Head._fields)} INTEGER)",
    "CREATE TABLE metric (digest TEXT)",
    "CREATE TABLE axes (centre BLOB, directions BLOB, fitted_to INTEGER)",
    "CREATE TABLE removed (number INTEGER PRIMARY KEY, row INTEGER)",
    "CREATE TABLE rows (row INTEGER PRIMARY KEY, id, note BLOB)",
)
_KIND = f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {VERSION}"
_INDEX = "CREATE INDEX rows_of_id ON rows (id)"


class Database:
    """The database of a build and what it describes; also the catalogue of its states.

    folder : path of the build. metric : digest of the metric that made the vectors, see `io.models.digest`, once read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / FILE
        self._process, self._lock = os.getpid(), threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._head = Head()
        self._axes: Axes | None = None  # this and the digest are the same as long as there is the build
        self.metric = ""

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> State:
        """The rows that count now, mapped."""
        with self._reading() as connection:
            heads = connection.execute("SELECT * FROM head LIMIT 2").fetchall()
            removed = connection.execute("SELECT row FROM removed ORDER BY number").fetchall()
            axes = connection.execute("SELECT * FROM axes LIMIT 2").fetchall() if self._axes is None else []
            metric = connection.execute("SELECT * FROM metric LIMIT 2").fetchall()
        if len(heads) != 1 or any(type(value) is not int or value < 0 for value in heads[0]):
            raise self._damage("head must be one row of whole numbers that are not negative")
        head = Head(*heads[0])
        if axes:
            self._axes = self._checked_axes(*axes)
        if len(metric) != 1 or not re.fullmatch("[0-9a-f]{64}", str(metric[0][0])):
            raise self._damage("metric must be one digest")
        self.metric = metric[0][0]
        if head.crc != head.checksum(self._axes, self.metric):
            raise self._damage("head is not what was written")
        if head.curve_bytes not in (0, 4, 8) or (self._axes is None and head.count):
            raise self._damage(f"there is no index of {head.count} rows with curves of {head.curve_bytes} bytes")
        arrays = self._mapped(head)  # files as large as head says are there before anything is made of that size
        self._head = head
        return self._state(arrays, self._checked_dead(head, removed))

    def is_current(self) -> bool:
        """Whether nothing has changed since it was read."""
        return self._ask("SELECT changes FROM head") == [(self._head.changes,)]

    def _state(self, arrays: dict[str, np.ndarray], dead: np.ndarray) -> State:
        return State(arrays, dead, self._axes, self._head.next_id, bool(self._head.only_numbers), self)

    def _mapped(self, head: Head) -> dict[str, np.ndarray]:
        arrays = {name: self._map(name, *entry) for name, entry in head.layout(self._axes).items()}
        if "curves" in arrays:
            ends = np.concatenate([[0], arrays["curve_ends"]])
            if ends[-1] != len(arrays["curves"]) or (np.diff(ends) < 0).any():
                raise ValueError(f"{self.folder}: curve_ends must rise to the length of curves: the index is damaged")
        return arrays

    def _map(self, name: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """An array, mapped: pages are read when they are used. Writing to it changes no file."""
        path, wanted = self.folder / name, _size(dtype, shape)
        size = path.stat().st_size
        if size < wanted:
            raise ValueError(f"{path} has {size} bytes, the database says {wanted}: it is damaged")
        if not wanted:
            return np.zeros(shape, dtype)
        # Copy on write: compiled loops take arrays that may be written to.
        return np.asarray(np.memmap(path, np.uint8, mode="c", shape=(wanted,))).view(dtype).reshape(shape)

    def _checked_axes(self, row: tuple[Any, ...], *others: Any) -> Axes:
        width = len(row[0]) // 8 if not others and [type(value) for value in row] == [bytes, bytes, int] else 0
        shape = width, min(width, COARSE + FINE)
        if not width or [len(value) for value in row[:2]] != [8 * width, 8 * math.prod(shape)]:
            raise self._damage("axes must be one row of two arrays and a number")
        axes = Axes(np.frombuffer(row[0]).copy(), np.frombuffer(row[1]).reshape(shape).copy(), row[2])
        if not (np.isfinite(axes.centre).all() and np.isfinite(axes.directions).all()):
            raise self._damage("axes must be finite")
        return axes

    def _checked_dead(self, head: Head, removed: list[Any]) -> np.ndarray:
        if len(removed) != head.removed or any(type(row) is not int or not 0 <= row < head.count for (row,) in removed):
            raise self._damage(f"removed must be {head.removed} rows of {head.count}")
        rows = np.array(removed, dtype=np.int64).ravel()
        if zlib.crc32(_raw(rows)) != head.removed_crc:
            raise self._damage("removed is not what was written")
        dead = np.zeros(head.count if len(rows) else 0, np.bool_)
        dead[rows] = True
        if np.count_nonzero(dead) < len(rows):
            raise self._damage("a row was removed twice")
        return dead

    def _damage(self, what: str) -> ValueError:
        return ValueError(f"{self.path} is damaged: {what}")

    # --- ids and metadata --------------------------------------------------------------------------------------------

    def candidates(self, ids: Sequence[Any], count: int) -> list[tuple[int, int]]:
        """See `Catalogue`."""
        pairs: list[tuple[int, Any]] = []
        with self._reading() as connection:
            for i, value in enumerate(ids):
                if isinstance(value, (int, str)):
                    entries = connection.execute("SELECT row FROM rows WHERE id = ?", (_key(value),))
                    pairs += [(i, row) for (row,) in entries]
        if any(row < 0 for _, row in pairs):
            raise self._damage("ids do not lead to rows")
        return [(i, row) for i, row in pairs if row < count]  # newer rows are not of this moment

    def ids(self, rows: np.ndarray) -> list[Any]:
        """See `Catalogue`."""
        return self._ids(self._column("id", rows))

    def notes(self, rows: np.ndarray) -> list[bytes | None]:
        """See `Catalogue`."""
        notes = self._column("note", rows)
        if not all(note is None or type(note) is bytes for note in notes):
            raise self._damage("metadata must be JSON")
        return notes

    def _column(self, name: str, rows: np.ndarray) -> list[Any]:
        sql = f"SELECT rows.{name} FROM json_each(?) AS one CROSS JOIN rows ON row = one.value ORDER BY one.key"
        values = self._ask(sql, json.dumps(rows.tolist()))
        if len(values) < len(rows):
            raise self._damage(f"{len(rows) - len(values)} rows are missing")
        return [value for (value,) in values]

    def _ids(self, keys: list[Any]) -> list[Any]:
        """Ids from what the database keeps of them, see `_key`."""
        try:
            if all(type(key) in (int, bytes) for key in keys):
                return [key if type(key) is int else key.decode("utf-8", "surrogatepass") for key in keys]
        except UnicodeDecodeError:
            pass
        raise self._damage("an id is neither a number nor text")

    # --- verifying ---------------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """A `ValueError` that names what is damaged unless everything is what was written, and makes sense."""
        state, head = self.read(), self._head
        if self._ask("PRAGMA integrity_check(1)") != [("ok",)]:
            raise self._damage("its pages do not fit together")
        for name, array in state.arrays.items():
            crc = 0
            for lo in range(0, len(array), _CHECKED):
                some = array[lo : lo + _CHECKED]
                crc = zlib.crc32(_raw(some), crc)
                if not np.isfinite(some).all():
                    raise ValueError(f"{self.folder / name} is damaged: it holds numbers that are not finite")
            if crc != getattr(head, f"{name}_crc"):
                raise ValueError(f"{self.folder / name} is damaged: {name} is not what was written")
        self._verify_rows(head)
        try:
            check_arrays(state)
        except FieldError as error:
            raise ValueError(f"{self.folder} is damaged: {error}") from None

    def _verify_rows(self, head: Head) -> None:
        """The same of ids and metadata."""
        crc, largest = 0, -1
        for lo in range(0, head.count, _CHECKED):
            hi = min(lo + _CHECKED, head.count)
            entries = self._ask("SELECT row, id, note FROM rows WHERE row >= ? AND row < ? ORDER BY row", lo, hi)
            crc = _rows_crc([entry[1:] for entry in entries], crc)
            if [row for row, _, _ in entries] != list(range(lo, hi)):
                raise self._damage("rows are missing")
            numbers = [value for value in self._ids([key for _, key, _ in entries]) if isinstance(value, int)]
            if head.only_numbers and len(numbers) < len(entries):
                raise self._damage("ids are not all numbers, as it says")
            largest = max([largest, *numbers])
            decode(self.notes(np.arange(lo, hi)))
        if crc != head.rows_crc:
            raise self._damage("ids or metadata are not what was written")
        if head.next_id < min(largest + 1, LARGEST):
            raise self._damage(f"the next id is {head.next_id}, but there is {largest}")
        twice = (
            "SELECT id FROM rows WHERE row < ? AND row NOT IN (SELECT row FROM removed WHERE number < ?) "
            "GROUP BY id HAVING count(*) > 1 LIMIT 1"
        )
        for (key,) in self._ask(twice, head.count, head.removed):
            raise self._damage(f"id {self._ids([key])[0]!r} is there twice")

    # --- writing -----------------------------------------------------------------------------------------------------

    def append(self, state: State, removed: np.ndarray, batch: Batch | None) -> State:
        """Removes rows and adds others, as one change to its latest state; the next state."""
        old, crc = self._head, zlib.crc32(_raw(removed), self._head.removed_crc)
        head = old._replace(changes=old.changes + 1, removed=old.removed + len(removed), removed_crc=crc)
        with self._writing() as connection:
            numbered = enumerate(removed.tolist(), old.removed)
            connection.executemany("INSERT INTO removed VALUES (?, ?)", numbered)
            if batch is not None:
                assert state.axes is not None
                head = _added(connection, self.folder, head, state.axes, batch)
                _sync_all(self.folder / name for name in state.arrays)
            _write_head(connection, head, state.axes, self.metric)
        self._head = head
        return self._state(self._mapped(head), state.without(removed).dead_among(head.count))

    @classmethod
    def build(cls, folder: Path, axes: Axes | None, batches: Iterable[Batch], next_id: int, metric: str) -> None:
        """Writes a new build, which is on disk then; nobody knows of it yet, so it needs no journal.

        metric : digest of the metric that made the vectors
        """
        folder.mkdir()
        path = folder / FILE
        with _clear_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"):
                connection.execute(f"PRAGMA {setting}")
            for statement in (*_KIND, "BEGIN", *_TABLES):
                connection.execute(statement)
            connection.execute("INSERT INTO metric VALUES (?)", (metric,))
            head = Head(changes=1, next_id=next_id)
            if axes is not None:
                row = axes.centre.tobytes(), axes.directions.tobytes(), axes.fitted_to
                connection.execute("INSERT INTO axes VALUES (?, ?, ?)", row)
                for batch in batches:
                    head = _added(connection, folder, head, axes, batch)
            connection.execute(_INDEX)
            _write_head(connection, head, axes, metric)
            connection.execute("COMMIT")
        _sync_all([*folder.iterdir(), folder])

    # --- connections -------------------------------------------------------------------------------------------------

    def _ask(self, sql: str, *parameters: Any) -> list[Any]:
        """The rows of a query."""
        with self._reading() as connection:
            return connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of one moment. A change that was interrupted is undone before, by SQLite."""
        if self._process != os.getpid():  # a forked process opens its own connection
            self._process, self._lock, self._connection = os.getpid(), threading.Lock(), None
        try:
            with self._lock, _clear_errors(self.path):
                self._check_journal()
                if self._connection is None:
                    self._connection = self._opened()
                with self._connection:
                    self._begin(self._connection)
                    yield self._connection
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            raise ValueError(
                f"{self.path}: a change was interrupted and has to be undone first, which needs the right to write: "
                "open the index where there is one"
            ) from None

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Starts to read.

        Where another process has just replaced this build, its files vanish one by one: the open database can still be
        read, but not while SQLite sees a journal that is gone when it looks into it.
        """
        connection.execute("BEGIN")
        for _ in range(_REMOVING):
            try:
                connection.execute("SELECT changes FROM head").fetchone()
                return
            except sqlite3.OperationalError:
                if self.path.exists():
                    raise
                time.sleep(0.01)
        connection.execute("SELECT changes FROM head").fetchone()

    def _opened(self) -> sqlite3.Connection:
        """A connection for queries alone, to a database that is as we make them."""
        if not self.path.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        connection = _connect(self.path)
        weakref.finalize(self, connection.close)
        connection.execute("PRAGMA query_only = ON")
        kind = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        schema = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master").fetchall()]
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        if kind != [_APPLICATION, VERSION] or sorted(map(str, schema)) != sorted([*_TABLES, _INDEX]) or mode == "wal":
            raise self._damage("it is not a database of an index")
        return connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed, and on disk, when the block ends well.

        The journal keeps its size: what is written over in a file is on disk sooner than what makes it grow.
        """
        self._check_journal()
        with _clear_errors(self.path), closing(_connect(self.path)) as connection, connection:
            for setting in ("synchronous = FULL", "journal_mode = PERSIST", "cache_size = -65536"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL}")
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def _check_journal(self) -> None:
        """SQLite would follow the name of another file in a journal, and remove that file."""
        with suppress(FileNotFoundError), open(f"{self.path}-journal", "rb") as journal:
            journal.seek(-min(8, os.fstat(journal.fileno()).st_size), os.SEEK_END)
            if journal.read() == _SUPER_JOURNAL:
                raise self._damage("its journal names other files")


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite as an `OSError` of the disk, or a `ValueError` that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        for reason, code in _ERRORS.items():
            if reason in str(error):
                raise OSError(code, f"{path}: {error}") from None
        raise ValueError(f"{path} is damaged: {error}") from None


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"  # without the right to write, SQLite opens it for reading
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {setting}")
    if hasattr(connection, "setlimit"):  # since Python 3.11
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
    return connection


def _added(connection: sqlite3.Connection, folder: Path, head: Head, axes: Axes, batch: Batch) -> Head:
    """Writes a batch behind the rows that count; the head that counts it, too."""
    assert batch.ids is not None
    rows = list(zip(map(_key, batch.ids), batch.notes or [None] * len(batch.ids), strict=True))
    arrays = batch.arrays(axes, head.curve_count)
    before = head.layout(axes)
    kinds = {name: (array.dtype.str, array.shape[1:]) for name, array in arrays.items()}
    if head.count and kinds != {name: (dtype, shape[1:]) for name, (dtype, shape) in before.items()}:
        raise ValueError("vectors or curves are of another kind than those of the index")
    next_id, only_numbers = numbering(head.next_id, bool(head.only_numbers), batch.ids)
    changed = {"count": head.count + len(rows), "next_id": next_id, "only_numbers": int(only_numbers)}
    changed["rows_crc"] = _rows_crc(rows, head.rows_crc)
    if "curves" in arrays:
        count, cells, width = arrays["curves"].shape
        changed |= {"curve_count": head.curve_count + count, "curve_cells": cells, "curve_width": width}
        changed |= {"curve_bytes": arrays["curves"].itemsize, "curve_steps": int("steps" in arrays)}
    for name, array in arrays.items():
        data = _raw(array)
        _write_behind(folder / name, _size(*before[name]) if name in before else 0, data)
        changed[f"{name}_crc"] = zlib.crc32(data, getattr(head, f"{name}_crc"))
    numbered = ((row, *entry) for row, entry in enumerate(rows, head.count))
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", numbered)
    return head._replace(**changed)


def _write_behind(path: Path, end: int, data: memoryview) -> None:
    """Writes behind the first bytes of a file, in place of what an interrupted change has left there."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.ftruncate(handle, end)
        while len(data):  # the system may take some of the bytes at a time
            data = data[os.write(handle, data[:_WRITE]) :]
    finally:
        os.close(handle)


def _write_head(connection: sqlite3.Connection, head: Head, axes: Axes | None, metric: str) -> None:
    connection.execute("DELETE FROM head")
    row = head._replace(crc=head.checksum(axes, metric))
    connection.execute(f"INSERT INTO head VALUES ({', '.join('?' * len(row))})", row)


def _sync_all(paths: Iterable[Path]) -> None:
    """Waits until all files are on disk: several in the time of one."""
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sync, paths))


def _size(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of an array."""
    return np.dtype(dtype).itemsize * math.prod(shape)


def _raw(array: np.ndarray) -> memoryview:
    """The bytes of an array."""
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data) if array.size else memoryview(b"")


def _rows_crc(rows: Iterable[tuple[Any, bytes | None]], crc: int) -> int:
    """The checksum of ids and metadata that follow those whose checksum is `crc`."""
    return zlib.crc32("".join(map(repr, rows)).encode(), crc)


def _key(value: Any) -> int | bytes:
    """An id as the database keeps it: whole numbers, and text as bytes, which may be names of files in any encoding."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise ValueError(
        f"id {value!r} is a {type(value).__name__}: ids on disk are whole numbers and strings; others stay in memory"
    )
