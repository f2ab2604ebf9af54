"""Fused Gromov-Wasserstein: transport that matches features and structure at once."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from graph_metric_learn._core.compiled import njit
from graph_metric_learn._core.validation import one_of
from graph_metric_learn.graphs import Graphs
from graph_metric_learn.transport.kernels.simplex import plan_of, solve, start_tree

from .pairs import PairwiseSystem
from .structure import adjacencies, edge_lengths, hops, node_features, path_lengths, per_graph, require_edge_data
from .wl import wl_labels

SOLVERS = ("lean", "pot")
_MAX_ITERATIONS, _TOLERANCE, _MAX_PIVOTS = 10_000, 1e-9, 1_000_000  # POT's defaults


class FGWInput(NamedTuple):
    """What is compared of a graph."""

    rows: np.ndarray  # features or labels of the nodes [n, d]
    hops: np.ndarray  # between the nodes, or lengths of shortest paths [n, n]; all finite, symmetric
    mean_squares: np.ndarray  # of the hops from each node [n]


class FGW(PairwiseSystem):
    r"""Fused Gromov-Wasserstein distance with shortest paths as structure [1]_.

    .. math:: \min_T \; (1-\alpha) \sum_{ij} |x_i - y_j|^2 T_{ij}
              + \alpha \sum_{ijkl} |C_{ik} - D_{jl}|^2 T_{ij} T_{kl}

    over plans T between uniform weights; C and D are hops, or lengths of paths. The minimum itself is the distance,
    without a root, as in the published kernels exp(−λ FGW).

    Parameters
    ----------
    alpha : float
        Weight of the structure, 0 to 1; with 1 the features are ignored.
    solver : {"lean", "pot"}
        "pot" is POT's `fused_gromov_wasserstein2`. "lean" is the same conditional gradient method, compiled: same
        start, steps and stopping rule, but each linear programme starts from the solution of the one before (see
        `simplex`). Where a programme has several solutions (symmetric graphs, one-hot features), the two may take
        different ones and end in different local minima, on MUTAG for half of the pairs.
    edges : bool
        Whether weights are lengths of edges, not negative; C and D are then the lengths of shortest paths, both ways
        also where edges have directions.

    Notes
    -----
    The problem is not convex: the distance is the local minimum reached from the uniform plan. Hence graphs that differ
    only in the order of their nodes need not be at distance 0, and the order of the two graphs can matter; the pair
    (i, j) is solved once, for i < j. Nodes of different components are one hop (the mean length of an edge) farther
    apart than the largest number of hops (length of a path) in the graph.

    References
    ----------
    .. [1] T. Vayer, L. Chapel, R. Flamary, R. Tavenard, N. Courty. Optimal Transport for structured data with
       application on graphs. ICML 2019.

    Examples
    --------
    >>> edge, alone = np.array([[0, 1], [1, 0]]), np.zeros((1, 1))
    >>> FGW(alpha=0.5).distances([(edge, np.zeros((2, 1))), (alone, np.ones((1, 1)))])
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """

    name = "fgw"
    needs = ("ot",)
    edge_data: ClassVar[tuple[str, ...]] = ("weights",)  # what it can use of edges

    def __init__(self, *, alpha: float = 0.5, solver: str = "lean", edges: bool = False) -> None:
        self.alpha, self.solver, self.edges = alpha, solver, edges

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        alphas = (1.0,) if dataset.startswith("IMDB") else (0.25, 0.5, 0.75)
        return [{"alpha": alpha} for alpha in alphas]

    def prepare(self, graphs: Graphs) -> list[FGWInput]:
        one_of("solver", self.solver, SOLVERS)
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must lie between 0 and 1, got {self.alpha!r}")
        rows = per_graph(graphs, self._rows(graphs))
        if self.edges:
            require_edge_data(graphs, *self.edge_data)
        weighted = self.edges and graphs.weights is not None
        hops = map(finite_lengths, edge_lengths(graphs)) if weighted else map(finite_hops, adjacencies(graphs))
        return [FGWInput(x, far, (far**2).mean(1)) for x, far in zip(rows, hops, strict=True)]

    def pair(self, one: FGWInput, other: FGWInput) -> float:
        cost = self._feature_cost(one.rows, other.rows)
        if self.solver == "lean":
            return float(np.maximum(0.0, fgw_minimum(cost, one, other, self.alpha)))  # keeps NaN
        from ot.gromov import fused_gromov_wasserstein2

        return max(0.0, fused_gromov_wasserstein2(cost, one.hops, other.hops, alpha=self.alpha))

    def _rows(self, graphs: Graphs) -> np.ndarray:
        """What is compared of all nodes [S, d]."""
        if self.alpha == 1 and graphs.x is None:
            return np.zeros((int(graphs.sizes.sum()), 1))
        return node_features(graphs)

    def _feature_cost(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Costs [n, m] between the nodes of two graphs."""
        return cdist(one, other, "sqeuclidean")


