"""Targets of graphs that are added to reference graphs: checked as in `fit`, and of the same type as those there."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..graphs import Graphs
from ..objectives.classes import check_classes
from ..objectives.numbers import check_numbers
from ..objectives.targets import given_targets

_TYPES = {"U": "strings", "b": "True or False", "i": "numbers", "u": "numbers", "f": "numbers"}  # by `dtype.kind`
_DIFFERENT = (0.0, 1.0)  # numbers that are checked along with those given, which may all be the same


def added_classes(graphs: Graphs, y: Any, classes: np.ndarray) -> np.ndarray:
    """Class labels of more graphs [N], in the type of the classes that are there; they may be new.

    They are checked along with two of these, since `fit` wants two classes at least.
    """
    found = _given(graphs, y, ())
    if found.dtype.kind != "O" and _type_of(found) != _type_of(classes):
        raise ValueError(
            f"labels are {_type_of(found)}, those of the reference graphs {_type_of(classes)}: give labels of one type"
        )
    check_classes(*_with(np.concatenate([found, classes[:2]])))
    return _as_whole(found, classes) if classes.dtype.kind in "iu" else found


def added_numbers(graphs: Graphs, y: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of more graphs [N, *shape], float64; of several, some may be missing."""
    found = _given(graphs, y, shape)
    others = np.broadcast_to(np.reshape(_DIFFERENT, (2, *(1 for _ in shape))), (2, *shape))
    if found.dtype.kind not in "biuf":  # `check_numbers` says what is wrong, or makes numbers of them
        found, others = found.astype(object), others.astype(object)
    return check_numbers(*_with(np.concatenate([found, others])))[: len(found)]


def _given(graphs: Graphs, y: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What was given or what the graphs carry [N, *shape], not checked further."""
    found = given_targets(graphs, y)
    if found is None:
        raise ValueError("no labels: pass y, or graphs that carry them (Data.y)")
    found = found[:, 0] if found.ndim == 2 and shape == () and found.shape[1] == 1 else found
    if found.shape != (len(graphs), *shape):
        raise ValueError(f"{len(graphs)} graphs, but labels of shape {found.shape}")
    return found


def _with(targets: np.ndarray) -> tuple[Any, np.ndarray]:
    """Arguments of a check of targets; of the graphs it asks for their number alone."""
    return cast(Any, range(len(targets))), targets


def _type_of(labels: np.ndarray) -> str:
    return _TYPES.get(labels.dtype.kind, f"of type {labels.dtype}")


def _as_whole(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Labels that are whole, as whole numbers that go with the classes without becoming fractions."""
    if np.result_type(labels, classes).kind in "iu":
        return labels
    found = labels.astype(classes.dtype)
    if (found != labels).any():
        raise ValueError(f"labels must be whole numbers of type {classes.dtype}, as those of the reference graphs are")
    return found
