"""A distance of SGML taken apart: which nodes are matched along the directions, and what each match costs."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from ...graphs import Graphs
from ...transport import pw_distance, sw_distance
from ..explanation import Explanation
from .encoders import encode_measures
from .training.batch_distances import CurveRule


def explain_pair(module: nn.Module, graphs: Graphs, rule: CurveRule) -> Explanation:
    """The distance of two graphs, encoded by a module."""
    with torch.no_grad():
        points, masses = encode_measures(module, graphs)
    x, z = np.split(points.cpu().numpy(), graphs.offsets[1:2])
    a, b = (None, None) if masses is None else np.split(masses.cpu().numpy(), graphs.offsets[1:2])
    directions = np.eye(x.shape[1]) if rule.directions is None else rule.directions.numpy()
    if rule.carry == "projections":
        distance, log = sw_distance(x, z, a, b, projections=directions, log=True)
        costs = sliced_costs(x, z, directions, a, b)
    else:
        distance, log = pw_distance(x, z, a, b, projections=directions, ties=rule.ties, log=True)
        costs = log["plan"] * ((x[:, None] - z[None]) ** 2).sum(2)
    plan, costs = (share_among_equals(matrix, x, z, a, b) for matrix in (log["plan"], costs))
    whole = max(float(costs.sum()), np.finfo(np.float32).tiny)
    return Explanation(float(distance), plan, costs.sum(1) / whole, costs.sum(0) / whole, graphs)


def share_among_equals(
    matrix: np.ndarray, x: np.ndarray, z: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None
) -> np.ndarray:
    """Means over nodes with equal features: nothing tells them apart, so neither should an explanation [n, m].

    With masses a [n], b [m], such nodes share in proportion to them.
    """
    for axis, (points, masses) in enumerate(((x, a), (z, b))):
        _, same = np.unique(points, axis=0, return_inverse=True)
        members = np.eye(same.max() + 1)[same.ravel()]
        weighted = members if masses is None else members * masses[:, None]
        mixing = weighted @ (members / weighted.sum(0)).T
        matrix = mixing @ matrix if axis == 0 else matrix @ mixing.T
    return matrix


def sliced_costs(
    x: np.ndarray, z: np.ndarray, directions: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None
) -> np.ndarray:
    """Σ over directions of plan times squared distance of the projections [n, m]: what SW² adds up."""
    costs = np.zeros((len(x), len(z)))
    for direction in directions.T:
        _, log = sw_distance(x, z, a, b, projections=direction[:, None], log=True)
        costs += log["plan"] * ((x @ direction)[:, None] - (z @ direction)[None]) ** 2
    return costs / directions.shape[1]
