"""What edges carry: labels, vectors, weights and directions, as flat as the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._core.ragged import concatenated_ranges, offsets


@dataclass(frozen=True)
class EdgeData:
    """What the edges of many graphs carry, beside being there.

    Attributes
    ----------
    ends : ndarray [2, A]
        Tail and head of each arc, as rows of all nodes together, in the order of graphs. Without directions every edge
        stands there in both orientations, with the same data. Parallel edges are several arcs. No arc is a loop.
    directed : bool
        Whether the orientation means something.
    labels : ndarray [A, L] or None
        Discrete labels, whole numbers or strings, L of them per edge.
    x : ndarray [A, q] or None
        Vectors, float32 or float64, as they came.
    weights : ndarray [A] or None
        Weights, float64, of any sign; None where all are 1.
    columns : tuple of str or None
        Names of the columns of x; None where they have none.
    """

    ends: np.ndarray
    directed: bool = False
    labels: np.ndarray | None = None
    x: np.ndarray | None = None
    weights: np.ndarray | None = None
    columns: tuple[str, ...] | None = None

    def check(self, sizes: np.ndarray) -> None:
        """A `ValueError` unless the arrays fit together and to graphs of these sizes."""
        nodes, count = int(sizes.sum()), self.ends.shape[-1]
        if self.ends.ndim != 2 or len(self.ends) != 2:
            raise ValueError(f"ends of edges must have the shape [2, A], got {list(self.ends.shape)}")
        if self.ends.dtype.kind not in "iu":
            raise ValueError(f"ends of edges must be whole numbers, got {self.ends.dtype}")
        if count and not 0 <= self.ends.min() <= self.ends.max() < nodes:
            raise ValueError(f"ends of edges must lie between 0 and {nodes - 1}, the last of the nodes")
        owner = np.repeat(np.arange(len(sizes)), sizes)[self.ends]
        if (owner[0] != owner[1]).any():
            raise ValueError("edges must join nodes of the same graph")
        if (np.diff(owner[0]) < 0).any():
            raise ValueError("edges must come in the order of their graphs")
        for name, array, ndim in (("labels", self.labels, 2), ("x", self.x, 2), ("weights", self.weights, 1)):
            if array is not None and (array.ndim != ndim or len(array) != count):
                raise ValueError(f"{name} of {count} edges have the shape {list(array.shape)}")
        for name, array in (("x", self.x), ("weights", self.weights)):
            if array is not None and not np.isfinite(array).all():
                raise ValueError(f"{name} of edges must be finite")

    @property
    def carries(self) -> list[str]:
        """What there is, in words."""
        found = {"labels": self.labels, "vectors": self.x, "weights": self.weights}
        return [name for name, value in found.items() if value is not None] + ["directions"] * self.directed

    @staticmethod
    def concatenate(parts: Sequence[EdgeData], starts: np.ndarray) -> EdgeData:
        """That of several collections, whose nodes start at these rows."""
        first = parts[0]
        for name in ("directed", "columns"):
            if any(getattr(part, name) != getattr(first, name) for part in parts):
                raise ValueError(f"edges of collections differ in what is {name}")

        def joined(name: str) -> np.ndarray | None:
            found = [getattr(part, name) for part in parts]
            if any((one is None) != (found[0] is None) for one in found):
                raise ValueError(f"edges of some collections have {name}, of others not")
            if found[0] is not None and any(one.shape[1:] != found[0].shape[1:] for one in found):
                raise ValueError(f"edges of collections differ in the columns of {name}")
            return None if found[0] is None else np.concatenate(found)

        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([np.ones(p.ends.shape[1]) if p.weights is None else p.weights for p in parts])
        ends = np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=False)], axis=1)
        return replace(first, ends=ends, labels=joined("labels"), x=joined("x"), weights=weights)

    def starts(self, sizes: np.ndarray) -> np.ndarray:
        """Where the arcs of each graph start, and the end of the last [G + 1]; computed once."""
        found = self.__dict__.get("_starts")
        if found is None or len(found) != len(sizes) + 1:
            owner = np.repeat(np.arange(len(sizes)), sizes)[self.ends[0]]
            found = offsets(np.bincount(owner, minlength=len(sizes)))
            object.__setattr__(self, "_starts", found)
        return found

    def part(self, which: np.ndarray, sizes: np.ndarray) -> EdgeData:
        """Those of chosen graphs [G'], of graphs of these sizes [G]; one may be chosen several times."""
        starts = self.starts(sizes)
        counts = starts[which + 1] - starts[which]
        rows = concatenated_ranges(starts[which], counts)
        shift = np.repeat(offsets(sizes[which])[:-1] - offsets(sizes)[which], counts)
        return replace(
            self,
            ends=self.ends[:, rows] + shift,
            labels=None if self.labels is None else self.labels[rows],
            x=None if self.x is None else self.x[rows],
            weights=None if self.weights is None else self.weights[rows],
        )
