"""An index on disk: one writer, any number of readers, and changes that happen as a whole or not at all.

Files of arrays are written under new names and never changed; `manifest.json` says which of them count. A change writes
the new files, then a new manifest beside the old one, and puts it in its place: that one step makes the change. Whoever
is stopped before leaves files that nobody refers to, which the next writer removes. An index that takes many changes to
make is made in a hidden folder, and gets its name when all of them are done.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._core.files import current_umask, locked, remove_leftovers
from .array_file import NAME, map_arrays, verify_arrays, write_all, write_arrays
from .axes import Axes
from .manifest import FILE, METRIC, Manifest, check_contents
from .segment import NO_DEAD, Segment

_LOCK = "writer.lock"
_NEW_MANIFEST = ".manifest.new"
_ATTEMPTS = 50  # to read a manifest whose files a writer has just replaced


@dataclass(frozen=True, eq=False)
class State:
    """All rows of an index at one moment. States never change: a change makes another one.

    Segments that are yet to be written may be an iterator, so that memory holds one of them at a time.
    """

    segments: Any = ()
    axes: Axes | None = None
    next_id: int = 0

    def __len__(self) -> int:
        return sum(segment.alive for segment in self.segments)


class IndexFolder:
    """The folder of an index.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = Manifest(0, "", None, 0, 0, None, None, [])
        self._unlock: weakref.finalize | None = None

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, known: State | None = None) -> State:
        """The state that the manifest describes; files that `known` has mapped are not mapped again."""
        if not (self.path / FILE).is_file():
            raise ValueError(f"{self.path} is not an index: it has no {FILE}")
        for attempt in range(_ATTEMPTS):
            manifest = Manifest.read(self.path / FILE)
            try:
                state = self._mapped(manifest, known or State())
            except FileNotFoundError as error:  # removed since the manifest was read: there is a newer one
                if attempt == _ATTEMPTS - 1 or Manifest.read(self.path / FILE).generation == manifest.generation:
                    raise ValueError(f"{error.filename} is missing: the index is damaged") from None
                continue
            self.manifest = manifest
            return state
        raise AssertionError("unreachable")

    def is_current(self) -> bool:
        """Whether nothing has changed since the manifest was read."""
        return Manifest.read(self.path / FILE).generation == self.manifest.generation

    def verify(self) -> None:
        """A `ValueError` that names the file unless every file is the one that was written."""
        manifest = Manifest.read(self.path / FILE)
        for record in (manifest.axes, manifest.removed, *manifest.segments):
            if record is not None:
                verify_arrays(self.path, record)

    def _mapped(self, manifest: Manifest, known: State) -> State:
        axes = known.axes
        if manifest.axes is None:
            axes = None
        elif axes is None or axes.file != manifest.axes["file"]:
            arrays = map_arrays(self.path, manifest.axes)
            for name in ("centre", "directions"):
                if not np.isfinite(arrays[name]).all():
                    raise ValueError(f"{self.path / manifest.axes['file']}: {name} must be finite: the file is damaged")
            axes = Axes(arrays["centre"].copy(), arrays["directions"].copy(), manifest.fitted_to, manifest.axes["file"])
        mapped = {segment.file: segment for segment in known.segments}
        segments = []
        for record in manifest.segments:
            segment = mapped.get(record["file"])
            if segment is None:
                arrays = map_arrays(self.path, record)
                check_contents(arrays, str(self.path / record["file"]))
                segment = Segment(arrays, file=record["file"])
            segments.append(segment)
        dead = self._dead(manifest, sum(map(len, segments)))
        first = 0
        for i, segment in enumerate(segments):
            part = dead[first : first + len(segment)]
            segments[i] = replace(segment, dead=part if part.any() else NO_DEAD)
            first += len(segment)
        return State(tuple(segments), axes, manifest.next_id)

    def _dead(self, manifest: Manifest, rows: int) -> np.ndarray:
        """Which rows were removed [rows]."""
        dead = np.zeros(rows, np.bool_)
        if manifest.removed is not None:
            bits = np.unpackbits(map_arrays(self.path, manifest.removed)["bits"])[:rows]
            dead[: len(bits)] = bits
        return dead

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
        """Removes files that the manifest does not refer to."""
        kept = Manifest.read(self.path / FILE).files
        for path in self.path.iterdir():
            if path.name in kept:
                continue
            if METRIC.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name == _NEW_MANIFEST or NAME.fullmatch(path.name):
                os.unlink(path)

    def commit(self, before: State, after: State, metric: Any = None) -> State:
        """Writes the change from one state to another; the new state, mapped from its files.

        metric: saved with it, in place of the one that is there.
        """
        old = self.manifest
        if metric is None:
            name = old.metric
        else:
            name = f"metric-{secrets.token_hex(4)}"
            metric.save(self.path / name)
        manifest, state = self._written(old, before, after, name)
        self._replace_manifest(manifest, [self.path / name for name in manifest.files - old.files])
        self.manifest = manifest
        for name in old.files - manifest.files:
            path = self.path / name
            with contextlib.suppress(OSError):  # the next writer removes it
                shutil.rmtree(path) if METRIC.fullmatch(name) else os.unlink(path)
        return state

    def take_over(self, other: Path) -> None:
        """Puts the index of another folder in place of its own, in one step; the files are moved."""
        old, manifest = Manifest.read(self.path / FILE), Manifest.read(other / FILE)
        manifest = replace(manifest, generation=max(old.generation, manifest.generation) + 1)
        try:
            for name in manifest.files:
                shutil.move(other / name, self.path / name)
            self._replace_manifest(manifest, [self.path / name for name in manifest.files])
        finally:
            self.clean()  # of the files of the old index, or of the new one if that failed

    def _written(self, old: Manifest, before: State, after: State, metric: str) -> tuple[Manifest, State]:
        """Writes all files that are new; the manifest that refers to them, and the state."""
        generation = old.generation + 1
        records = {record["file"]: record for record in (old.axes, *old.segments) if record is not None}
        axes, segments = after.axes, []
        if axes is not None and axes.file not in records:
            record = self._write(generation, "axes", {"centre": axes.centre, "directions": axes.directions})
            axes = replace(axes, file=record["file"])
            records[record["file"]] = record
        for segment in after.segments:
            if segment.file not in records:
                segment.ids.without_objects()
                record = self._write(generation, "rows", segment.arrays)
                records[record["file"]] = record
                segment = Segment(map_arrays(self.path, record), segment.dead, file=record["file"])
            segments.append(segment)
        removed = old.removed
        if not _same_dead(before.segments, tuple(segments)):
            removed = None
            if any(len(segment.dead) for segment in segments):
                dead = [segment.dead if len(segment.dead) else np.zeros(len(segment), np.bool_) for segment in segments]
                removed = self._write(generation, "removed", {"bits": np.packbits(np.concatenate(dead))})
        manifest = Manifest(
            generation,
            metric,
            None if axes is None else len(axes.centre),
            after.next_id,
            0 if axes is None else axes.fitted_to,
            None if axes is None else records[str(axes.file)],
            removed,
            [records[str(segment.file)] for segment in segments],
        )
        return manifest, State(tuple(segments), axes, after.next_id)

    def _write(self, generation: int, kind: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        name = f"{generation % 10**8:08d}-{secrets.token_hex(4)}.{kind}"
        return write_arrays(self.path / name, arrays)

    def _replace_manifest(self, manifest: Manifest, new_files: list[Path]) -> None:
        """The one step that makes the change: before it the old files count, after it the new ones."""
        new = self.path / _NEW_MANIFEST
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            write_all(handle, manifest.text())
        finally:
            os.close(handle)
        inside = [path for folder in new_files if folder.is_dir() for path in folder.iterdir()]
        with ThreadPoolExecutor(4) as threads:  # disks sync several files in the time of one
            list(threads.map(sync, [new, *new_files, *inside]))
        os.replace(new, self.path / FILE)
        sync(self.path)


def _same_dead(before: tuple[Segment, ...], after: tuple[Segment, ...]) -> bool:
    """Whether the bits of removed rows stay valid: the same segments with the same bits, and new ones without any."""
    if not any(len(segment.dead) for segment in (*before, *after)):
        return True
    same = all(old.file == new.file and old.dead is new.dead for old, new in zip(before, after, strict=False))
    return same and len(before) <= len(after) and not any(len(segment.dead) for segment in after[len(before) :])


def create(path: str | Path, state: State, metric: Any, *, overwrite: bool = False) -> Path:
    """Writes an index folder in one step; refuses to replace anything but an index, and that unless told to."""
    path = Path(path)
    _check_replaceable(path, overwrite)
    if path.exists():
        folder = IndexFolder(path)
        folder.lock()
        folder.manifest = replace(folder.manifest, generation=Manifest.read(path / FILE).generation)
        try:
            folder.commit(State(), state, metric)
        finally:
            folder.clean()  # of the files of the old index, or of the new one if that failed
            folder.unlock()
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        IndexFolder(new).commit(State(), state, metric)
        new.chmod(0o777 & ~current_umask())
        os.replace(new, path)
        sync(path.parent)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return path


@contextlib.contextmanager
def new_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A hidden name to make an index under, by any number of changes: it becomes `path` when the block ends well.

    Otherwise nothing is left of it. With `overwrite`, an index that is in `path` stays as it is until the block ends,
    and nobody else changes it meanwhile.
    """
    path = Path(path)
    _check_replaceable(path, overwrite)
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


def _check_replaceable(path: Path, overwrite: bool) -> None:
    """A `ValueError` if there is something that is not an index, or that is not to be replaced."""
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another name or pass overwrite=True")
    if path.exists() and not (path / FILE).is_file():
        raise ValueError(f"{path} exists and is not an index: choose another name")


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
