"""Distance matrices to files, block by block: they may be larger than memory, and go on where they were interrupted."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._core.files import clear_disk_errors, locked, new_file, reserve, sync
from .._core.parallel import in_parallel
from .._core.progress import progress_bar
from ..transport import Embedded, pairwise_distances

_BLOCK_BYTES = 2**27
_BLOCK_ROWS = 4096  # rows and columns of a block

Block = tuple[int, int]  # indices of its first row and column


def write_npy(path: Path, rows: Embedded, columns: Embedded | None, *, rounding: float = 0.0) -> None:
    """All distances as float32 [N, M] in NumPy's format; the file appears when it is complete.

    Finished blocks are kept in a hidden folder beside it: the same call goes on from there after an interruption.
    Inside `joblib.parallel_config`, blocks are computed by its workers.

    Parameters
    ----------
    path : Path
    rows, columns : Curves or Vectors
        Without columns, distances within `rows`: symmetric, each pair computed once.
    rounding : float
        Distances below are rounding errors, and count as 0.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.mkdir(exist_ok=True)
    with clear_disk_errors(path), locked(partial) as alone:
        if not alone:
            raise ValueError(f"another process is writing {path.name}")
        try:
            _write(path, partial, rows, columns, rounding)
        except BaseException:
            log = partial / "done"
            if not log.exists() or log.stat().st_size == 0:  # nothing to go on from
                shutil.rmtree(partial, ignore_errors=True)
            raise


def _write(path: Path, partial: Path, rows: Embedded, columns: Embedded | None, rounding: float) -> None:
    """All of `write_npy` that happens in the hidden folder."""
    shape = (len(rows), len(rows if columns is None else columns))
    done = _opened(partial, shape, _fingerprint(rows, columns, rounding))
    matrix = np.lib.format.open_memmap(partial / "matrix.npy", mode="r+")
    todo = [block for block in _blocks(shape, symmetric=columns is None) if block not in done]
    results = in_parallel(_distances, todo, (rows, columns))
    with (partial / "done").open("a") as log, progress_bar(None, total=len(todo), unit="block", delay=2.0) as bar:
        for (row, column), block in zip(todo, results, strict=True):
            block[block < rounding] = 0.0
            matrix[row : row + len(block), column : column + block.shape[1]] = block
            if columns is None and row != column:
                matrix[column : column + block.shape[1], row : row + len(block)] = block.T
            matrix.flush()
            log.write(f"{row} {column}\n")
            log.flush()
            os.fsync(log.fileno())
            bar.update()
    del matrix
    os.replace(partial / "matrix.npy", path)
    sync(path.parent)
    for name in ("done", "what.json"):
        (partial / name).unlink()
    partial.rmdir()


def _blocks(shape: tuple[int, int], *, symmetric: bool) -> Iterator[Block]:
    """All blocks; of a symmetric matrix, of those on and above the diagonal."""
    for row in range(0, shape[0], _BLOCK_ROWS):
        for column in range(row if symmetric else 0, shape[1], _BLOCK_ROWS):
            yield row, column


def _distances(sides: tuple[Embedded, Embedded | None], block: Block) -> np.ndarray:
    """The distances of one block."""
    rows, columns = sides
    row, column = block
    others = (rows if columns is None else columns)[column : column + _BLOCK_ROWS]
    within = columns is None and row == column
    part = rows[row : row + _BLOCK_ROWS]
    return np.asarray(pairwise_distances(part, None if within else others, progress=False))


def _opened(partial: Path, shape: tuple[int, int], what: str) -> set[Block]:
    """Blocks that are finished in the hidden folder; it is made anew where it holds something else, or is damaged."""
    wanted: dict[str, Any] = {"what": what, "shape": list(shape), "rows": _BLOCK_ROWS}
    matrix, described, log = partial / "matrix.npy", partial / "what.json", partial / "done"
    try:
        array = np.load(matrix, mmap_mode="r")
        if json.loads(described.read_text()) == wanted and array.shape == shape and array.dtype == np.float32:
            text = log.read_text()
            text = text[: text.rfind("\n") + 1]  # a line that was cut off does not count
            log.write_text(text)
            return {block for block in _blocks(shape, symmetric=False) if f"{block[0]} {block[1]}" in text.split("\n")}
    except (OSError, ValueError):
        pass
    for path in (described, log, matrix):
        path.unlink(missing_ok=True)
    np.lib.format.open_memmap(matrix, mode="w+", dtype=np.float32, shape=shape)
    reserve(matrix, matrix.stat().st_size)
    log.write_text("")
    described.write_text(json.dumps(wanted))  # last: without it, nothing of this is used
    sync(described)
    sync(partial)
    return set()


def _fingerprint(rows: Embedded, columns: Embedded | None, rounding: float) -> str:
    """A hash of all that the matrix depends on."""
    digest = hashlib.sha256(repr(rounding).encode())
    for side in (rows, columns):
        for name, array in sorted(({} if side is None else side.arrays()).items()):
            digest.update(f"{name} {array.shape} {array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_csv(
    path: Path, rows: Embedded, columns: Embedded | None, names: Sequence[str], column_names: Sequence[str], *,
    rounding: float = 0.0,
) -> None:  # fmt: skip
    """All distances as CSV with the names of the graphs in the first row and column; see :func:`write_npy`."""
    others = rows if columns is None else columns
    step = max(1, _BLOCK_BYTES // (4 * len(others)))
    with new_file(path, overwrite=True) as name, name.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["graph", *column_names])
        for lo in range(0, len(rows), step):
            block = pairwise_distances(rows[lo : lo + step], others)
            block[block < rounding] = 0.0
            for i, row in enumerate(block, start=lo):
                writer.writerow([names[i], *(f"{value:.6g}" for value in row)])
