"""Distances between two point clouds: RPW, PW and SW."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .curves import build_curves
from .directions import near_origin, project
from .measures import Array, Measures, as_measures, in_common
from .ordering import TIES, check_ties
from .plans import averaged_plan, least_costs
from .sides import CurveOptions
from .walks import power, walk_one

_CHUNK = 2**25  # numbers of a pair's curves held at once: larger clouds are walked a few directions at a time
_RPW = {ties: CurveOptions(metric="rpw", ties=ties) for ties in TIES}  # made once: a whole call takes some 70 µs
_SMALL = 256  # points per cloud up to which one compiled call sorts and walks a pair


def rpw_distance(
    X_s: Array, X_t: Array, a: Array | None = None, b: Array | None = None, *,
    ties: str = "canonical", order: float = 2.0, squared: bool = False, log: bool = False,
) -> Any:  # fmt: skip
    r"""Restricted Projected Wasserstein distance between two point clouds.

    .. math::
        RPW_s(\mu, \nu)^s = \frac{1}{p} \sum_{k=1}^p \sum_{ij} \pi^{(k)}_{ij} \|x_i - y_j\|^s

    where :math:`\pi^{(k)}` is the monotone (optimal) plan between the k-th coordinates of the points [1]_. It costs
    p sorts and is never below the Wasserstein distance.

    Parameters
    ----------
    X_s, X_t : arrays [n, p], [m, p]
        The points: NumPy arrays, or torch tensors on any device.
    a, b : arrays [n], [m], optional
        Masses of the points, not negative, adding up to 1. Uniform when None.
    ties : {"canonical", "optimal", "first"}
        Which plan to take when points share a coordinate. "canonical" orders them by their other coordinates: a
        function of the clouds alone, and a metric. "optimal" takes the plan of least full cost, as in [1]_, found by
        POT (``pip install graph-metric-learn[optimal]``). "first" keeps the order of the rows, and so depends on it.
        Without ties the three agree.
    order : float
        The exponent s >= 1 of the cost.
    squared : bool
        Return the square of the distance.
    log : bool
        Also return a dict: "plan" [n, m] averaged over the directions, "costs" [M] of each direction (the s-th powers),
        "projections" [p, M].

    Returns
    -------
    distance : float of the arrays' kind and type
        Differentiable in the points and masses if they are torch tensors that require gradients (with ties="optimal"
        in the points only).
    log : dict
        Only if ``log``.

    References
    ----------
    .. [1] Y. Kaloga, P. Borgnat, A. Habrard, "A Simple Way to Learn Metrics Between Attributed Graphs", LoG 2022.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> X_s, X_t = np.array([[0., 0.], [1., 0.]]), np.array([[0., 1.], [1., 1.]])
    >>> float(gml.rpw_distance(X_s, X_t))
    1.0
    >>> distance, log = gml.rpw_distance(X_s, X_t, log=True)
    >>> log["plan"]
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    return _distance(X_s, X_t, a, b, _RPW[check_ties(ties)], order=order, squared=squared, log=log)


def pw_distance(
    X_s: Array, X_t: Array, a: Array | None = None, b: Array | None = None, *,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None,
    ties: str = "canonical", order: float = 2.0, squared: bool = False, log: bool = False,
) -> Any:  # fmt: skip
    r"""Projected Wasserstein distance between two point clouds, of any sizes.

    .. math::
        PW_s(\mu, \nu)^s = \frac{1}{M} \sum_{l=1}^M \sum_{ij} \pi^{(\theta_l)}_{ij} \|x_i - y_j\|^s

    where :math:`\pi^{(\theta)}` is the optimal plan between the projections on θ [1]_.

    Parameters
    ----------
    X_s, X_t, a, b, ties, order, squared, log
        See :func:`rpw_distance`.
    n_projections : int
        How many directions M to draw on the sphere.
    projections : array [p, M], optional
        The directions, one per column, instead of drawn ones.
    seed : int, numpy.random.Generator or None
        For the drawn directions; None draws new ones on every call.

    References
    ----------
    .. [1] M. Rowland et al., "Orthogonal Estimation of Wasserstein Distances", AISTATS 2019.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> float(gml.pw_distance(X, X + [0., 0., 2.], seed=0))
    2.0
    """
    options = CurveOptions(metric="pw", n_projections=n_projections, projections=projections, seed=seed, ties=ties)
    return _distance(X_s, X_t, a, b, options, order=order, squared=squared, log=log)


