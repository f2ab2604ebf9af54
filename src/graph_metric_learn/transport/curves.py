"""Curves: measures embedded as step functions, by walking through their points along a set of directions.

For a direction θ, walk through the points of μ in increasing order of <x, θ>, spending the time a_i at each point. That
is a step function Φ_θ(μ): [0, 1) → R^c. The monotone plan between μ and ν along θ pairs the two walks at equal times:

    d²(μ, ν) = mean over θ of ∫ |Φ_θ(μ)(t) − Φ_θ(ν)(t)|² dt

is RPW2² (canonical axes, the whole point carried), PW2² (directions on the sphere, the whole point carried) or SW2²
(directions on the sphere, only <x, θ> carried). Sorting happens here, once per measure; the rest is an L2 distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import concatenated_ranges, offsets
from .._core.validation import one_of
from .devices import chosen_device, resolve_device
from .directions import check_projections, project, sphere
from .embedded import Embedded, check_values
from .measures import Measures, as_measures
from .ordering import check_ties, sort_orders

DISTANCES = ("rpw", "pw", "sw")


@dataclass(frozen=True)
class Curves(Embedded):
    """G measures, each as one step function per direction, M of them, stored one after the other.

    Attributes
    ----------
    values : Tensor [S, M, c]
        The value of each step, float32 or float64; curve g has the rows offsets[g] … offsets[g + 1] - 1.
    sizes : ndarray [G]
        How many steps each curve has.
    steps : Tensor [S, M] or None
        How long each step lasts (float64, adding up to 1 per curve and direction); None when a curve's steps are equal.
    numpy : bool
        Whether results go back to the caller as NumPy arrays.
    """

    values: Tensor
    sizes: np.ndarray
    steps: Tensor | None = None
    numpy: bool = False

    kind = "curves"

    def __post_init__(self) -> None:
        check_values(self.values, 3, "[S, M, c]: steps, directions, coordinates")
        sizes = self.sizes
        if not isinstance(sizes, np.ndarray) or sizes.ndim != 1 or sizes.dtype.kind not in "iu":
            raise ValueError("sizes must be a one-dimensional NumPy array of whole numbers")
        if len(sizes) and sizes.min() < 1:
            raise ValueError(f"sizes holds {sizes.min()}: every curve has at least one step")
        total = sizes.sum()
        if total != len(self.values) or sizes.max(initial=0) > total:  # sums of huge numbers wrap around
            raise ValueError(f"sizes add up to {sizes.sum(dtype=float):.0f}, but values has {len(self.values)} rows")
        if self.steps is None:
            return
        if not isinstance(self.steps, Tensor) or not self.steps.is_floating_point():
            raise ValueError("steps must be a tensor of floating-point numbers")
        if self.steps.device != self.values.device:
            raise ValueError(f"steps are on {self.steps.device}, values on {self.values.device}: use one device")
        if self.steps.shape != self.values.shape[:2]:
            raise ValueError(f"steps has shape {tuple(self.steps.shape)}, expected {tuple(self.values.shape[:2])}")

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, which: int | slice | np.ndarray) -> Curves:
        """The chosen curves, by index, slice or array of indices."""
        if isinstance(which, slice) and which.step in (None, 1):
            lo, hi, _ = which.indices(len(self))
            rows: Any = slice(self.offsets[lo], self.offsets[max(lo, hi)])
        else:
            which = np.atleast_1d(np.arange(len(self))[which])
            rows = self._rows(which)
        steps = None if self.steps is None else self.steps[rows]
        return Curves(self.values[rows], self.sizes[which], steps, self.numpy)

    def _rows(self, which: np.ndarray) -> Tensor:
        """Rows of the chosen curves, one curve after the other; made on the device that holds the values."""
        device = self.values.device
        if device.type == "cpu":
            return torch.from_numpy(concatenated_ranges(self.offsets[which], self.sizes[which]))
        ends = offsets(self.sizes[which])
        shift, lengths = (torch.from_numpy(x).to(device) for x in (self.offsets[which] - ends[:-1], self.sizes[which]))
        total = int(ends[-1])
        return torch.arange(total, device=device) + torch.repeat_interleave(shift, lengths, output_size=total)

    @property
    def n_directions(self) -> int:
        return self.values.shape[1]

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each curve starts, and the end of the last [G + 1]."""
        return offsets(self.sizes)

    @cached_property
    def owners(self) -> Tensor:
        """Which curve each row belongs to [S]."""
        sizes = torch.as_tensor(self.sizes, device=self.device)
        return torch.arange(len(self), device=self.device).repeat_interleave(sizes, output_size=len(self.values))

    @cached_property
    def ends(self) -> Tensor:
        """The time at which each step ends [S, M] in float64; exactly 1 for the last step of each curve.

        Added up curve by curve, so that the ends of a curve do not depend on where it is stored.
        """
        device = self.values.device
        if self.steps is None:
            size, start = (torch.as_tensor(x, device=device)[self.owners] for x in (self.sizes, self.offsets))
            steps_done = torch.arange(1, len(self.values) + 1, device=device) - start
            return (steps_done.double() / size).unsqueeze(1).expand(-1, self.n_directions).contiguous()
        parts, rows = [], []
        for n in np.unique(self.sizes):
            some = np.flatnonzero(self.sizes == n)
            rows.append(concatenated_ranges(self.offsets[some], self.sizes[some]))
            steps = self.steps[torch.from_numpy(rows[-1]).to(device)].double()
            ends = steps.view(len(some), n, -1)[:, :-1].cumsum(1).clamp(max=1.0)
            parts.append(torch.cat([ends, ends.new_ones(len(some), 1, self.n_directions)], 1).flatten(0, 1))
        back = np.argsort(np.concatenate(rows))
        return torch.cat(parts)[torch.from_numpy(back).to(device)]

    @property
    def lengths(self) -> Tensor:
        """How long each step lasts [S, M] in float64, also where the steps are equal."""
        if self.steps is not None:
            return self.steps.double()
        size = torch.as_tensor(self.sizes, device=self.values.device)[self.owners]
        return (1.0 / size.double()).unsqueeze(1).expand(-1, self.n_directions)

    def _check_numbers(self) -> None:
        super()._check_numbers()
        if self.steps is None or not len(self):
            return
        steps = self.steps.detach().double()
        if not bool((steps >= 0).all()):  # NaN is not
            raise ValueError("steps must be numbers, none of them negative")
        totals = steps.new_zeros(len(self), self.n_directions).index_add(0, self.owners, steps)
        if not bool(((totals - 1).abs() <= 1e-3).all()):
            bad = int((~((totals - 1).abs() <= 1e-3)).any(1).nonzero()[0])
            raise ValueError(f"the steps of curve {bad} add up to {float(totals[bad, 0]):.6g}, expected 1")

    def as_step_functions(self) -> Curves:
        """Themselves."""
        return self

    def arrays(self) -> dict[str, np.ndarray]:
        steps = {} if self.steps is None else {"steps": self.steps.detach().cpu().numpy()}
        return {"values": self.values.detach().cpu().numpy(), "sizes": self.sizes, **steps}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Curves:
        steps = torch.from_numpy(arrays["steps"]) if "steps" in arrays else None
        return cls(torch.from_numpy(arrays["values"]), arrays["sizes"], steps, numpy=True)

    def to(self, device: Any) -> Curves:
        """The same curves on another device."""
        where = resolve_device(device)
        return replace(self, values=self.values.to(where), steps=None if self.steps is None else self.steps.to(where))

    @property
    def wants_grad(self) -> bool:
        """Whether results must be differentiable with respect to the values or the step lengths."""
        grad = self.values.requires_grad or (self.steps is not None and self.steps.requires_grad)
        return grad and torch.is_grad_enabled()

    @property
    def compiled(self) -> bool:
        """Whether the compiled kernels apply: on the CPU, without gradients."""
        return self.values.device.type == "cpu" and not self.wants_grad

    def _concatenated(self, parts: Sequence[Curves]) -> Curves:
        """The curves of all parts; equal steps in all parts, or in none."""
        steps = [part.steps for part in parts if part.steps is not None]
        if steps and len(steps) != len(parts):
            raise ValueError("curves with equal steps and curves with steps of any length cannot be put together")
        return Curves(
            torch.cat([part.values for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            torch.cat(steps) if steps else None,
            self.numpy,
        )


def have_equal_steps(u: Curves, v: Curves | None) -> bool:
    """Whether the steps of every curve of both sides are equal; only then do curves share a grid."""
    return u.steps is None and (v is None or v.steps is None)


def build_curves(measures: Measures, projections: Tensor, *, carry: str = "points", ties: str = "canonical") -> Curves:
    """Sorts every measure by the projections [S, M] of its points on each direction, see :func:`sort_orders`.

    The value of a curve at each point of the walk is, by `carry`, the point ("points", c = p) or its projection
    ("projections", c = 1).
    """
    order = sort_orders(measures, projections, ties)
    if carry == "points":
        values = measures.points.index_select(0, order.flatten()).view(*order.shape, -1)
    else:
        values = torch.gather(projections, 0, order).unsqueeze(2)
    steps = None if measures.weights is None else measures.weights[order]
    return Curves(values, measures.sizes, steps, measures.numpy)


def resolve(metric: str, dim: int, n_projections: int, projections: Any, seed: Any, like: Tensor) -> tuple[Any, str]:
    """Directions [p, M] (None: the canonical axes) and what curves carry, "points" or "projections", of a metric.

    The directions are of the type and on the device of the tensor `like`.
    """
    if one_of("metric", metric, DISTANCES) == "rpw":
        if projections is not None:
            raise ValueError('metric="rpw" sorts along the canonical axes: use metric="pw" to give projections')
        return None, "points"
    if projections is None:
        projections = sphere(dim, n_projections, seed)
    return check_projections(projections, dim, like), "points" if metric == "pw" else "projections"


def as_curves(
    measures: Any, *, metric: str = "rpw", weights: Any = None, n_projections: int = 50, projections: Any = None,
    seed: Any = None, ties: str = "canonical", device: Any = "auto",
) -> Curves:  # fmt: skip
    """Curves of a list of clouds: sorted once here, then reused for any number of distances, vectors and means.

    Parameters
    ----------
    measures, weights
        Point clouds [n_i, p] and their masses [n_i], see :func:`pairwise_distances`.
    metric : {"rpw", "pw", "sw"}
        "rpw": along the canonical axes, carrying the points. "pw": along random directions, carrying the points.
        "sw": along random directions, carrying the projections.
    n_projections, projections, seed
        Directions for "pw" and "sw": how many to draw and from which seed, or the directions themselves [p, M].
        Only curves along the same directions can be compared.
    ties : {"canonical", "first"}
        Order of points with equal projections. "optimal" depends on the pair and has no curves.
    device : {"auto", "cpu", "cuda", …}
        Where the curves of NumPy clouds are made and kept; "auto" is the CPU. Torch tensors stay where they are.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> rng = np.random.default_rng(0)
    >>> curves = gml.as_curves([rng.normal(size=(n, 3)) for n in (4, 6, 5)])
    >>> len(curves), tuple(curves.values.shape)
    (3, (15, 3, 3))
    >>> gml.pairwise_distances(curves).shape
    (3, 3)
    """
    if check_ties(ties) == "optimal":
        raise ValueError('ties="optimal" depends on both measures of a pair and has no curves: use ties="canonical"')
    checked = as_measures(measures, weights)
    checked = checked.to(chosen_device(device, checked.points, checked.numpy))
    along, carry = resolve(metric, checked.dim, n_projections, projections, seed, checked.points)
    return build_curves(checked, project(checked.points, along), carry=carry, ties=ties)
