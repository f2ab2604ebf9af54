"""Writing files so that an interruption leaves the old file or the new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: str | Path, data: bytes | str, *, overwrite: bool = False) -> Path:
    """Writes a file in one step; refuses to replace one unless told to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_atomic(Path(folder) / "a.txt", "hello")
    ...     write_atomic(Path(folder) / "a.txt", "again")
    Traceback (most recent call last):
    ValueError: a.txt exists already: choose another name or ask to overwrite it
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path.name} exists already: choose another name or ask to overwrite it")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
