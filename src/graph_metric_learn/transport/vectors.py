"""Vectors: measures embedded as points of R^d, whose distance is the Euclidean one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .curves import Curves
from .devices import resolve_device
from .embedded import Embedded, check_values


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
