"""The base of what measures are embedded as: items of a Hilbert space, whose L2 distance is that of the measures.

Two kinds: `Curves` (step functions along directions, see `curves`) and `Vectors` (points of R^d). Functions that
compare embedded measures take either kind, the same on both sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from .devices import resolve_device

if TYPE_CHECKING:
    from .curves import Curves

Kind = TypeVar("Kind", bound="Embedded")

# Squares and sums of numbers up to these are finite in the same precision.
LARGEST = {torch.float32: 1e18, torch.float64: 1e150}


class Embedded(ABC):
    """A list of embedded measures: what all kinds have in common."""

    values: Tensor  # [S, …]: the numbers of all items, one item after the other
    numpy: bool  # whether results go back to the caller as NumPy arrays
    kind: str  # what the items are called in error messages

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self: Kind, which: int | slice | np.ndarray) -> Kind:
        """The chosen items, by index, slice or array of indices."""

    def __iter__(self: Kind) -> Iterator[Kind]:
        return (self[g : g + 1] for g in range(len(self)))

    @abstractmethod
    def as_step_functions(self) -> Curves:
        """The same items as step functions, the one form that the engines compute with; distances stay the same."""

    @abstractmethod
    def to(self: Kind, device: Any) -> Kind:
        """The same items on another device."""

    @property
    def device(self) -> torch.device:
        return self.values.device

    @property
    def wants_grad(self) -> bool:
        """Whether results must be differentiable with respect to the items."""
        return self.values.requires_grad and torch.is_grad_enabled()

    @staticmethod
    def concatenate(parts: Sequence[Kind]) -> Kind:
        """The items of all parts, one part after the other; all of one kind."""
        check_one_kind(parts)
        return parts[0]._concatenated(parts)

    @abstractmethod
    def _concatenated(self: Kind, parts: Sequence[Kind]) -> Kind:
        """The items of parts of this kind, one part after the other."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """All that makes up the items, as NumPy arrays by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls: type[Kind], arrays: dict[str, np.ndarray]) -> Kind:
        """The items that `arrays` came from, on the CPU, with results as NumPy arrays."""

    def check_numbers(self) -> None:
        """A `ValueError` unless all numbers are finite and small enough to be squared; looked at once per object.

        The constructor looks at shapes alone, since pieces are made all the time; compiled loops and matrix products
        are reached through functions that ask for this.
        """
        if "_checked" not in self.__dict__:
            self._check_numbers()
            self.__dict__["_checked"] = True

    def _check_numbers(self) -> None:
        bad = first_bad_row(self.values)
        if bad is not None:
            raise ValueError(
                f"values holds numbers in row {bad} that are NaN, infinite or beyond {LARGEST[self.values.dtype]:g}"
            )

    def wrap(self, tensor: Tensor) -> Any:
        """A result in the kind of array the caller works with."""
        return tensor.detach().cpu().numpy() if self.numpy else tensor


@dataclass(frozen=True)
class Vectors(Embedded):
    """N points of R^d.

    Attributes
    ----------
    values : Tensor [N, d]
        One point per row, float32 or float64.
    numpy : bool
        Whether results go back to the caller as NumPy arrays.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> vectors = Vectors(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    >>> gml.pairwise_distances(vectors)
    tensor([[0., 5.],
            [5., 0.]])
    """

    values: Tensor
    numpy: bool = False

    kind = "vectors"

    def __post_init__(self) -> None:
        check_values(self.values, 2, "[N, d]: one vector per row")

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, which: int | slice | np.ndarray) -> Vectors:
        """The chosen vectors, by index, slice or array of indices."""
        if not isinstance(which, slice) or which.step not in (None, 1):
            rows = np.atleast_1d(np.arange(len(self))[which])
            return replace(self, values=self.values[torch.from_numpy(rows).to(self.values.device)])
        return replace(self, values=self.values[which])

    def as_step_functions(self) -> Curves:
        """Constant functions: curves of one step along one direction."""
        from .curves import Curves

        return Curves(self.values[:, None, :], np.ones(len(self), dtype=np.int64), None, self.numpy)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"values": self.values.detach().cpu().numpy()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Vectors:
        return cls(torch.from_numpy(arrays["values"]), numpy=True)

    def to(self, device: Any) -> Vectors:
        """The same vectors on another device."""
        return replace(self, values=self.values.to(resolve_device(device)))

    def _concatenated(self, parts: Sequence[Vectors]) -> Vectors:
        return replace(self, values=torch.cat([part.values for part in parts]))


def check_one_kind(parts: Sequence[Embedded]) -> None:
    """A `ValueError` unless all parts are of one kind."""
    kinds = sorted({part.kind for part in parts})
    if len(kinds) > 1:
        raise ValueError(f"{' and '.join(kinds)} cannot be compared or put together: use one kind")


def first_bad_row(values: Tensor) -> int | None:
    """The first row with a number that is NaN, infinite or too large; None if there is none."""
    flat = values.detach().flatten(1)
    if not flat.numel() or bool(flat.abs().max() <= LARGEST[values.dtype]):  # NaN is not
        return None
    return int((~(flat.abs() <= LARGEST[values.dtype])).any(1).nonzero()[0])


def check_values(values: Any, ndim: int, shape: str) -> None:
    """A `ValueError` unless the field `values` is a tensor of float32 or float64 numbers of the given shape.

    ndim: how many dimensions; none but the first may be empty. shape: how the error message describes it.
    """
    if not isinstance(values, Tensor) or values.dtype not in (torch.float32, torch.float64):
        what = f"a tensor of {values.dtype}" if isinstance(values, Tensor) else type(values).__name__
        raise ValueError(f"values must be a tensor of float32 or float64 numbers, got {what}")
    if values.ndim != ndim or 0 in values.shape[1:]:
        raise ValueError(f"values has shape {tuple(values.shape)}, expected {shape}")
