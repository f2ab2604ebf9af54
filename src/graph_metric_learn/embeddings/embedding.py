"""Embeddings: clouds of points become vectors, and the distance of two clouds is that of their vectors.

Embeddings of points in space have one form. A cloud fills S slots: slot s takes point i with share w[s, i], the shares
of a slot add up to 1, and each point's shares to S / n. The vector lists the means of the slots, Σ_i w[s, i] x_i,
divided by √S. So two clouds are compared slot by slot: d² = 1/S Σ_s |mean_s − mean'_s|². Embeddings differ only in how
points are assigned to slots.

A histogram is for points that are equal or not, without anything in between: each different point is a slot.
"""

from __future__ import annotations

import inspect
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from .._core.ragged import offsets
from .._core.registry import Registry
from .._core.schema import FieldError, Saved, read

Pair = tuple[np.ndarray, np.ndarray]  # arrays of two clouds
_N_POINTS = 3000  # points that an embedding is fitted to, at most


class Embedding:
    """What all embeddings share. Each is fitted to the points of many clouds, without labels, and then takes any cloud.

    A new one is a subclass in the registry, ``@EMBEDDINGS.register("name")``: it needs a `name` in words, and either
    `shares`, or `vectors` (and `plan` and `attribute`, if distances are to be explained). Options of its constructor
    are kept as attributes of the same name.
    """

    name: ClassVar[str]
    takes_columns: ClassVar[bool] = False  # names of points (trees) instead of points in space
    supervised: ClassVar[bool | None] = None  # False where `GraphMetric` takes it only by its name
    option_types: ClassVar[dict[str, Any]] = {}  # what options in files may be, as msgspec knows types
    fitted_type: ClassVar[type[Saved] | None] = None  # what `fit` learns: arrays, by the name of the attribute

    def fit(self, points: Any, sizes: np.ndarray, rng: np.random.Generator) -> Embedding:
        """Learns what it needs from the points [S, q] of clouds of these sizes [G]."""
        return self

    def shares(self, x: np.ndarray) -> np.ndarray:
        """How much of each slot each point of a cloud [n, q] has [slots, n]; rows add up to 1."""
        kind = type(self).__name__
        raise NotImplementedError(f"{kind} defines no shares, or plan and attribute: distances cannot be explained")

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Vectors of clouds with equal masses.

        Parameters
        ----------
        points : ndarray [S, q]
            Of all clouds, one after the other.
        sizes : ndarray [G]
            How many points each cloud has.

        Returns
        -------
        vectors : ndarray [G, slots, q], float32
            Or sparse rows [G, columns].
        """
        result = []
        for start, end in pairwise(offsets(sizes)):
            shares = self.shares(points[start:end])
            result.append(shares @ points[start:end] / np.sqrt(len(shares)))
        return np.array(result, dtype=np.float32)

    def plan(self, x: Any, z: Any) -> np.ndarray:
        """How much mass of each point of a cloud [n, q] is compared with each point of another [m, q]; adds up to 1."""
        left, right = self.shares(x), self.shares(z)
        return left.T @ right / len(left)

    def attribute(self, x: Any, z: Any, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each point of two clouds adds [n], [m] to ⟨gradient, vector of x − vector of z⟩ [slots, q].

        Each of the two adds up to all of it. A point of x is compared, in each slot that it is in, with the mean of z.
        """
        return attribute_slots(x, z, self.shares(x), self.shares(z), gradient)

    def attribute_columns(self, x: np.ndarray, z: np.ndarray, gradient: np.ndarray) -> Pair | None:
        """Slopes of the points of two clouds, for embeddings without slots; None: all blocks have the same share.

        Slopes [n, q] and [m, q] are such that Σ slope · x − Σ slope · z is ⟨gradient, vector of x − vector of z⟩.
        """
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """What was fitted, by the name of the attribute."""
        names = () if self.fitted_type is None else self.fitted_type.__struct_fields__
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def set_arrays(self, arrays: dict[str, np.ndarray], columns: int) -> None:
        """Restores what `arrays` returned, for points with so many columns. It comes from a file: a `ValueError` for
        what it cannot be.
        """
        if self.fitted_type is not None:
            saved = read(self.fitted_type, arrays, columns=columns)
            for name in arrays:
                setattr(self, name, getattr(saved, name))
            return
        for name, value in arrays.items():
            if name.startswith("_") or hasattr(type(self), name):
                raise FieldError(name, "is not known")
            setattr(self, name, value)
        if set(self.arrays()) != set(arrays):
            raise FieldError(", ".join(sorted(arrays)) or "arrays", f"are not those of {self.name}")

    def width(self, columns: int) -> int | None:
        """How many coordinates vectors of clouds of such points have, by which files are checked; None if unknown."""
        return None

    def options(self) -> dict[str, Any]:
        """What the constructor was given."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}


EMBEDDINGS: Registry[type[Embedding]] = Registry("embedding")


def attribute_slots(x: np.ndarray, z: np.ndarray, left: np.ndarray, right: np.ndarray, gradient: np.ndarray) -> Pair:
    """What :meth:`Embedding.attribute` returns, from the shares of the slots [slots, n], [slots, m]."""
    gradient = gradient.reshape(len(left), -1) / np.sqrt(len(left))
    source = left * (gradient @ x.T - np.sum(gradient * (right @ z), axis=1, keepdims=True))
    target = right * (np.sum(gradient * (left @ x), axis=1, keepdims=True) - gradient @ z.T)
    return source.sum(0), target.sum(0)


def restore(kind: str, options: dict[str, Any], arrays: dict[str, np.ndarray], columns: int) -> Embedding:
    """The fitted embedding that `options` and `arrays` came from, for points [n, columns]."""
    home = EMBEDDINGS[kind]
    parameters = inspect.signature(home).parameters
    for name, value in options.items():
        if name not in parameters:
            raise FieldError(f"options.{name}", "is not known")
        read(home.option_types.get(name, Any), value, f"options.{name}")
    embedding = home(**options)
    embedding.set_arrays(arrays, columns)
    return embedding


def subsample(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """At most 3000 of the points [S, q], in their order [s, q]."""
    return points if len(points) <= _N_POINTS else points[np.sort(rng.permutation(len(points))[:_N_POINTS])]


class Mean(Embedding):
    """The mean of the points: one slot for all."""

    name = "mean"

    def shares(self, x: np.ndarray) -> np.ndarray:
        return np.full((1, len(x)), 1.0 / len(x))

    def vectors(self, points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        sums = np.add.reduceat(points, offsets(sizes)[:-1], axis=0, dtype=np.float64)
        return (sums / sizes[:, None]).astype(np.float32)[:, None, :]

    def width(self, columns: int) -> int:
        return columns
