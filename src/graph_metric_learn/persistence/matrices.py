"""Distance matrices to files, a block of rows at a time: they may be larger than memory."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._core.files import new_file, reserve
from ..transport import Embedded, pairwise_distances

_BLOCK_BYTES = 2**27


def write_npy(path: Path, rows: Embedded, columns: Embedded | None, *, rounding: float = 0.0) -> None:
    """All distances as float32 [N, M] in NumPy's format; the file appears when it is complete.

    Distances below `rounding` are rounding errors, and count as 0.
    """
    with new_file(path, overwrite=True) as name:
        shape = (len(rows), len(rows if columns is None else columns))
        matrix = np.lib.format.open_memmap(name, mode="w+", dtype=np.float32, shape=shape)
        reserve(name, name.stat().st_size)
        pairwise_distances(rows, columns, out=matrix)
        for row in matrix:
            row[row < rounding] = 0.0
        matrix.flush()


def write_csv(
    path: Path,
    rows: Embedded,
    columns: Embedded | None,
    names: Sequence[str],
    column_names: Sequence[str],
    *,
    rounding: float = 0.0,
) -> None:
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
