"""A distance of SGML taken apart: which nodes are matched along the directions, and what each match costs."""

from __future__ import annotations

import numpy as np

from ...graphs import Graphs
from ...transport import pw_distance, sw_distance
from ..explanation import Explanation
from .training.batch_distances import CurveRule


def explain_pair(points: np.ndarray, graphs: Graphs, rule: CurveRule) -> Explanation:
    """The distance of two graphs from their encoded nodes [n + m, p]."""
    x, z = np.split(points, graphs.offsets[1:2])
    directions = np.eye(x.shape[1]) if rule.directions is None else rule.directions.numpy()
    if rule.carry == "projections":
        distance, log = sw_distance(x, z, projections=directions, log=True)
        costs = sliced_costs(x, z, directions)
    else:
        distance, log = pw_distance(x, z, projections=directions, ties=rule.ties, log=True)
        costs = log["plan"] * ((x[:, None] - z[None]) ** 2).sum(2)
    plan, costs = (share_among_equals(matrix, x, z) for matrix in (log["plan"], costs))
    whole = max(float(costs.sum()), np.finfo(np.float32).tiny)
    return Explanation(float(distance), plan, costs.sum(1) / whole, costs.sum(0) / whole, graphs)


def share_among_equals(matrix: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Means over nodes with equal features: nothing tells them apart, so neither should an explanation [n, m]."""
    for axis, points in enumerate((x, z)):
        _, same = np.unique(points, axis=0, return_inverse=True)
        members = np.eye(same.max() + 1)[same.ravel()]
        mixing = members @ (members / members.sum(0)).T
        matrix = mixing @ matrix if axis == 0 else matrix @ mixing
    return matrix


def sliced_costs(x: np.ndarray, z: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Σ over directions of plan times squared distance of the projections [n, m]: what SW² adds up."""
    costs = np.zeros((len(x), len(z)))
    for direction in directions.T:
        _, log = sw_distance(x, z, projections=direction[:, None], log=True)
        costs += log["plan"] * ((x @ direction)[:, None] - (z @ direction)[None]) ** 2
    return costs / directions.shape[1]
