"""The reference graphs of a k-NN predictor: searched, grown, and what the targets of added graphs may be.

They are those of one moment: growing makes another moment, and searches go on in their own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
import torch

from .._core.ragged import GrowingArray
from ..graphs import Graphs
from ..index.rows import Batch, State, appended
from ..index.search import nearest, squares_to_all
from ..objectives.classes import check_classes
from ..objectives.labels import as_table
from ..objectives.numbers import check_numbers
from ..objectives.targets import given_targets
from ..transport import Embedded, Vectors, kneighbors, pairwise_distances

_ROUNDING = 1e-6  # share of the largest distance that is nothing but rounding
_LOOKED_AT = 100  # graphs for it
_TYPES = {"U": "strings", "b": "True or False", "i": "numbers", "u": "numbers", "f": "numbers"}  # by `dtype.kind`
_DIFFERENT = (0.0, 1.0)  # numbers that are checked along with those given, which may all be the same


class ReferenceGraphs:
    """Embedded graphs with their targets and names, as they were at one moment. Never changes.

    Vectors on the CPU are rows of an index: searched by it, and grown without being copied. All others are compared by
    :func:`kneighbors`.

    Parameters
    ----------
    embedded : Embedded
    y : ndarray [R] or [R, T], optional
    names : ndarray of str [R], optional
    """

    def __init__(self, embedded: Embedded, y: np.ndarray | None = None, names: np.ndarray | None = None) -> None:
        self._embedded: Embedded | None = embedded
        self._kind = embedded
        self._y = None if y is None else GrowingArray(y)
        self._names = None if names is None else GrowingArray(names)
        self._count = len(embedded)

    def __len__(self) -> int:
        return self._count

    @property
    def y(self) -> Any:
        """Their targets [R] or [R, T]."""
        return None if self._y is None else self._y.rows

    @property
    def names(self) -> np.ndarray | None:
        """Their names [R]."""
        return None if self._names is None else self._names.rows

    @cached_property
    def classes(self) -> np.ndarray:
        """The different targets [C]."""
        return np.unique(self.y)

    @property
    def embedded(self) -> Embedded:
        """All of them as one; put together when it is asked for after they have grown."""
        if self._embedded is None:
            self._embedded = Vectors(torch.from_numpy(self._state.arrays["vectors"]), self._kind.numpy)
        return self._embedded

    def replaced(self, **fields: Any) -> ReferenceGraphs:
        """The same with another `embedded`, `y` or `names`."""
        return ReferenceGraphs(**(self.__getstate__() | fields))

    def grown(self, more: Embedded, y: np.ndarray, names: np.ndarray | None) -> ReferenceGraphs:
        """These and more graphs, with targets [M] or [M, T] and names [M]. One thread at a time may call this."""
        assert self._y is not None
        total = len(self) + len(more)
        if self._indexed and _is_plain(more):
            grown = object.__new__(ReferenceGraphs)
            grown._embedded, grown._kind, grown._count = None, self._kind, total
            grown.__dict__["_state"] = appended(self._state, Batch(more.values.numpy()))
        else:
            grown = ReferenceGraphs(Embedded.concatenate([self.embedded, more]))
        grown._y, grown._names = self._y.grown(y), None
        if self._names is not None or names is not None:  # those without a name are called by their row
            before = GrowingArray(_row_names(0, len(self))) if self._names is None else self._names
            grown._names = before.grown(_row_names(len(self), total) if names is None else names)
        if "classes" in self.__dict__:
            grown.__dict__["classes"] = np.union1d(self.classes, y)
        return grown

    def nearest(self, embedded: Embedded, k: int, device: Any) -> tuple[np.ndarray, np.ndarray]:
        """Distances and rows of the k nearest of each [N, k], nearest first, equal ones by row."""
        if not self._searched_here(embedded, device):
            return kneighbors(embedded, self.embedded, n_neighbors=k, device=device)
        queries = np.ascontiguousarray(embedded.values.numpy())
        distances, rows = nearest(self._state, queries, k)
        return distances.astype(np.float32), rows

    def distances(self, embedded: Embedded, device: Any) -> np.ndarray:
        """Distances to all of them [N, R]."""
        if not self._searched_here(embedded, device):
            return pairwise_distances(embedded, self.embedded, device=device)
        squares = [squares_to_all(self._state, query) for query in embedded.values.numpy()]
        return np.sqrt(np.array(squares).reshape(len(embedded), len(self))).astype(np.float32)

    @cached_property
    def rounding(self) -> float:
        """A distance that is nothing but rounding, by these graphs: votes of graphs this near count as those of copies.

        Beside :attr:`BaseGraphMetric.rounding`, which says the same of a metric for all graphs.
        """
        if self._embedded is not None:
            some = self._embedded[: min(_LOOKED_AT, len(self))]
        else:
            some = Vectors(torch.from_numpy(self._state.arrays["vectors"][:_LOOKED_AT]), True)
        return _ROUNDING * float(np.max(pairwise_distances(some), initial=0.0))

    @property
    def _indexed(self) -> bool:
        """Whether they are rows of an index, or can be."""
        return self._embedded is None or _is_plain(self._embedded)

    @cached_property
    def _state(self) -> State:
        """Rows of an index that are the vectors themselves, not a copy."""
        return appended(State(), Batch(self.embedded.values.numpy()))

    def _searched_here(self, embedded: Embedded, device: Any) -> bool:
        on_gpu = device == "auto" and torch.cuda.is_available()
        return self._indexed and _is_plain(embedded) and str(device) in ("auto", "cpu") and not on_gpu

    def __getstate__(self) -> dict[str, Any]:
        return {"embedded": self.embedded, "y": self.y, "names": self.names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _is_plain(embedded: Embedded) -> bool:
    """Whether these are float32 vectors on the CPU, with results as NumPy arrays."""
    values = embedded.values
    is_plain = values.dtype == torch.float32 and values.device.type == "cpu" and not values.requires_grad
    return isinstance(embedded, Vectors) and embedded.numpy and is_plain


def _row_names(first: int, end: int) -> np.ndarray:
    return np.array([str(row) for row in range(first, end)], dtype=object)


# --- targets of graphs that are added: checked as in `fit`, and of the same type as those there ----------------------


def added_classes(graphs: Graphs, y: Any, classes: np.ndarray) -> np.ndarray:
    """Class labels of more graphs [N], in the type of the classes that are there; they may be new.

    They are checked along with two of these, since `fit` wants two classes at least.
    """
    labels = _targets_of(graphs, y, ())
    if labels.dtype.kind != "O" and _type_of(labels) != _type_of(classes):
        raise ValueError(
            f"labels are {_type_of(labels)}, those of the reference graphs {_type_of(classes)}: give labels of one type"
        )
    check_classes(*_with(np.concatenate([labels, classes[:2]])))
    return _as_whole(labels, classes) if classes.dtype.kind in "iu" else labels


def added_labels(graphs: Graphs, y: Any, count: int) -> np.ndarray:
    """So many labels of more graphs [N, T], 0, 1 or NaN."""
    return as_table(*_with(_targets_of(graphs, y, (count,))))


def added_numbers(graphs: Graphs, y: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of more graphs [N, *shape], float64; of several, some may be missing."""
    numbers = _targets_of(graphs, y, shape)
    others = np.broadcast_to(np.reshape(_DIFFERENT, (2, *(1 for _ in shape))), (2, *shape))
    if numbers.dtype.kind not in "biuf":  # `check_numbers` says what is wrong, or makes numbers of them
        numbers, others = numbers.astype(object), others.astype(object)
    return check_numbers(*_with(np.concatenate([numbers, others])))[: len(numbers)]


def _targets_of(graphs: Graphs, y: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Targets from y or from the graphs [N, *shape], not checked further."""
    targets = given_targets(graphs, y)
    if targets is None:
        raise ValueError("no labels: pass y, or graphs that carry them (Data.y)")
    if targets.ndim == 2 and shape == () and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.shape != (len(graphs), *shape):
        raise ValueError(f"{len(graphs)} graphs, but labels of shape {targets.shape}")
    return targets


def _with(targets: np.ndarray) -> tuple[Any, np.ndarray]:
    """Arguments of a check of targets; of the graphs it asks for their number alone."""
    return cast(Any, range(len(targets))), targets


def _type_of(labels: np.ndarray) -> str:
    return _TYPES.get(labels.dtype.kind, f"of type {labels.dtype}")


def _as_whole(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Labels that are whole, as whole numbers that go with the classes without becoming fractions."""
    if np.result_type(labels, classes).kind in "iu":
        return labels
    whole = labels.astype(classes.dtype)
    if (whole != labels).any():
        raise ValueError(f"labels must be whole numbers of type {classes.dtype}, as those of the reference graphs are")
    return whole
