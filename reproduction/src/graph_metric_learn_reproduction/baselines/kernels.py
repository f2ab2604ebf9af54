"""Graph kernels: WL optimal assignment, propagation, hash graph kernels."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from graph_metric_learn._core.progress import progress_bar
from graph_metric_learn._core.validation import whole_number
from graph_metric_learn.features.onehot import binary_columns
from graph_metric_learn.graphs import Graphs

from .base import KernelSystem, normalized, positive
from .structure import (
    adjacencies,
    edge_lengths,
    hops,
    is_discrete,
    node_features,
    node_labels,
    path_lengths,
    per_graph,
    require_edge_data,
)
from .wl import intersections, wl_labels


class WLOA(KernelSystem):
    """Weisfeiler-Lehman optimal assignment kernel [1]_: how many nodes can be matched, summed over levels.

    It is computed as the histogram intersection of the labels of all levels 0 … depth. GraKeL's version gives the same
    numbers (the tests compare them), but takes 20 µs and more per pair.

    Parameters
    ----------
    depth : int
        The number of levels beyond 0. Labels of level 0 are the distinct rows of x.
    normalize : bool
        Whether k(G, G) is scaled to 1.
    edges : bool
        Whether labels and directions of edges count in the refinement (see :func:`wl_labels`). One-hot edge vectors
        are labels; other vectors and weights are not used. GraKeL's version has no such option.

    References
    ----------
    .. [1] N. Kriege, P.-L. Giscard, R. Wilson. On valid optimal assignment kernels and applications to graph
       classification. NIPS 2016.

    Examples
    --------
    >>> edge, alone = np.array([[0, 1], [1, 0]]), np.zeros((1, 1))
    >>> WLOA(depth=1, normalize=False).kernel([(edge, np.ones((2, 1))), (alone, np.ones((1, 1)))])
    array([[4., 1.],
           [1., 2.]])
    """

    name = "wl-oa"
    discrete = True

    def __init__(self, *, depth: int = 3, normalize: bool = True, edges: bool = False) -> None:
        self.depth, self.normalize, self.edges = depth, normalize, edges

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        return [{"depth": depth} for depth in (1, 2, 3, 4)]

    def kernel(self, graphs: Any, *, progress: bool | None = None) -> np.ndarray:
        """The kernel matrix [N, N]."""
        graphs = self.read(graphs)
        if self.edges:
            require_edge_data(graphs, "labels", "directions")
        kernel = intersections(graphs, wl_labels(graphs, self.depth, edges=self.edges), share=False)
        return normalized(kernel) if self.normalize else kernel


class PROPAK(KernelSystem):
    """Propagation kernel [1]_: labels or attributes diffuse along the edges, and are hashed and counted at every step.

    GraKeL makes the counts (`Propagation` for one-hot x, `PropagationAttr` otherwise). Their inner products are one
    sparse matrix product here instead of GraKeL's loop over pairs.

    Parameters
    ----------
    iterations : int
        Steps of the random walk; counts are taken before the first and after each.
    width : float, optional
        Width of the hash's bins; by default 1e-5 for labels (so that only equal distributions share a bin), 1 for
        attributes, which should be standardised.
    normalize : bool
        Whether k(G, G) is scaled to 1.
    seed : int
        For the hash.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage, K. Kersting. Propagation kernels: efficient graph kernels from
       propagated information. Machine Learning 102, 2016.
    """

    name = "propak"
    needs = ("grakel",)

    def __init__(
        self, *, iterations: int = 3, width: float | None = None, normalize: bool = True, seed: int = 0
    ) -> None:
        self.iterations, self.width, self.normalize, self.seed = iterations, width, normalize, seed

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        widths = (None,) if task_features in ("labels", "degree") else (1.0, 4.0)
        return [{"iterations": count, "width": width} for count in (1, 3, 5) for width in widths]

    def kernel(self, graphs: Any, *, progress: bool | None = None) -> np.ndarray:
        """The kernel matrix [N, N]."""
        self.require()
        whole_number("iterations", self.iterations, 0)
        positive(width=1.0 if self.width is None else self.width)
        from grakel import Propagation, PropagationAttr

        graphs = self.read(graphs)
        steps = self.iterations + 1
        if is_discrete(graphs):
            propagation, width, values = Propagation, 1e-5, node_labels(graphs)
        else:
            propagation, width, values = PropagationAttr, 1.0, node_features(graphs)
        width = width if self.width is None else self.width
        fitted = propagation(t_max=steps, w=width, random_state=self.seed).fit(_grakel_input(graphs, values))
        kernel = np.sum([_inner_products([counts[step] for counts in fitted.X]) for step in range(steps)], axis=0)
        return normalized(kernel) if self.normalize else kernel


class HGKSP(KernelSystem):
    """Hash graph kernel with the shortest-path kernel as base [1]_, for continuous features.

    Each iteration projects x on a random Gaussian direction; a node's label is the bin that its projection falls into.
    Columns of zeros and ones, which encode labels, are not hashed but become part of that label. The kernel is the sum
    of the shortest-path kernels of all iterations, normalised. GraKeL's `ShortestPath` counts the pairs of nodes by
    their labels and their distance; pairs of a node and itself are added, as the authors do.

    Parameters
    ----------
    iterations : int
        Number of hashes; one is used if there is nothing to hash: all columns encode labels.
    width : float
        Width of the bins; x should be standardised.
    seed : int
        For the hashes.
    edges : bool
        Whether weights are lengths of edges, not negative, and paths follow directions, as the shortest-path kernel is
        defined. It compares lengths by equality; lengths that are not whole numbers are hashed as attributes are, in
        units of their standard deviation, with bins of `width`. The kernel knows no labels of edges.

    References
    ----------
    .. [1] C. Morris, N. Kriege, K. Kersting, P. Mutzel. Faster kernels for graphs with continuous attributes via
       hashing. ICDM 2016.
    """

    name = "hgk-sp"
    needs = ("grakel",)

    def __init__(self, *, iterations: int = 20, width: float = 1.0, seed: int = 0, edges: bool = False) -> None:
        self.iterations, self.width, self.seed, self.edges = iterations, width, seed, edges

    def kernel(self, graphs: Any, *, progress: bool | None = None) -> np.ndarray:
        """The kernel matrix [N, N]."""
        self.require()
        graphs = self.read(graphs)
        paths, hashed = self._paths(graphs)
        hashes = list(self._hashes(node_features(graphs), paths_hashed=hashed))
        bar = progress_bar(progress, self.name, total=len(hashes), unit="hash", iterable=hashes)
        rng = np.random.default_rng([self.seed, 1])  # apart from the nodes', whose hashes do not depend on the paths
        total = np.zeros((len(graphs), len(graphs)))
        for labels in bar:
            shift = rng.uniform(0.0, self.width)
            bins = [np.floor((lengths + shift) / self.width) for lengths in paths] if hashed else paths
            total += _shortest_path_kernel(graphs, labels, bins)
        return normalized(total)

    def _paths(self, graphs: Graphs) -> tuple[list[np.ndarray], bool]:
        """Lengths of shortest paths [n, n] per graph, and whether they must be hashed; if so, standardised."""
        if not self.edges:
            return [hops(adjacency) for adjacency in adjacencies(graphs)], False
        require_edge_data(graphs, "weights", "directions")
        paths = [path_lengths(lengths) for lengths in edge_lengths(graphs)]
        finite = np.concatenate([part[np.isfinite(part) & ~np.eye(len(part), dtype=bool)] for part in paths])
        if (finite == np.floor(finite)).all():
            return paths, False
        return [part / (finite.std() or 1.0) for part in paths], True

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0) -> float | None:
        """Seconds that :meth:`kernel` will take: one hash of a sample, scaled by hashes and pairs of nodes."""
        self.require()
        graphs = self.read(graphs)
        some = graphs[np.random.default_rng(seed).permutation(len(graphs))[: max(1, pairs)]]
        began = time.perf_counter()
        type(self)(iterations=1, width=self.width, seed=self.seed, edges=self.edges).kernel(some, progress=False)
        spent = time.perf_counter() - began
        hashes = list(self._hashes(node_features(some), paths_hashed=self._paths(some)[1]))
        return spent * len(hashes) * float((graphs.sizes**2).sum() / (some.sizes**2).sum())

    def _hashes(self, x: np.ndarray, *, paths_hashed: bool) -> Iterable[np.ndarray]:
        """The labels of all nodes [S], one array per iteration; only one if nothing is hashed."""
        whole_number("iterations", self.iterations, 1)
        positive(width=self.width)
        codes = binary_columns(x)
        numbers = x[:, ~codes]
        rng = np.random.default_rng(self.seed)
        for _ in range(self.iterations if numbers.shape[1] or paths_hashed else 1):
            direction, shift = rng.normal(size=numbers.shape[1]), rng.uniform(0.0, self.width)
            bins = np.floor((numbers @ direction + shift) / self.width)
            rows = np.column_stack([bins, x[:, codes]])
            yield np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _shortest_path_kernel(graphs: Graphs, labels: np.ndarray, paths: list[np.ndarray]) -> np.ndarray:
    """Common (label, label, length) of pairs of nodes and common labels of nodes [N, N]; paths: [n, n] per graph."""
    from grakel import ShortestPath
    from grakel.graph import Graph

    converted = []
    for (adjacency, names), lengths in zip(_grakel_input(graphs, labels), paths, strict=True):
        graph = Graph(adjacency, names, {}, "adjacency")
        graph.shortest_path_mat = lengths  # otherwise GraKeL searches the same paths for every hash, in Python
        converted.append(graph)
    base = ShortestPath(normalize=False)
    base.fit(converted)
    pairs = _inner_products([base.X[g] for g in range(len(graphs))])
    return pairs + _inner_products([Counter(part.tolist()) for part in per_graph(graphs, labels)])


def _grakel_input(graphs: Graphs, values: np.ndarray) -> list[tuple[np.ndarray, dict[int, Any]]]:
    """Adjacency and {node: value} of each graph; a value is a number or a list of numbers."""
    parts = per_graph(graphs, values)
    return [(a.astype(int), dict(enumerate(part.tolist()))) for a, part in zip(adjacencies(graphs), parts, strict=True)]


def _inner_products(counts: list[Mapping[int, int]]) -> np.ndarray:
    """Σ over features of count_i · count_j [N, N], from {feature: count} of each graph."""
    owner = np.repeat(np.arange(len(counts)), [len(one) for one in counts])
    features = np.fromiter((feature for one in counts for feature in one), dtype=np.int64)
    values = np.fromiter((value for one in counts for value in one.values()), dtype=np.float64)
    columns = np.unique(features, return_inverse=True)[1]
    table = sparse.csr_array((values, (owner, columns)), shape=(len(counts), len(features) + 1))
    return (table @ table.T).toarray()