def sw_distance(
    X_s: Array, X_t: Array, a: Array | None = None, b: Array | None = None, *,
    n_projections: int = 50, projections: Array | None = None, seed: Any = None,
    order: float = 2.0, squared: bool = False, log: bool = False,
) -> Any:  # fmt: skip
    r"""Sliced Wasserstein distance between two point clouds.

    .. math::
        SW_s(\mu, \nu)^s = \frac{1}{M} \sum_{l=1}^M W_s(\theta_l \sharp \mu, \theta_l \sharp \nu)^s

    Parameters
    ----------
    X_s, X_t, a, b, order, squared, log
        See :func:`rpw_distance`.
    n_projections, projections, seed
        See :func:`pw_distance`.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> float(gml.sw_distance(np.array([[0.], [1.]]), np.array([[3.], [4.]]), projections=[[1.]]))
    3.0
    """
    options = CurveOptions(metric="sw", n_projections=n_projections, projections=projections, seed=seed)
    return _distance(X_s, X_t, a, b, options, order=order, squared=squared, log=log)


def _distance(
    X_s: Array, X_t: Array, a: Any, b: Any, options: CurveOptions, *, order: float, squared: bool, log: bool
) -> Any:
    """What the three functions above share."""
    source = as_measures([X_s], None if a is None else [a], names="X_s")
    target = as_measures([X_t], None if b is None else [b], names="X_t")
    source, target = in_common(source, target, "X_s", "X_t")
    if not 1 <= order < np.inf:
        raise ValueError(f"order must be a number >= 1, got {order!r}")
    directions, carry = options.directions(source.dim, source.points)
    if directions is not None:
        source, target = near_origin(source, target)
    if options.ties == "optimal":
        costs, plan = least_costs(source, target, directions, float(order))
    else:
        costs = _monotone_costs(source, target, directions, carry, options.ties, order)
        plan = averaged_plan(source, target, directions, options.ties) if log else costs
    distance = power(costs.mean(), (2.0 if squared else 1.0) / order).to(source.points.dtype)

    result = distance.numpy()[()] if source.numpy else distance
    if not log:
        return result
    used = torch.eye(source.dim).to(source.points) if directions is None else directions
    extras = {"plan": plan, "costs": costs.to(source.points.dtype), "projections": used}
    return result, {name: extra.numpy() if source.numpy else extra for name, extra in extras.items()}


def _monotone_costs(
    source: Measures, target: Measures, directions: Tensor | None, carry: str, ties: str, order: float
) -> Tensor:
    """Costs of the monotone plans, one per direction [M] in float64."""
    walk = _walk_small if _is_small(source) and _is_small(target) else _walk
    sides = _direction_chunks(source, target, directions)
    costs = [walk(source, along_s, target, along_t, ties, carry, order) for along_s, along_t in sides]
    return costs[0] if len(costs) == 1 else torch.cat(costs)


def _is_small(side: Measures) -> bool:
    """Whether the cloud is so small that calling several functions would take longer than the work itself."""
    points = side.points
    grad = points.requires_grad and torch.is_grad_enabled()
    return len(points) <= _SMALL and side.weights is None and points.device.type == "cpu" and not grad


def _walk(
    source: Measures, along_s: Tensor, target: Measures, along_t: Tensor, ties: str, carry: str, order: float
) -> Tensor:
    """Costs along some directions [M], from the projections of both clouds [n, M], [m, M]."""
    u, v = (build_curves(*side, carry=carry, ties=ties) for side in ((source, along_s), (target, along_t)))
    return walk_one(u, v, float(order))


def _walk_small(
    source: Measures, along_s: Tensor, target: Measures, along_t: Tensor, ties: str, carry: str, order: float
) -> Tensor:
    """As `_walk`, in one compiled call."""
    from .kernels.walks import small_pair

    arrays = (side.detach().numpy() for side in (source.points, along_s, target.points, along_t))
    return torch.from_numpy(small_pair(*arrays, ties == "canonical", carry == "points", order / 2))


def _direction_chunks(source: Measures, target: Measures, directions: Tensor | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Projections of both clouds, a few directions at a time so that their curves fit into `_CHUNK` numbers."""
    M = source.dim if directions is None else directions.shape[1]
    width = max(1, _CHUNK // ((len(source.points) + len(target.points)) * source.dim))
    for lo in range(0, M, width):
        if directions is None:
            yield source.points[:, lo : lo + width], target.points[:, lo : lo + width]
        else:
            some = directions[:, lo : lo + width]
            yield project(source.points, some), project(target.points, some)
