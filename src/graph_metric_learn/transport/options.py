"""Options that the functions of many measures share, as one frozen type, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from .._core.validation import one_of
from ..linalg.precision import check_precision
from .curves import DISTANCES, resolve
from .ordering import check_ties


@dataclass(frozen=True, kw_only=True)
class CurveOptions:
    """How clouds become curves; the meaning of each option is in :func:`as_curves`."""

    metric: str = "rpw"
    n_projections: int = 50
    projections: Any = None
    seed: Any = None
    ties: str = "canonical"

    def __post_init__(self) -> None:
        one_of("metric", self.metric, DISTANCES)
        check_ties(self.ties)

    def directions(self, dim: int, like: Tensor) -> tuple[Tensor | None, str]:
        """Directions [p, M] (None: the canonical axes) and what curves carry: "points" or "projections"."""
        return resolve(self.metric, dim, self.n_projections, self.projections, self.seed, like)


@dataclass(frozen=True, kw_only=True)
class PairOptions(CurveOptions):
    """How the distances of many pairs are computed; the meaning is in :func:`pairwise_distances`."""

    weights: Any = None
    other_weights: Any = None
    device: Any = "auto"
    precision: str = "float32"
    progress: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_precision(self.precision)


def check_out(out: Any, shape: tuple[int, int]) -> None:
    """A `ValueError` unless `out` can hold a matrix of distances of this shape."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype.kind != "f" or not out.flags.writeable:
        raise ValueError(f"out must be a writeable NumPy array of floating-point numbers of shape {shape}")
