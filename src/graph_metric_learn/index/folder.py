"""An index on disk: one writer, any number of readers, and changes that happen as a whole or not at all.

`manifest.json` names a build, see `database`, and the folder of the metric, whose digest is in the build: vectors of
another metric are not taken for its own. Most changes are a transaction in the build; those that write all rows anew
make another build, and put a new manifest in place of the old one: that one step makes the change. Whoever is stopped
before leaves folders that nobody refers to, which the next writer removes. An index that takes many changes to make is
made in a hidden folder, and gets its name when all of them are done.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._core.files import locked, remove_leftovers, sync, write_atomic
from ..io.models import digest, load_model
from ..metrics.base import METRICS
from .approximate_file import FILE as APPROXIMATE
from .approximate_file import check_graph
from .database import VERSION, Database
from .rows import Axes, Batch, State, batches_of

FORMAT = "graph-metric-learn index"
FILE = "manifest.json"
_LOCK = "writer.lock"
_NAME = re.compile(r"(build|metric)-[0-9a-f]{8}")
_ATTEMPTS = 50  # to read a build that a writer has just replaced
_Result = TypeVar("_Result")


class Manifest(NamedTuple):
    """What an index on disk consists of: names of two folders."""

    build: str = ""
    metric: str = ""

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """The manifest in a folder, or a `ValueError` that names the field which is wrong."""
        file = path / FILE
        if not file.is_file():
            raise ValueError(f"{path} is not an index: it has no {FILE}")
        try:
            body = json.loads(file.read_bytes())
        except (ValueError, RecursionError):
            raise ValueError(f"{file} is damaged or not ours: it is not JSON") from None
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise ValueError(f"{file} is damaged or not ours: its format must be {FORMAT!r}")
        if body.get("version") != VERSION:
            raise ValueError(
                f"{path}: version of the index is {body.get('version')!r}, this library reads {VERSION}: remove "
                "the folder and make the index anew, or use the version of the library that it is from"
            )
        for name in cls._fields:
            if not re.fullmatch(rf"{name}-[0-9a-f]{{8}}", str(body.get(name))):
                raise ValueError(f"{file}: {name} is {body.get(name)!r}, which is no folder of an index")
        return cls(body["build"], body["metric"])

    def write(self, path: Path) -> None:
        """The one step that makes the change: before it the old folders count, after it the new ones."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **self._asdict()})
        write_atomic(path / FILE, text, overwrite=True)


