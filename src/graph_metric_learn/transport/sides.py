"""The two sides of a comparison of many measures, and the options: checked once, as curves on one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from torch import Tensor

from .._core.validation import one_of
from ..linalg.precision import check_precision
from .curves import DISTANCES, Curves, build_curves, resolve
from .devices import chosen_device
from .directions import near_origin, project
from .embedded import Embedded, check_one_kind
from .measures import Measures, as_measures, in_common
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

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> PairOptions:
        """The options among all arguments of a function, by name."""
        return cls(**{option.name: arguments[option.name] for option in fields(cls)})


def check_out(out: Any, shape: tuple[int, int]) -> None:
    """A `ValueError` unless `out` can hold a matrix of distances of this shape."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype.kind != "f" or not out.flags.writeable:
        raise ValueError(f"out must be a writeable NumPy array of floating-point numbers of shape {shape}")


def both_sides(measures: Any, others: Any, options: PairOptions) -> tuple[Curves, Curves | None]:
    """Curves of both sides, on the device that was asked for; None for others: the comparison is within `measures`."""
    sides = [side for side in (measures, others) if side is not None]
    if others is None and options.other_weights is not None:
        raise ValueError("other_weights were given without others")
    if all(isinstance(side, Embedded) for side in sides):
        curves = _embedded_sides(sides, options)
    elif any(isinstance(side, Embedded) for side in sides):
        raise ValueError("give curves on both sides or clouds on both sides")
    else:
        curves = _cloud_sides(measures, others, options)
    return curves[0], curves[1] if len(curves) == 2 else None


def _embedded_sides(sides: list[Embedded], options: PairOptions) -> list[Curves]:
    """Curves of one side or two that are embedded already."""
    check_one_kind(sides)
    first, kind = sides[0], sides[0].kind
    if options.ties == "optimal":
        raise ValueError(f'ties="optimal" depends on both measures of a pair: give the clouds, not their {kind}')
    if options.weights is not None or options.other_weights is not None or options.projections is not None:
        raise ValueError(f"weights and projections are part of {kind} already: give them to as_curves()")
    if not all(len(side) for side in sides):
        raise ValueError(f"no {kind} were given: pass at least one on each side")
    shape, shape2 = (tuple(side.values.shape[1:]) for side in (first, sides[-1]))
    if shape != shape2:
        what = " (directions, coordinates)" if kind == "curves" else ""
        raise ValueError(f"{kind} of shape {shape} and {shape2}{what} cannot be compared: build both in the same way")
    if first.device != sides[-1].device:
        raise ValueError(f"{kind} on {first.device} and {sides[-1].device}: move one side with .to()")
    for side in sides:
        side.check_numbers()
    curves = [side.as_step_functions() for side in sides]
    work = _multiplications(curves, curves[0].values[0].numel())
    where = chosen_device(options.device, first.values, first.numpy, work)
    return [side.to(where) for side in curves]


def _cloud_sides(measures: Any, others: Any, options: PairOptions) -> list[Curves]:
    """Curves of one list of clouds or two."""
    if options.ties == "optimal":
        raise ValueError('ties="optimal" is available for pairwise_distances and single pairs only')
    sides = measured_sides(measures, others, options)
    dim, points = sides[0].dim, sides[0].points
    width = (dim if options.metric == "rpw" else options.n_projections) * (1 if options.metric == "sw" else dim)
    where = chosen_device(options.device, points, sides[0].numpy, _multiplications(sides, width))
    directions, carry = options.directions(dim, points)
    directions = None if directions is None else directions.to(where)
    sides = [side.to(where) for side in sides]
    sides = sides if directions is None else near_origin(*sides)
    return [build_curves(side, project(side.points, directions), carry=carry, ties=options.ties) for side in sides]


def measured_sides(measures: Any, others: Any, options: PairOptions) -> list[Measures]:
    """One list of clouds or two, checked, in one dimension, kind and floating type."""
    u = as_measures(measures, options.weights)
    if others is None:
        return [u]
    v = as_measures(others, options.other_weights, names="others[{}]")
    return list(in_common(u, v, "measures", "others"))


def _multiplications(sides: Sequence[Curves | Measures], width: int) -> float:
    """About how many multiplications the products take; width: numbers per step of a curve."""
    sizes, sizes2 = sides[0].sizes, sides[-1].sizes
    return len(sizes) * len(sizes2) * min(sizes.mean(), sizes2.mean()) * width
