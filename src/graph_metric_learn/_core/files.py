"""Writing files so that an interruption leaves the old file or the new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A name beside `path` to write to: it becomes `path` when the block ends well, and is removed otherwise."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path.name} exists already: choose another name or ask to overwrite it")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~current_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_atomic(path: str | Path, data: bytes | str, *, overwrite: bool = False) -> Path:
    """Writes a file in one step; refuses to replace one unless told to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_atomic(Path(folder) / "a.txt", "hello")
    ...     write_atomic(Path(folder) / "a.txt", "again")
    Traceback (most recent call last):
    ValueError: a.txt exists already: choose another name or ask to overwrite it
    """
    with new_file(path, overwrite=overwrite) as temporary, temporary.open("wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())
    return Path(path)


def current_umask() -> int:
    """The permissions a new file must not have."""
    umask = os.umask(0)
    os.umask(umask)
    return umask
