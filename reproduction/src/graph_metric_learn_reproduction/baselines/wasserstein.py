"""Optimal transport between the node features of two graphs: W2 and entropic W2."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from graph_metric_learn._core.compiled import njit
from graph_metric_learn.graphs import Graphs

from .base import SolverFailure, positive
from .pairs import PairwiseSystem
from .structure import node_features, per_graph

# Of POT's network simplex: result codes and the limit of pivots.
_OPTIMAL, _FAILURES = 1, {0: "infeasible", 2: "unbounded", 3: "stopped at its limit of iterations"}
_MAX_PIVOTS = 1_000_000
# Of Sinkhorn's iteration: the limit, and how often and how closely the marginals are checked.
_MAX_ITERATIONS, _CHECK_EVERY, _MARGINAL_ERROR = 1000, 10, 1e-6


def exact_plan(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """An optimal plan [n, m] and its cost, for masses a [n] and b [m] of equal sum.

    POT's network simplex without the checks and backends around it, which take several times as long as the solve for
    graphs of 10 to 30 nodes. Whole numbers as masses keep it exact: n uniform points get the mass m each, m points the
    mass n.
    """
    from ot.lp.emd_wrap import emd_c

    plan, value, _, _, code = emd_c(a, b, cost, _MAX_PIVOTS, 1)[:5]
    if code != _OPTIMAL:
        raise SolverFailure(f"the linear programme is {_FAILURES.get(code, f'in state {code}')}")
    return plan, value


def uniform_cost(cost: np.ndarray) -> float:
    """The least mean cost of moving n points of mass 1/n to m points of mass 1/m, for costs [n, m].

    >>> uniform_cost(np.array([[0.0, 2.0], [1.0, 1.0]]))
    0.5
    """
    n, m = cost.shape
    return exact_plan(cost, np.full(n, float(m)), np.full(m, float(n)))[1] / (n * m)


class Cloud(NamedTuple):
    """Distinct points [k, q] and how many nodes have each [k]."""

    points: np.ndarray
    counts: np.ndarray


class W2(PairwiseSystem):
    """The 2-Wasserstein distance between the features of the nodes, each of mass 1/n [1]_.

    Nodes with equal features are merged into one point with their total mass: the same measure, hence the same
    distance, and a much smaller problem for one-hot features.

    References
    ----------
    .. [1] R. Flamary et al. POT: Python Optimal Transport. JMLR 22, 2021.

    Examples
    --------
    >>> no_edges = np.zeros((2, 2))
    >>> W2().distances([(no_edges, np.array([[0.0], [1.0]])), (no_edges, np.array([[3.0], [4.0]]))])
    array([[0., 3.],
           [3., 0.]])
    """

    name = "w2"
    needs: ClassVar[tuple[str, ...]] = ("ot",)

    def prepare(self, graphs: Graphs) -> list[Cloud]:
        parts = per_graph(graphs, node_features(graphs))
        clouds = (np.unique(x, axis=0, return_counts=True) for x in parts)
        return [Cloud(points, counts.astype(np.float64)) for points, counts in clouds]

    def pair(self, one: Cloud, other: Cloud) -> float:
        n, m = one.counts.sum(), other.counts.sum()
        cost = cdist(one.points, other.points, "sqeuclidean")
        return np.sqrt(exact_plan(cost, one.counts * m, other.counts * n)[1] / (n * m))


class EntropicW2(W2):
    """W2 with the plan smoothed by entropy (Sinkhorn): sqrt(<P, C>) for P = argmin <P, C> − ε H(P).

    Parameters
    ----------
    reg : float
        ε divided by the pair's largest cost: so one value suits features of any scale, and exp(−C / ε) does not
        underflow.

    Notes
    -----
    Not a metric: two graphs with equal features are at a positive distance, unless they are the same element of the
    list. The iterations end after 1000, converged or not: if two measures nearly coincide, they would take very long
    for changes that do not matter. Start, checks and limits are those of POT's `sinkhorn_knopp`, with which the tests
    compare. The loop is compiled, because an iteration on a few distinct points takes a hundredth of the time of a
    call from Python.
    """

    name = "w2-entropic"
    needs = ()

    def __init__(self, *, reg: float = 0.1) -> None:
        self.reg = reg

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        return [{"reg": 0.1}, {"reg": 0.5}]

    def prepare(self, graphs: Graphs) -> list[Cloud]:
        positive(reg=self.reg)
        return super().prepare(graphs)

    def pair(self, one: Cloud, other: Cloud) -> float:
        cost = cdist(one.points, other.points, "sqeuclidean")
        largest = cost.max()
        if largest == 0:
            return 0.0
        a, b = one.counts / one.counts.sum(), other.counts / other.counts.sum()
        return np.sqrt(sinkhorn_cost(cost, a, b, self.reg * largest))


@njit(error_model="numpy")
def sinkhorn_cost(cost, a, b, reg):
    """<P, C> for the plan P = diag(u) exp(−C / reg) diag(v) with masses a [n] and b [m]; NaN if it underflows."""
    n, m = cost.shape
    kernel = np.exp(-cost / reg)
    u, v, column = np.full(n, 1.0 / n), np.empty(m), np.zeros(m)
    for i in range(n):
        column += kernel[i] * u[i]
    for k in range(_MAX_ITERATIONS):
        v[:] = b / column
        column[:] = 0.0
        for i in range(n):
            row = 0.0
            for j in range(m):
                row += kernel[i, j] * v[j]
            u[i] = a[i] / row
            for j in range(m):
                column[j] += kernel[i, j] * u[i]
        if k % _CHECK_EVERY == 0:
            missing = 0.0
            for j in range(m):
                missing += (column[j] * v[j] - b[j]) ** 2
            if missing < _MARGINAL_ERROR**2:
                break
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += u[i] * kernel[i, j] * v[j] * cost[i, j]
    return total
