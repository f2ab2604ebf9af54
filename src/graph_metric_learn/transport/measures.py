"""Discrete measures: point clouds with masses, checked once on the way in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._core.ragged import offsets
from .embedded import LARGEST, first_bad_row

Array = Any  # a NumPy array or a torch tensor; results are of the kind that was given


@dataclass(frozen=True)
class Measures:
    """G discrete measures on R^p, stored one after the other."""

    points: Tensor  # [S, p], S = sum of the sizes
    sizes: np.ndarray  # [G], of each measure; always in host memory, so that reading it never waits for a device
    weights: Tensor | None = None  # [S], adding up to 1 in each measure; None when all points of each weigh the same
    numpy: bool = False  # whether the caller's arrays were NumPy's, and so the results should be

    def __len__(self) -> int:
        return len(self.sizes)

    def to(self, device: torch.device) -> Measures:
        """The same measures on another device."""
        weights = None if self.weights is None else self.weights.to(device)
        return replace(self, points=self.points.to(device), weights=weights)

    @property
    def dim(self) -> int:
        """Dimension p of the space the points live in."""
        return self.points.shape[1]


def as_measures(
    clouds: Sequence[Array] | Array, weights: Sequence[Array] | None = None, *, names: str = "measure {}"
) -> Measures:
    """Checks a list of arrays [n_i, p] and stores them as one `Measures`.

    Clouds are NumPy arrays, torch tensors, or anything `numpy.asarray` takes; integers become float64. Weights [n_i]
    are not negative and add up to 1; uniform when None. names: what error messages call a cloud, by its index ``{}``.

    >>> as_measures([np.zeros((3, 2)), np.ones((4, 2))]).sizes
    array([3, 4])
    """
    if isinstance(clouds, (str, bytes)) or not hasattr(clouds, "__len__"):
        raise ValueError(f"expected a list of (n, p) arrays, got {type(clouds).__name__}")
    if len(clouds) == 0:
        raise ValueError("no measures were given: pass a list with at least one (n, p) array")

    name = names.format
    as_torch = any(isinstance(cloud, Tensor) for cloud in clouds)
    arrays = [_checked(cloud, i, name, as_torch) for i, cloud in enumerate(clouds)]
    width = arrays[0].shape[1]
    for i, x in enumerate(arrays):
        if x.shape[1] != width:
            raise ValueError(f"{name(i)} has points in dimension {x.shape[1]}, {name(0)} in dimension {width}")
        if as_torch and x.device != arrays[0].device:
            raise ValueError(f"{name(i)} is on {x.device}, {name(0)} on {arrays[0].device}: move them to one device")
    sizes = np.fromiter((len(x) for x in arrays), dtype=np.int64, count=len(arrays))
    points = _concatenate_torch(arrays) if as_torch else _concatenate_numpy(arrays)
    bad = first_bad_row(points)
    if bad is not None:
        where = int(np.searchsorted(offsets(sizes), bad, side="right")) - 1
        if bool(torch.isfinite(points[bad]).all()):
            raise ValueError(f"{name(where)} holds coordinates beyond {LARGEST[points.dtype]:g}: scale them down")
        raise ValueError(f"{name(where)} holds NaN or infinite coordinates: clean them before measuring distances")
    masses = None if weights is None else _as_weights(weights, sizes, points, name)
    return Measures(points, sizes, masses, numpy=not as_torch)


def in_common(source: Measures, target: Measures, name: str, other: str) -> tuple[Measures, Measures]:
    """Both sides in the larger of their two floating types; a `ValueError` if dimension, kind or device differ.

    name, other: what error messages call the two sides.
    """
    if source.dim != target.dim:
        raise ValueError(f"{name} has points in dimension {source.dim}, {other} in dimension {target.dim}")
    if source.numpy != target.numpy:
        raise ValueError(f"{name} and {other} must both be NumPy arrays or both be torch tensors")
    if source.points.device != target.points.device:
        raise ValueError(f"{name} is on {source.points.device}, {other} on {target.points.device}: use one device")
    if source.points.dtype == target.points.dtype:
        return source, target
    dtype = torch.promote_types(source.points.dtype, target.points.dtype)
    return replace(source, points=source.points.to(dtype)), replace(target, points=target.points.to(dtype))


def _checked(array: Array, i: int, name: Callable[[int], str], as_torch: bool) -> Array:
    """One cloud as a two-dimensional array of numbers, or a clear error."""
    if not isinstance(array, (np.ndarray, Tensor)):
        if type(array).__module__.partition(".")[0] in ("networkx", "torch_geometric"):
            raise ValueError(
                f"{name(i)} is a graph, not a cloud of points: learn a metric between graphs with GraphMetric"
            )
        try:
            array = np.asarray(array)
        except ValueError as error:  # ragged nested lists
            raise ValueError(f"{name(i)} is not an (n, p) array of numbers: {error}") from None
    if as_torch != isinstance(array, Tensor):
        raise ValueError(f"{name(i)} is a {type(array).__name__}, but others are torch tensors: use one kind")
    if array.dtype.is_complex if as_torch else array.dtype.kind not in "fiub":
        raise ValueError(f"{name(i)} has dtype {array.dtype}, expected real numbers")
    if array.ndim != 2:
        hint = f": reshape a cloud of scalars to ({len(array)}, 1)" if array.ndim == 1 else ""
        raise ValueError(f"{name(i)} has shape {tuple(array.shape)}, expected (n, p){hint}")
    if 0 in array.shape:
        raise ValueError(f"{name(i)} is empty (shape {tuple(array.shape)}): drop it or give it a point")
    return array


def _concatenate_numpy(arrays: list[np.ndarray]) -> Tensor:
    """All rows as one tensor, float32 or float64; a single cloud is not copied if torch can share its memory."""
    points = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float32 if points.dtype == np.float16 else np.float64)
    if not points.flags.c_contiguous or not points.flags.writeable:
        points = points.copy(order="C")
    return torch.from_numpy(points)


def _concatenate_torch(arrays: list[Tensor]) -> Tensor:
    """All rows as one contiguous tensor, float32 or float64."""
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        dtype = torch.promote_types(dtype, x.dtype)
    if dtype not in (torch.float32, torch.float64):
        dtype = torch.float32 if dtype in (torch.float16, torch.bfloat16) else torch.float64
    points = arrays[0] if len(arrays) == 1 else torch.cat([x.to(dtype) for x in arrays])
    return points.to(dtype).contiguous()


def _as_weights(
    weights: Sequence[Array], sizes: np.ndarray, points: Tensor, name: Callable[[int], str]
) -> Tensor | None:
    """Masses of all points [S] in float64; None if they are uniform in every measure."""
    if len(weights) != len(sizes):
        raise ValueError(f"{len(weights)} weight vectors for {len(sizes)} measures: give one for each")
    checked, uniform = [], True
    for i, (w, n) in enumerate(zip(weights, sizes, strict=True)):
        w = w if isinstance(w, Tensor) else torch.from_numpy(np.array(w, dtype=np.float64))
        if tuple(w.shape) != (n,):
            raise ValueError(f"the weights of {name(i)} have shape {tuple(w.shape)}, expected ({n},)")
        if w.device != points.device:
            raise ValueError(f"the weights of {name(i)} are on {w.device}, its points on {points.device}")
        low_precision = w.dtype in (torch.float16, torch.bfloat16, torch.float32)
        w = w.to(torch.float64)
        values = w.detach()
        if not bool(torch.isfinite(values).all()) or bool((values < 0).any()):
            raise ValueError(f"the weights of {name(i)} must be finite and not negative")
        total = float(values.sum())
        if abs(total - 1) > (1e-4 if low_precision else 1e-6):
            raise ValueError(f"the weights of {name(i)} add up to {total:.6g}, expected 1: divide them by their sum")
        uniform = uniform and not w.requires_grad and bool((values == values[0]).all())
        checked.append(w / w.sum())
    return None if uniform else torch.cat(checked)