class FGWWL(FGW):
    """FGW on Weisfeiler-Lehman labels: the cost of two nodes is the number of levels 0 … depth at which they differ.

    Parameters
    ----------
    alpha, solver, edges
        As in :class:`FGW`; labels and directions of edges count in the refinement, as in :class:`WLOA`.
    depth : int
        The number of levels beyond 0. Labels of level 0 are the distinct rows of x.
    """

    name = "fgw-wl"
    discrete = True
    edge_data = ("weights", "labels", "directions")

    def __init__(self, *, alpha: float = 0.5, depth: int = 4, solver: str = "lean", edges: bool = False) -> None:
        super().__init__(alpha=alpha, solver=solver, edges=edges)
        self.depth = depth

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        return [{"alpha": alpha} for alpha in (0.25, 0.5, 0.75)]  # with 1, labels are ignored

    def _rows(self, graphs: Graphs) -> np.ndarray:
        return wl_labels(graphs, self.depth, edges=self.edges).astype(np.float64)

    def _feature_cost(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return cdist(one, other, "hamming") * one.shape[1]


def finite_hops(adjacency: np.ndarray) -> np.ndarray:
    """Hops [n, n]; between components, the largest number of hops plus 1.

    >>> finite_hops(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 2., 0.]])
    """
    return _joined(hops(adjacency), 1.0)


def finite_lengths(lengths: np.ndarray) -> np.ndarray:
    """Lengths of shortest paths, both ways [n, n], from those of edges.

    Between components it is the largest length plus the mean length of an edge.

    >>> gap = np.inf
    >>> finite_lengths(np.array([[gap, 3.0, gap], [3.0, gap, gap], [gap, gap, gap]]))
    array([[0., 3., 6.],
           [3., 0., 6.],
           [6., 6., 0.]])
    """
    both = np.minimum(lengths, lengths.T)
    edges = both[np.isfinite(both)]
    return _joined(path_lengths(both), float(edges.mean()) if len(edges) else 1.0)


def _joined(far: np.ndarray, step: float) -> np.ndarray:
    """The same distances [n, n]; between components, the largest finite one plus a step."""
    return np.where(np.isfinite(far), far, far[np.isfinite(far)].max() + step)


def fgw_minimum(cost: np.ndarray, one: FGWInput, other: FGWInput, alpha: float) -> float:
    """The local minimum of FGW that POT's conditional gradient reaches from the uniform plan; NaN if that fails."""
    return float(_conditional_gradient(cost, one.hops, one.mean_squares, other.hops, other.mean_squares, alpha))


@njit
def _conditional_gradient(cost, hops, mean_squares, other_hops, other_mean_squares, alpha):
    """The value that conditional gradient reaches from the uniform plan T.

    With C, D the hops, |C_ik − D_jl|² = C_ik² + D_jl² − 2 C_ik D_jl, and the sums of the squares depend on the
    marginals of T only: the objective is <F, T> − 2α <C T D, T>, F_ij = (1 − α) cost_ij + α (mean squared hops of i
    and of j). A step t Δ, Δ of zero marginals, changes it by b t + a t², b = <gradient, Δ>, a = −2α <C Δ D, Δ>. Δ is
    the difference between T and the solution of a linear programme, whose solver starts from the previous solution.
    """
    n, m = cost.shape
    squares = mean_squares.reshape(n, 1) + other_mean_squares.reshape(1, m)
    plan = np.full((n, m), 1.0 / (n * m))
    product = hops @ plan @ other_hops  # C T D
    value = ((1 - alpha) * cost * plan).sum() + alpha * (squares * plan).sum() - 2 * alpha * (product * plan).sum()
    parent, flow, vertex = np.empty(n + m, np.int64), np.empty(n + m, np.int64), np.empty((n, m))
    for k in range(_MAX_ITERATIONS):
        gradient = (1 - alpha) * cost + 2 * alpha * (squares - 2 * product)
        if k == 0:
            start_tree(gradient, parent, flow)
        if solve(gradient, parent, flow, _MAX_PIVOTS) < 0:
            return np.nan
        plan_of(parent, flow, vertex)
        step = vertex - plan
        product_step = hops @ step @ other_hops  # C Δ D
        a, b = -2 * alpha * (product_step * step).sum(), (gradient * step).sum()
        minimiser = -b / (2 * a) if a > 0 else 1.0 if a + b < 0 else 0.0
        t = min(1.0, max(0.0, minimiser))
        before, value = value, value + a * t * t + b * t
        plan += t * step
        product += t * product_step
        change = abs(value - before)
        if not (change >= _TOLERANCE and change >= _TOLERANCE * abs(value)):
            break
    return value
