"""Sparse arrays in files: as dense ones, and back."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..._core.fields import Arrays, FieldError


def sparse_arrays(vectors: sparse.csr_array) -> dict[str, np.ndarray]:
    """A sparse array as dense ones, for files."""
    return {
        "data": vectors.data,
        "columns": vectors.indices.astype(np.int64),
        "starts": vectors.indptr.astype(np.int64),
        "width": np.array([vectors.shape[1]], dtype=np.int64),
    }


def from_sparse_arrays(arrays: dict[str, np.ndarray], width: int | None = None) -> sparse.csr_array:
    """The sparse array that `sparse_arrays` came from, of so many columns, or a :class:`FieldError`."""
    held = Arrays(arrays)
    data = held.take("data", (None,))
    columns, starts = held.take("columns", data.shape, "i", least=0), held.take("starts", (None,), "i", least=0)
    found = int(held.take("width", (1,), "i", least=0)[0])
    held.done()
    if found != (found if width is None else width):
        raise FieldError("width", f"is {found}, expected {width}")
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(data) or (np.diff(starts) < 0).any():
        raise FieldError("starts", "do not ascend from 0 to the number of entries")
    if columns.max(initial=-1) >= found:
        raise FieldError("columns", f"holds {columns.max()}, but there are {found} columns")
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if (np.diff(columns)[np.diff(row) == 0] <= 0).any():
        raise FieldError("columns", "do not ascend within each row")
    return sparse.csr_array((data, columns, starts), shape=(len(starts) - 1, found))
