"""Wasserstein Weisfeiler-Lehman distances."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from graph_metric_learn._core.validation import one_of
from graph_metric_learn.graphs import Graphs

from .pairs import PairwiseSystem
from .structure import is_discrete, per_graph
from .wasserstein import uniform_cost
from .wl import intersections, wl_features, wl_labels

SOLVERS = ("tree", "emd")
FEATURE_KINDS = ("auto", "discrete", "continuous")


class Nodes(NamedTuple):
    """What is compared of a graph's nodes: a row for each [n, d], and the name of the distance between rows."""

    rows: np.ndarray
    ground_metric: str


class WWL(PairwiseSystem):
    r"""Optimal transport between the Weisfeiler-Lehman labels or features of the nodes, each of mass 1/n [1]_.

    Discrete: the distance of two nodes is the share of levels 0 … depth at which their labels differ. Continuous: the
    Euclidean distance of the concatenated features of all levels. The paper's kernel is exp(−λ D).

    Parameters
    ----------
    depth : int
        The number of levels beyond 0.
    last_only : bool
        Whether to compare the last level only, as the ablation of the paper does.
    kind : {"auto", "discrete", "continuous"}
        "auto": discrete if x is one-hot. Discrete labels are the distinct rows of x.
    solver : {"tree", "emd"}
        For discrete labels: "tree" is the closed form below, "emd" a linear programme per pair (POT), as published.
        They give the same distances. Continuous features always use the linear programme.

    Notes
    -----
    *The closed form.* Labels only split from level to level: nodes with equal labels at level h have equal labels at
    all levels below. So, with p_h and q_h the shares of the labels at level h among the nodes of two graphs, and L
    levels,

    .. math:: D = \frac{1}{L} \sum_h \Bigl(1 - \sum_l \min(p_h(l), q_h(l))\Bigr).

    No plan costs less: the mass that it moves between nodes of different labels at level h is at least the total
    variation 1 − Σ min(p_h, q_h). One plan reaches this bound at all levels at once: match as much mass as possible
    within each label of the last level, then as much of the rest as possible within each label of the level before, and
    so on. Mass matched within a label is also matched within its parent, so after level h the matched mass within each
    label l is min(p_h(l), q_h(l)), the largest possible.

    References
    ----------
    .. [1] M. Togninalli, E. Ghisu, F. Llinares-López, B. Rieck, K. Borgwardt. Wasserstein Weisfeiler-Lehman Graph
       Kernels. NeurIPS 2019.

    Examples
    --------
    >>> edge, alone = np.array([[0, 1], [1, 0]]), np.zeros((1, 1))
    >>> WWL(depth=1).distances([(edge, np.ones((2, 1))), (alone, np.ones((1, 1)))])
    array([[0. , 0.5],
           [0.5, 0. ]])
    """

    name = "wwl"
    needs = ("ot",)

    def __init__(self, *, depth: int = 2, last_only: bool = False, kind: str = "auto", solver: str = "tree") -> None:
        self.depth, self.last_only, self.kind, self.solver = depth, last_only, kind, solver

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        return [{"depth": depth} for depth in (1, 2, 3, 4)]

    def prepare(self, graphs: Graphs) -> list[Nodes]:
        if self._discrete(graphs):
            rows, metric = self._labels(graphs).astype(np.float64), "hamming"
        else:
            levels = wl_features(graphs, self.depth)[-1 if self.last_only else 0 :]
            rows, metric = np.concatenate(list(levels), axis=1), "euclidean"
        return [Nodes(part, metric) for part in per_graph(graphs, rows)]

    def pair(self, one: Nodes, other: Nodes) -> float:
        return uniform_cost(cdist(one.rows, other.rows, one.ground_metric))

    def closed_form(self, graphs: Graphs) -> np.ndarray | None:
        """The closed form for discrete labels, unless the other solver is set."""
        return self._tree_distances(graphs) if self._by_tree(graphs) else None

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0, limit: float = 60.0) -> float | None:
        """Seconds that all distances will take with one job and the chosen solver, from a timed random sample."""
        graphs = self.read(graphs)
        if not self._by_tree(graphs):
            return super().estimate_seconds(graphs, pairs=pairs, seed=seed, limit=limit)
        some = graphs[np.random.default_rng(seed).permutation(len(graphs))[: max(2, pairs)]]
        self._tree_distances(some)  # compiles
        began = time.perf_counter()
        self._labels(graphs)
        for_labels = time.perf_counter() - began
        labels = self._labels(some)
        began = time.perf_counter()
        intersections(some, labels, share=True)
        return for_labels + (time.perf_counter() - began) * (len(graphs) / len(some)) ** 2

    def _by_tree(self, graphs: Graphs) -> bool:
        one_of("solver", self.solver, SOLVERS)
        return self.solver == "tree" and self._discrete(graphs)

    def _discrete(self, graphs: Graphs) -> bool:
        one_of("kind", self.kind, FEATURE_KINDS)
        return is_discrete(graphs) if self.kind == "auto" else self.kind == "discrete"

    def _labels(self, graphs: Graphs) -> np.ndarray:
        """The labels of the levels that are compared [S, L]."""
        return wl_labels(graphs, self.depth)[:, -1 if self.last_only else 0 :]

    def _tree_distances(self, graphs: Graphs) -> np.ndarray:
        labels = self._labels(graphs)
        distances = 1.0 - intersections(graphs, labels, share=True) / labels.shape[1]
        np.fill_diagonal(distances, 0.0)
        return distances
