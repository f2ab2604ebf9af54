"""Writing files so that an interruption leaves the old file or the new one, never half of it."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_FRESH = 60.0  # seconds in which what is being made may not have its lock yet


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A name beside `path` to write to: it becomes `path` when the block ends well, and is removed otherwise.

    What a process that was killed left behind is removed by the next that writes the same file.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path.name} exists already: choose another name or ask to overwrite it")
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, f".{path.name}.")
    with clear_disk_errors(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        with locked(name):  # who writes it is alive
            try:
                yield Path(name)
                os.chmod(name, 0o666 & ~current_umask())
                sync(name)
                os.replace(name, path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        sync(path.parent)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Removes what killed processes have left in a folder: names that `tempfile` made, whose lock nobody has."""
    if fcntl is None:
        return
    for left in folder.glob(f"{glob.escape(prefix)}{'[a-z0-9_]' * 8}"):
        with suppress(OSError):  # another process may have been faster
            if left.is_symlink() or time.time() - left.stat().st_mtime < _FRESH:
                continue
            with locked(left) as alone:
                if alone:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()


def write_atomic(path: str | Path, data: bytes | str, *, overwrite: bool = False) -> Path:
    """Writes a file in one step; refuses to replace one unless told to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_atomic(Path(folder) / "a.txt", "hello")
    ...     write_atomic(Path(folder) / "a.txt", "again")
    Traceback (most recent call last):
    ValueError: a.txt exists already: choose another name or ask to overwrite it
    """
    with new_file(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)
    return Path(path)


def sync(path: str | Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):  # folders cannot be opened on Windows
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):  # file systems that cannot
            raise
    finally:
        os.close(handle)


def reserve(path: str | Path, size: int) -> None:
    """Takes room for a file of so many bytes, so that a full disk is an error here and not a crash later.

    Writing through a memory map to a file whose blocks do not exist yet kills the process when the disk is full.
    """
    if not hasattr(os, "posix_fallocate"):  # macOS, Windows
        free = shutil.disk_usage(Path(path).parent).free
        if free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return
    handle = os.open(path, os.O_RDWR)
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # file systems that cannot
            raise
    finally:
        os.close(handle)


@contextmanager
def clear_disk_errors(path: str | Path) -> Iterator[None]:
    """Errors of a full or read-only disk as an `OSError` that names the file that was to be written."""
    reasons = {errno.ENOSPC: "there is no space left", errno.EDQUOT: "the quota is used up", errno.EFBIG: "too large"}
    try:
        yield
    except OSError as error:
        if error.errno not in reasons:
            raise
        raise OSError(error.errno, f"{path} was not written: {reasons[error.errno]}") from None


def check_writable(path: str | Path) -> None:
    """An `OSError` unless a file or folder of this name can be made; for use before long computations.

    >>> check_writable(Path("/proc/version/new.npy"))
    Traceback (most recent call last):
    NotADirectoryError: [Errno 20] /proc/version/new.npy cannot be written: /proc/version is not a folder
    """
    path = Path(path)
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{path} cannot be written: {folder} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, f"{path} cannot be written: {reason} ({folder})") from None


@contextmanager
def locked(path: str | Path) -> Iterator[bool]:
    """Holds the lock of a file or folder while the block runs; False where another process or thread has it.

    The lock ends with the process that holds it, however that ends.
    """
    if fcntl is None:
        yield True
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except OSError as error:
            alone = error.errno not in (errno.EWOULDBLOCK, errno.EACCES)  # others: no locks on this file system
        yield alone
    finally:
        os.close(handle)


def current_umask() -> int:
    """The permissions a new file must not have."""
    umask = os.umask(0)
    os.umask(umask)
    return umask
