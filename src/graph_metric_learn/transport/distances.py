"""Distances between two point clouds: RPW, PW and SW through one door."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .curves import build_curves, resolve
from .directions import project
from .measures import Array, Measures, as_measures
from .ordering import check_ties, sort_orders
from .solvers.ties import Entries, optimal_entries
from .walks import walk_one

_CHUNK = 2**25  # numbers of a pair's curves held at once: larger clouds are walked a few directions at a time
_SMALL = 256  # points up to which a pair takes the short way: one compiled call for sorting and walking
_LARGEST_PLAN = 2**30  # entries of a dense plan


def rpw_distance(
    X_s: Array,
    X_t: Array,
    a: Array | None = None,
    b: Array | None = None,
    *,
    ties: str = "canonical",
    order: float = 2.0,
    squared: bool = False,
    log: bool = False,
) -> Any:
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
        Which plan to take when points share a coordinate. "canonical" goes on by the other coordinates, a function of
        the clouds alone and a metric; "optimal" takes the plan of least full cost, as in [1]_;
        "first" goes by the order of the rows and so depends on it. Without ties they agree.
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
        Differentiable in the points and masses when they are torch tensors that ask for it (with ties="optimal" in the
        points only).
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
    return _distance("rpw", X_s, X_t, a, b, 0, None, None, ties, order, squared, log)


def pw_distance(
    X_s: Array,
    X_t: Array,
    a: Array | None = None,
    b: Array | None = None,
    *,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    ties: str = "canonical",
    order: float = 2.0,
    squared: bool = False,
    log: bool = False,
) -> Any:
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
        For the drawn directions; None draws afresh on every call.

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
    return _distance("pw", X_s, X_t, a, b, n_projections, projections, seed, ties, order, squared, log)


def sw_distance(
    X_s: Array,
    X_t: Array,
    a: Array | None = None,
    b: Array | None = None,
    *,
    n_projections: int = 50,
    projections: Array | None = None,
    seed: Any = None,
    order: float = 2.0,
    squared: bool = False,
    log: bool = False,
) -> Any:
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
    return _distance("sw", X_s, X_t, a, b, n_projections, projections, seed, "canonical", order, squared, log)


def _distance(
    metric: str, X_s: Array, X_t: Array, a: Any, b: Any, n_projections: int, projections: Any, seed: Any,
    ties: str, order: float, squared: bool, log: bool,
) -> Any:  # fmt: skip
    source, target = _pair(X_s, X_t, a, b)
    if not 1 <= order < np.inf:
        raise ValueError(f"order must be a number >= 1, got {order!r}")
    directions, carry = resolve(metric, source.dim, n_projections, projections, seed, source.points)
    small = _is_small(source) and _is_small(target)
    if check_ties(ties) == "optimal":
        costs, plan = optimal_costs(source, target, directions, float(order))
    else:
        walked = [
            _small_costs(source.points, along_s, target.points, along_t, ties, carry, order)
            if small
            else walk_one(
                build_curves(source, along_s, carry=carry, ties=ties),
                build_curves(target, along_t, carry=carry, ties=ties),
                float(order),
            )
            for along_s, along_t in _direction_chunks(source, target, directions)
        ]
        costs = walked[0] if len(walked) == 1 else torch.cat(walked)
        plan = _averaged_plan(source, target, directions, ties) if log else costs
    distance = power(costs.mean(), (2.0 if squared else 1.0) / order).to(source.points.dtype)

    result = distance.numpy()[()] if source.numpy else distance
    if not log:
        return result
    used = torch.eye(source.dim).to(source.points) if directions is None else directions
    extras = {"plan": plan, "costs": costs.to(source.points.dtype), "projections": used}
    return result, {name: extra.numpy() if source.numpy else extra for name, extra in extras.items()}


def _is_small(side: Measures) -> bool:
    """A cloud for which the passage through several calls would cost more than the work."""
    points = side.points
    grad = points.requires_grad and torch.is_grad_enabled()
    return len(points) <= _SMALL and side.weights is None and points.device.type == "cpu" and not grad


def _small_costs(x: Tensor, along_x: Tensor, y: Tensor, along_y: Tensor, ties: str, carry: str, order: float) -> Tensor:
    from .kernels import loops as kernels

    arrays = (side.detach().numpy() for side in (x, along_x, y, along_y))
    return torch.from_numpy(kernels.small_pair(*arrays, ties == "canonical", carry == "points", order / 2))


def power(costs: Tensor, exponent: float) -> Tensor:
    """costs ** exponent, with gradient 0 instead of NaN where the cost is 0."""
    if exponent == 1.0:
        return costs
    if not costs.requires_grad:
        return costs**exponent
    apart = costs > 0
    return torch.where(apart, torch.where(apart, costs, 1.0) ** exponent, 0.0)


def _pair(X_s: Array, X_t: Array, a: Any, b: Any) -> tuple[Measures, Measures]:
    source = as_measures([X_s], None if a is None else [a], names=["X_s"])
    target = as_measures([X_t], None if b is None else [b], names=["X_t"])
    return agree(source, target, "X_s", "X_t")


def agree(source: Measures, target: Measures, name: str, other: str) -> tuple[Measures, Measures]:
    """Both sides in one dimension, kind, device and floating type, or a clear error."""
    if source.dim != target.dim:
        raise ValueError(f"{name} has points in dimension {source.dim}, {other} in dimension {target.dim}")
    if source.numpy != target.numpy:
        raise ValueError(f"{name} and {other} must both be NumPy arrays or both be torch tensors")
    if source.points.device != target.points.device:
        raise ValueError(f"{name} is on {source.points.device}, {other} on {target.points.device}: use one device")
    if source.points.dtype == target.points.dtype:
        return source, target
    dtype = torch.promote_types(source.points.dtype, target.points.dtype)
    return (
        replace(source, points=source.points.to(dtype)),
        replace(target, points=target.points.to(dtype)),
    )


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


def _check_plan_size(n: int, m: int) -> None:
    if n * m > _LARGEST_PLAN:
        raise ValueError(f"a dense {n} x {m} plan would take {n * m * 8 / 2**30:.0f} GiB: call without log=True")


def _averaged_plan(source: Measures, target: Measures, directions: Tensor | None, ties: str) -> Tensor:
    """The plan averaged over directions [n, m]. A constant: no gradient goes through it."""
    from .kernels import loops as kernels

    n, m = len(source.points), len(target.points)
    _check_plan_size(n, m)
    along_s, along_t = (project(side.points.detach(), directions) for side in (source, target))
    order_s, order_t = sort_orders(source, along_s, ties), sort_orders(target, along_t, ties)
    plan = np.zeros((n, m))
    uniform = source.weights is None and target.weights is None
    for k in range(along_s.shape[1]):
        rows, cols = order_s[:, k].cpu(), order_t[:, k].cpu()
        if uniform:  # times in units of 1 / (n m), exact
            i, j, mass = kernels.plan_entries(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
            mass = mass / (n * m)
        else:
            i, j, mass = kernels.plan_entries(_ends(source, rows), _ends(target, cols))
        np.add.at(plan, (rows.numpy()[i], cols.numpy()[j]), mass)
    return torch.from_numpy(plan / along_s.shape[1]).to(source.points)


def _masses(side: Measures) -> Tensor:
    if side.weights is None:
        return torch.full((len(side.points),), 1.0 / len(side.points), dtype=torch.float64)
    return side.weights.detach().cpu()


def _ends(side: Measures, order: Tensor) -> np.ndarray:
    """When each point's time is over, in the order of the walk; the last one's exactly at 1."""
    ends = np.minimum(np.cumsum(_masses(side).numpy()[order.numpy()]), 1.0)
    ends[-1] = 1.0
    return ends


def optimal_costs(source: Measures, target: Measures, directions: Tensor | None, order: float) -> tuple[Tensor, Tensor]:
    """Costs [M] and averaged plan [n, m] of the least-cost plans."""
    for side in (source, target):
        if side.weights is not None and side.weights.requires_grad:
            raise ValueError('ties="optimal" has no gradient with respect to the weights: use ties="canonical"')
    n, m = len(source.points), len(target.points)
    _check_plan_size(n, m)
    x, y = (side.points.detach().double().cpu().numpy() for side in (source, target))
    a, b = _masses(source).numpy(), _masses(target).numpy()
    along_s, along_t = (project(side.points.detach(), directions).cpu().numpy() for side in (source, target))
    plan, costs = np.zeros((n, m)), []
    for k in range(along_s.shape[1]):
        entries = optimal_entries(x, y, a, b, along_s[:, k], along_t[:, k], order)
        np.add.at(plan, (entries.source, entries.target), entries.mass)
        costs.append(_plan_cost(source.points, target.points, entries, order))
    return torch.stack(costs), torch.from_numpy(plan / along_s.shape[1]).to(source.points)


def _plan_cost(x: Tensor, y: Tensor, entries: Entries, order: float) -> Tensor:
    """Σ π |x − y|^order, differentiable in the points (the plan stays put while they move a little)."""
    i, j = (torch.from_numpy(side).to(x.device) for side in (entries.source, entries.target))
    gaps = (x[i] - y[j]).square().sum(1).double()
    return torch.dot(torch.from_numpy(entries.mass).to(x.device), power(gaps, order / 2))
