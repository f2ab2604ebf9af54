"""What the user gave as targets: from y or from the graphs, and what kind of task they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.validation import as_listed
from ..graphs import Graphs


def given_targets(graphs: Graphs, y: Any) -> np.ndarray | None:
    """y as an array [N] or [N, T], or what the graphs carry (`Data.y`), or None where there is nothing."""
    if y is None:
        return _carried(graphs)
    targets = target_array(as_listed("targets", y))
    if targets.ndim == 0 or len(targets) != len(graphs):
        count = len(targets) if targets.ndim else "one number as"
        raise ValueError(f"{len(graphs)} graphs, but {count} targets: give one per graph")
    return targets


def _carried(graphs: Graphs) -> np.ndarray | None:
    """What all graphs carry as targets; None where no graph does."""
    if graphs.y is None or graphs.y.dtype.kind != "O":
        return graphs.y
    lacking = [i for i, one in enumerate(graphs.y) if one is None]
    if len(lacking) == len(graphs):
        return None
    if lacking:
        raise ValueError(
            f"graph {lacking[0]} carries no y, others do ({len(lacking)} of {len(graphs)} without): pass y, or leave "
            'them out; to learn without targets, task="none"'
        )
    return target_array(graphs.y.tolist())


def target_array(y: Any) -> np.ndarray:
    """Targets as an array, of objects only where entries are missing, or strings are mixed with numbers.

    >>> target_array(["a", float("nan")])  # NumPy alone would make a class "nan"
    array(['a', nan], dtype=object)
    """
    y = as_listed("targets or groups", y)
    if hasattr(y, "detach"):
        y = y.detach().cpu()
        y = (y.float() if str(y.dtype) == "torch.bfloat16" or "float8" in str(y.dtype) else y).numpy()
    try:
        array = np.asarray(y)
    except ValueError:
        raise ValueError("targets must be one number or string per graph, or rows of the same length") from None
    if array.dtype.kind == "S" or (array.dtype.kind == "O" and any(isinstance(one, bytes) for one in array.flat)):
        raise ValueError("targets are bytes: decode them to strings first, as in [one.decode() for one in y]")
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray):
        array = np.asarray(y, dtype=object)
    if array.dtype.kind != "O":
        return array
    entries = array.reshape(-1).tolist()
    texts = {isinstance(one, str) for one in entries}
    if len(texts) != 1 or any(is_missing(one) for one in entries):
        return array
    plain = np.array(entries, dtype=str if texts == {True} else None)
    return plain.reshape(array.shape) if plain.size == array.size else array


def is_missing(value: Any) -> bool:
    """Whether a target is None, NaN, or pandas' NA or NaT: what does not equal itself."""
    same = value == value
    return value is None or not isinstance(same, (bool, np.bool_)) or not same


def task_of(y: np.ndarray | None) -> str:
    """What "auto" stands for: classes for strings and whole numbers, numbers for others, none without targets.

    The rule of scikit-learn's `type_of_target`, but some may be missing (NaN, None); several columns are labels if they
    hold 0 and 1 alone, else numbers.

    >>> task_of(np.array(["a", "b"])), task_of(np.array([0.5, None, 1.2])), task_of(None)
    ('classes', 'numbers', 'none')
    >>> task_of(np.array([[0, 1], [1, np.nan]])), task_of(np.array([[0, 2], [1, 1]]))
    ('labels', 'numbers')
    """
    if y is None:
        return "none"
    if y.ndim > 1 and y.shape[1] > 1:
        return "labels" if _is_table(y) else "numbers"
    values = y
    if y.dtype.kind == "O":
        there = [one for one in y.reshape(-1).tolist() if not is_missing(one)]
        try:
            values = y if any(isinstance(one, str) for one in there) else np.array(there, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):  # not numbers, or one of hundreds of digits
            return "classes"
    fractions = values.dtype.kind == "f" and (np.isfinite(values) & (values != np.rint(values))).any()
    return "numbers" if fractions else "classes"


def _is_table(y: np.ndarray) -> bool:
    """Whether entries [N, T] are 0, 1 or missing."""
    entries = y.reshape(-1)
    if y.dtype.kind == "O":
        there = {one for one in entries.tolist() if not is_missing(one)}
        return bool(there) and all(isinstance(one, (int, float, np.number)) and one in (0, 1) for one in there)
    if y.dtype.kind not in "biuf":
        return False
    known = entries[np.isfinite(entries)] if y.dtype.kind == "f" else entries
    return known.size > 0 and bool(((known == 0) | (known == 1)).all())
