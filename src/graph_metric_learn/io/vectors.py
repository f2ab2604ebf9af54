"""Vectors of graphs to files, some rows at a time: .npy, or .parquet with ids and what is known about each graph."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
from scipy import sparse

from .._core.files import new_file

_HEADER = 128  # bytes before the numbers of a .npy file


class Writer(Protocol):
    """Writes rows to a file that is open."""

    def __init__(self, file: BinaryIO) -> None: ...

    def write(self, ids: Sequence[Any], vectors: np.ndarray, notes: Sequence[str | None]) -> None:
        """Adds rows: ids and JSON texts [n] of vectors [n, d], float32."""

    def close(self) -> None:
        """Ends the file."""


class NpyWriter:
    """One float32 array [N, d] in NumPy's format; ids are not in it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._count, self._width = file, 0, 0
        file.write(bytes(_HEADER))  # written when the number of rows is known

    def write(self, ids: Sequence[Any], vectors: np.ndarray, notes: Sequence[str | None]) -> None:
        self._count, self._width = self._count + len(vectors), vectors.shape[1]
        self._file.write(vectors.astype("<f4", copy=False).tobytes())

    def close(self) -> None:
        text = repr({"descr": "<f4", "fortran_order": False, "shape": (self._count, self._width)})
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", _HEADER - 10))
        self._file.write(text.ljust(_HEADER - 11).encode() + b"\n")


class ParquetWriter:
    """Columns id (whole numbers, or text), vector (a list of fixed length, float32) and metadata (JSON as text)."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._writer = file, cast(Any, None)

    def write(self, ids: Sequence[Any], vectors: np.ndarray, notes: Sequence[str | None]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self._writer is None:
            kind = pa.int64() if all(isinstance(value, (int, np.integer)) for value in ids) else pa.string()
            vector = pa.list_(pa.float32(), vectors.shape[1])
            schema = pa.schema([("id", kind), ("vector", vector), ("metadata", pa.string())])
            self._writer = parquet.ParquetWriter(self._file, schema)
        schema = self._writer.schema
        if schema.field("id").type == pa.string():
            ids = [str(value).encode("utf-8", "backslashreplace").decode() for value in ids]
        flat = pa.array(np.ascontiguousarray(vectors).ravel(), pa.float32())
        columns = [pa.array(ids, schema.field("id").type), pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])]
        self._writer.write_table(pa.table([*columns, pa.array(notes, pa.string())], schema=schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


WRITERS: dict[str, type[Writer]] = {".npy": NpyWriter, ".parquet": ParquetWriter}
Write = Callable[[Sequence[Any], Any, Sequence[str | None]], None]


def check_ending(path: str | Path) -> None:
    """A `ValueError` unless vectors can be written to a file of this name; for use before long computations.

    >>> check_ending("vectors.txt")
    Traceback (most recent call last):
    ValueError: vectors.txt: the ending must be .npy or .parquet
    """
    ending = Path(path).suffix
    if ending not in WRITERS:
        raise ValueError(f"{path}: the ending must be {' or '.join(WRITERS)}")
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise ValueError(f"{path}: .parquet needs pyarrow: pip install pyarrow, or write .npy")


@contextmanager
def new_vectors(path: str | Path, *, overwrite: bool = False) -> Iterator[Write]:
    """A file of vectors that appears when the block ends well: write(ids, vectors [n, d], JSON texts) adds rows.

    Ids decide by the first rows whether they are whole numbers or text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with new_vectors(Path(folder) / "some.npy") as write:
    ...         write(["a"], np.ones((1, 2)), [None])
    ...         write(["b"], np.zeros((1, 2)), [None])
    ...     np.load(Path(folder) / "some.npy")
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    check_ending(path)
    with new_file(path, overwrite=overwrite) as name, name.open("wb") as file:
        writer, count = WRITERS[Path(path).suffix](file), 0

        def write(ids: Sequence[Any], vectors: Any, notes: Sequence[str | None]) -> None:
            nonlocal count
            if sparse.issparse(vectors):
                raise ValueError(
                    "the metric makes sparse vectors, which such files do not hold: fit it with a bounded width, "
                    "GraphMetric(n_components=128)"
                )
            count += len(vectors)
            writer.write(ids, np.asarray(vectors, dtype=np.float32), notes)

        yield write
        if not count:
            raise ValueError(f"{path} was not written: there are no graphs")
        writer.close()
