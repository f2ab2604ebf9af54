"""What is known about graphs beside their vectors: one JSON value per row, as text with the places where each ends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

ARRAYS = ("notes", "note_ends")


def checked_metadata(metadata: Any, count: int) -> list[Any] | None:
    """One value for each of `count` graphs: from a sequence of them, or from columns by name.

    >>> checked_metadata({"class": ["a", "b"], "mass": [1.0, 2.0]}, 2)
    [{'class': 'a', 'mass': 1.0}, {'class': 'b', 'mass': 2.0}]
    """
    if metadata is None:
        return None
    if isinstance(metadata, Mapping):
        for name, column in metadata.items():
            if isinstance(column, (str, bytes)) or not hasattr(column, "__len__") or len(column) != count:
                raise ValueError(f"metadata {name!r} must be a column with one value for each of the {count} graphs")
        return [{str(name): column[i] for name, column in metadata.items()} for i in range(count)]
    if isinstance(metadata, (str, bytes)) or not hasattr(metadata, "__len__") or len(metadata) != count:
        raise ValueError(f"metadata must have one value for each of the {count} graphs, or be columns by name")
    return list(metadata)


def encode(values: Sequence[Any]) -> dict[str, np.ndarray]:
    """Arrays of one value per row: class, name, number, or a dictionary of such."""
    texts = []
    for i, value in enumerate(values):
        try:
            texts.append(b"" if value is None else json.dumps(value, default=_plain, allow_nan=False).encode())
        except (TypeError, ValueError) as error:
            raise ValueError(f"metadata of graph {i} cannot be written as JSON: {error}") from None
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {"notes": np.frombuffer(b"".join(texts), np.uint8), "note_ends": ends}


def decode(arrays: Mapping[str, np.ndarray], rows: np.ndarray) -> list[Any]:
    """The values of these rows; None where nothing is known."""
    if "notes" not in arrays:
        return [None] * len(rows)
    notes, ends = arrays["notes"], arrays["note_ends"]
    texts = [notes[ends[row - 1] if row else 0 : ends[row]].tobytes() for row in rows]
    return [json.loads(text) if text else None for text in texts]


def _plain(value: Any) -> Any:
    """What JSON can hold for NumPy's numbers and arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not a number, a string, a list or a dictionary")
