"""Means of embedded measures in closed form: distances are L2 distances, so the pointwise mean is the Fréchet mean."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch

from .curves import Curves
from .embedded import Kind
from .vectors import Vectors


def mean_curve(curves: Kind, weights: Any = None) -> Kind:
    r"""The curve with the least mean squared distance to the given ones: their pointwise mean.

    .. math:: \bar\Phi = \sum_g w_g \Phi_g = \arg\min_\Psi \sum_g w_g \|\Phi_g - \Psi\|^2

    Parameters
    ----------
    curves : Curves or Vectors
        What to average.
    weights : array [G], optional
        Weights w_g, not negative, adding up to 1; equal when None.

    Returns
    -------
    Curves or Vectors
        One item of the kind that was given. A mean of curves is exact: its steps end wherever a step of any of the
        curves ends. In general it is the curve of no cloud.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> walked = gml.as_curves([np.zeros((2, 1)), np.full((3, 1), 4.0)])
    >>> mean = gml.mean_curve(walked)
    >>> gml.pairwise_distances(mean, walked)
    array([[2., 2.]])
    """
    mean = _mean(curves.as_step_functions(), weights)
    return cast(Kind, Vectors(mean.values[:, 0], curves.numpy) if isinstance(curves, Vectors) else mean)


def _mean(curves: Curves, weights: Any) -> Curves:
    G, M = len(curves), curves.n_directions
    device = curves.values.device
    if weights is None:
        shares = np.full(G, 1.0 / G)
    else:
        shares = np.asarray(weights, dtype=float)
        if shares.shape != (G,) or (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise ValueError(f"weights must be {G} numbers, not negative, adding up to 1")
    if curves.steps is None:
        ends = _common_ends(np.unique(curves.sizes))
        times = torch.from_numpy(ends).to(device).unsqueeze(1)
    else:
        times = curves.ends.detach().sort(dim=0).values
    steps = times.diff(dim=0, prepend=torch.zeros_like(times[:1]))
    middles = times - steps / 2  # inside the steps, where rounding of the ends does not matter
    direction = torch.arange(M, device=device)
    total = torch.zeros(len(times), M, curves.values.shape[2], dtype=torch.float64, device=device)
    ends_of = curves.ends.detach() if curves.steps is not None else curves.ends[:, :1]
    for g, share in enumerate(shares):
        lo, hi = curves.offsets[g], curves.offsets[g + 1]
        row = torch.searchsorted(ends_of[lo:hi].T.contiguous(), middles.T.contiguous()).T.clamp(max=int(hi - lo) - 1)
        total = total + share * curves.values[lo + row, direction]
    same_steps = len(np.unique(curves.sizes)) == 1 and curves.steps is None
    lengths = None if same_steps else steps.expand(-1, M).contiguous()
    return Curves(total.to(curves.values.dtype), np.array([len(times)]), lengths, curves.numpy)


def _common_ends(sizes: np.ndarray) -> np.ndarray:
    """All i / n for the given n, without the nearly equal duplicates that rounding makes."""
    ends = np.sort(np.concatenate([np.arange(1, n + 1) / n for n in sizes]))
    return np.append(ends[:-1][np.diff(ends) > 1e-13], 1.0)
