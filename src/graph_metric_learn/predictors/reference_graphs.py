"""The reference graphs of a predictor at one moment: growing makes another moment, and searches keep their own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch

from .._core.ragged import GrowingArray
from ..index.search import nearest, squares_to_all
from ..index.store import State, appended
from ..transport import Embedded, Vectors, kneighbors, pairwise_distances
from .base import joined_names

_ROUNDING = 1e-6  # share of the largest distance that is nothing but rounding
_LOOKED_AT = 100  # graphs for it


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
        """Their targets."""
        return None if self._y is None else self._y.rows

    @property
    def names(self) -> np.ndarray | None:
        """Their names."""
        return None if self._names is None else self._names.rows

    @cached_property
    def classes(self) -> np.ndarray:
        """The different targets."""
        return np.unique(self.y)

    @property
    def embedded(self) -> Embedded:
        """All of them as one; put together when somebody asks after they have grown."""
        if self._embedded is None:
            vectors = np.concatenate([segment.arrays["vectors"] for segment in self._state.segments])
            self._embedded = Vectors(torch.from_numpy(vectors), self._kind.numpy)
        return self._embedded

    def replaced(self, **fields: Any) -> ReferenceGraphs:
        """The same with another `embedded`, `y` or `names`."""
        known = {"embedded": self.embedded, "y": self.y, "names": self.names}
        return ReferenceGraphs(**{**known, **fields})

    def grown(self, more: Embedded, y: np.ndarray, names: np.ndarray | None) -> ReferenceGraphs:
        """These and more graphs, of these targets and names. One thread at a time may call this."""
        assert self._y is not None
        total = len(self) + len(more)
        if self._indexed and _is_plain(more):
            found = object.__new__(ReferenceGraphs)
            found._embedded, found._kind, found._count = None, self._kind, total
            found.__dict__["_state"] = appended(self._state, more.values.numpy(), range(len(self), total), None, None)
        else:
            found = ReferenceGraphs(Embedded.concatenate([self.embedded, more]))
        found._y = self._y.grown(y)
        if self._names is not None:
            rows = np.array([str(row) for row in range(len(self), total)], dtype=object)
            found._names = self._names.grown(rows if names is None else names)
        else:
            joined = joined_names(None, len(self), names, len(more))
            found._names = None if joined is None else GrowingArray(joined)
        if "classes" in self.__dict__:
            found.__dict__["classes"] = np.union1d(self.classes, y)
        return found

    def nearest(self, embedded: Embedded, k: int, device: Any) -> tuple[np.ndarray, np.ndarray]:
        """Distances and rows of the k nearest of each [N, k], nearest first, equal ones by row."""
        if not self._searched_here(embedded, device):
            return kneighbors(embedded, self.embedded, n_neighbors=k, device=device)
        queries = np.ascontiguousarray(embedded.values.numpy())
        assert self._state.axes is not None
        found, rows = nearest(self._state.segments, self._state.axes.coordinates(queries), queries, k)
        return found.astype(np.float32), rows

    def distances(self, embedded: Embedded, device: Any) -> np.ndarray:
        """Distances to all of them [N, R]."""
        if not self._searched_here(embedded, device):
            return pairwise_distances(embedded, self.embedded, device=device)
        squares = [squares_to_all(self._state.segments, query) for query in embedded.values.numpy()]
        return np.sqrt(np.array(squares).reshape(len(embedded), len(self))).astype(np.float32)

    @cached_property
    def rounding(self) -> float:
        """A distance that is nothing but rounding: graphs that differ by their numbering are equally near."""
        if self._embedded is not None:
            some = self._embedded[: min(_LOOKED_AT, len(self))]
        else:
            first = np.concatenate([segment.arrays["vectors"][:_LOOKED_AT] for segment in self._state.segments])
            some = Vectors(torch.from_numpy(first[:_LOOKED_AT]), True)
        return _ROUNDING * float(np.max(pairwise_distances(some), initial=0.0))

    @property
    def _indexed(self) -> bool:
        """Whether they are rows of an index, or can be."""
        return self._embedded is None or _is_plain(self._embedded)

    @cached_property
    def _state(self) -> State:
        """Rows of an index that are the vectors themselves, not a copy."""
        return appended(State(), self.embedded.values.numpy(), range(len(self)), None, None)

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
