"""Exact search by metrics that compare curves: vectors bound the distance from below, candidates are compared exactly.

The averages of a curve on a grid of cells are an orthogonal projection of it (see `transport.grids`), so the
distance of these vectors is never more than that of the curves. A row that is among the k nearest is at most as far as
the k-th of any k rows: all rows whose bound is that small are compared as curves, and no others need be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from .._core.ragged import offsets
from ..transport import Curves, Embedded, pairwise_distances
from .approximate import vectors_at
from .search import nearest, within_radius
from .segment import Segment

_ROUNDING = 1e-4  # share by which a bound may be too large, or a distance too small: both are float32


def curve_arrays(curves: Curves) -> dict[str, np.ndarray]:
    """The arrays of a segment that hold curves."""
    found = {"curves": curves.values.detach().cpu().numpy(), "curve_ends": offsets(curves.sizes)[1:].astype(np.int64)}
    if curves.steps is not None:
        found["steps"] = curves.steps.detach().cpu().numpy()
    return found


def curves_at(segments: Sequence[Segment], rows: np.ndarray) -> Curves:
    """The curves of these rows, in ascending order of the rows."""
    parts, first = [], 0
    for segment in segments:
        own = rows[(rows >= first) & (rows < first + len(segment))] - first
        if len(own):
            arrays = segment.taken(own).arrays
            if "curves" not in arrays:
                raise ValueError("the index holds no curves, which its metric compares: it is damaged")
            sizes = np.diff(arrays["curve_ends"], prepend=0)
            steps = torch.from_numpy(arrays["steps"]) if "steps" in arrays else None
            parts.append(Curves(torch.from_numpy(arrays["curves"]), sizes, steps, True))
        first += len(segment)
    return Embedded.concatenate(parts)


def embedded_at(segments: Sequence[Segment], rows: np.ndarray) -> tuple[np.ndarray, Curves | None]:
    """Vectors of these rows, in any order [n, d], and their curves where the segments hold such."""
    ascending, places = np.unique(rows, return_inverse=True)
    has_curves = any("curves" in segment.arrays for segment in segments)
    return vectors_at(segments, ascending)[places], curves_at(segments, ascending)[places] if has_curves else None


def nearest_curves(
    segments: Sequence[Segment], heads: np.ndarray, vectors: np.ndarray, curves: Curves, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Exact distances and row numbers of the k nearest rows of each query [Q, k], as `search.nearest`."""
    _, first = nearest(segments, heads, vectors, k)
    distances, rows = np.empty(first.shape), np.empty(first.shape, np.int64)
    for q in range(len(heads)):
        some = np.sort(first[q])
        reach = float(_exact(segments, curves[q : q + 1], some).max())
        near = curves_within(segments, heads[q], vectors[q], curves[q : q + 1], reach * (1 + _ROUNDING))
        distances[q], rows[q] = near[0][:k], near[1][:k]
    return distances, rows


def curves_within(
    segments: Sequence[Segment], head: np.ndarray, vector: np.ndarray, curve: Curves, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Exact distances and row numbers of all rows at most `radius` away, nearest first, as `search.within_radius`."""
    scale = float(np.linalg.norm(vector))
    _, rows = within_radius(segments, head, vector, radius * (1 + _ROUNDING) + _ROUNDING * scale)
    if len(rows) == 0:
        return np.zeros(0), rows
    rows = np.sort(rows)
    distances = _exact(segments, curve, rows)
    kept = distances <= radius
    order = np.argsort(distances[kept], kind="stable")
    return distances[kept][order], rows[kept][order]


def _exact(segments: Sequence[Segment], curve: Curves, rows: np.ndarray) -> np.ndarray:
    """Distances of a curve to these rows, ascending [n], float64."""
    found = pairwise_distances(curve.to("cpu"), curves_at(segments, rows), progress=False)
    return np.asarray(found, dtype=np.float64)[0]