class IndexFolder:
    """The folder of an index."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = Manifest()
        self._database: Database | None = None
        self._unlock: weakref.finalize | None = None

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> State:
        """The state that is on disk."""
        return self._from_build(self._read)

    def read_with_metric(self, load: Callable[[Path], _Result]) -> tuple[State, _Result]:
        """The state, and what `load` makes of the folder of its metric."""

        def both(manifest: Manifest) -> tuple[State, _Result]:
            metric = load(self.path / manifest.metric)  # first: the state may only be read once it is there
            return self._read(manifest), metric

        return self._from_build(both)

    def _read(self, manifest: Manifest) -> State:
        if self.manifest.metric not in ("", manifest.metric):
            raise ValueError(f"{self.path} was replaced by another index: load it again")
        database = self._database if manifest == self.manifest else None
        if database is None:
            database = Database(self.path / manifest.build)
            state = database.read()
            self._check_metric(manifest, database)
        else:
            state = database.read()
        self.manifest, self._database = manifest, database
        return state

    def _check_metric(self, manifest: Manifest, database: Database) -> None:
        """A `ValueError` unless the vectors of a build that was read are those of the metric beside it."""
        if digest(self.path / manifest.metric) != database.metric:
            raise ValueError(
                f"{self.path}: the vectors in {manifest.build} were not made by the metric in {manifest.metric}: "
                "one of these folders is of another index: put its own one back, or make the index anew"
            )

    def is_current(self) -> bool:
        """Whether nothing has changed since it was read."""
        if Manifest.read(self.path) != self.manifest or self._database is None:
            return False
        try:
            return self._database.is_current()
        except (FileNotFoundError, ValueError):  # replaced meanwhile
            return False

    def verify(self) -> None:
        """A `ValueError` that names the file unless every file is the one that was written, and makes sense."""
        self._from_build(self._verify)

    def _verify(self, manifest: Manifest) -> None:
        load_model(self.path / manifest.metric, tuple(METRICS))
        database = Database(self.path / manifest.build)
        database.verify()
        self._check_metric(manifest, database)
        state = database.read()
        if state.axes is not None:
            check_graph(database.folder / APPROXIMATE, state.count, len(state.axes.centre))

    def _from_build(self, work: Callable[[Manifest], _Result]) -> _Result:
        """What `work` reads of the folders that the manifest names, again where a writer has just replaced them.

        Files of a folder that is being removed are missing one by one, which looks like damage.
        """
        for attempt in range(_ATTEMPTS):
            manifest = Manifest.read(self.path)
            try:
                return work(manifest)
            except FileNotFoundError as error:
                if attempt == _ATTEMPTS - 1 or Manifest.read(self.path) == manifest:
                    raise ValueError(f"{error.filename} is missing: the index is damaged") from None
            except ValueError:
                if attempt == _ATTEMPTS - 1 or Manifest.read(self.path) == manifest:
                    raise
        raise AssertionError("unreachable")

    # --- writing -----------------------------------------------------------------------------------------------------

    def lock(self) -> bool:
        """Makes this the one writer, until `unlock` or the end of the process; removes what a killed one has left.

        Whether it was not the writer before: then others may have changed the index.
        """
        if self._unlock is not None:
            return False
        try:
            import fcntl
        except ImportError:
            raise ValueError("changing an index on disk needs file locks, which this system does not have") from None
        handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise ValueError(
                f"{self.path} is being changed by another writer: an index has one at a time; close() it there"
            ) from None
        self._unlock = weakref.finalize(self, os.close, handle)  # an index that is forgotten holds up nobody
        self.clean()
        return True

    def unlock(self) -> None:
        """Lets others write."""
        if self._unlock is not None:
            self._unlock()  # closes the file, which releases the lock
            self._unlock = None

    def clean(self) -> None:
        """Removes what the manifest does not refer to."""
        kept = Manifest.read(self.path)
        for path in self.path.iterdir():
            if _NAME.fullmatch(path.name) and path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(f".{FILE}."):  # half of a manifest
                path.unlink()

    def append(self, state: State, removed: np.ndarray, batch: Batch | None) -> State:
        """Removes rows [m] and adds others, as one change to the state on disk; the next state."""
        assert self._database is not None
        return self._database.append(state, removed, batch)

    def renew(self, batches: Iterable[Batch], axes: Axes | None, next_id: int, metric: Any = None) -> State:
        """Writes all rows anew, as one change, with the metric if one is given; the next state."""
        old, token = self.manifest, secrets.token_hex(4)
        new = Manifest(f"build-{token}", old.metric if metric is None else f"metric-{token}")
        if metric is None:
            assert self._database is not None
            made_by = self._database.metric
        else:
            metric.save(self.path / new.metric)
            for path in (*(self.path / new.metric).iterdir(), self.path / new.metric):
                sync(path)
            made_by = digest(self.path / new.metric)
        Database.build(self.path / new.build, axes, batches, next_id, made_by)
        new.write(self.path)
        self.manifest = self.manifest._replace(metric=new.metric)
        state = self.read()
        for name in set(old) - {*new, ""}:
            shutil.rmtree(self.path / name, ignore_errors=True)  # else the next writer removes it
        return state

    def take_over(self, other: Path) -> None:
        """Puts the index of another folder in place of its own, in one step; the folders are moved."""
        manifest = Manifest.read(other)
        try:
            for name in manifest:
                shutil.move(other / name, self.path / name)
            manifest.write(self.path)
        finally:
            self.clean()  # of the folders of the old index, or of the new one if that failed


def create(path: str | Path, state: State, metric: Any, *, overwrite: bool = False) -> Path:
    """Writes an index folder in one step; refuses to replace anything but an index, and that unless told to."""
    with new_folder(path, overwrite=overwrite) as new:
        new.mkdir()
        IndexFolder(new).renew(batches_of(state), state.axes if len(state) else None, state.next_id, metric)
    return Path(path)


@contextlib.contextmanager
def new_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A hidden name to make an index under, by any number of changes: it becomes `path` when the block ends well.

    Otherwise nothing is left of it. With `overwrite`, an index that is in `path` stays as it is until the block ends,
    and nobody else changes it meanwhile.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another name or pass overwrite=True")
    if path.exists() and not (path / FILE).is_file():
        raise ValueError(f"{path} exists and is not an index: choose another name")
    old = IndexFolder(path) if path.exists() else None
    if old is not None:
        old.lock()
    made = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        prefix = f".{path.name}.new."
        remove_leftovers(path.parent, prefix)
        hidden = Path(tempfile.mkdtemp(dir=path.parent, prefix=prefix))
        try:
            with locked(hidden):
                new = hidden / path.name
                yield new
                if old is not None:
                    old.take_over(new)
                else:
                    os.replace(new, path)
                    sync(path.parent)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
    finally:
        if old is not None:
            old.unlock()
        for folder in made:  # the innermost first; those that hold the index stay
            with contextlib.suppress(OSError):
                folder.rmdir()
