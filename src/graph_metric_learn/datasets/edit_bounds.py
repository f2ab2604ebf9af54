"""The edit distance of two graphs: bounds by assignment of nodes, and networkx between them."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from .edit_costs import EditCosts, EditGraph

LARGEST = 400  # nodes, or edges, of both graphs together up to which networkx is asked: it takes memory for all pairs
_ROUNDING = 1e-9  # of sums of costs
_WORK = 200_000  # nodes and edges that are looked at while nodes are exchanged: a fraction of a second


def edit_distance(graph: EditGraph, other: EditGraph, costs: EditCosts, timeout: float) -> tuple[float, float]:
    """A lower and an upper bound, which are equal where the distance is known.

    networkx has `timeout` seconds to search between the bounds of :func:`bounds`; none where they meet, or where the
    graphs are so large that it would find nothing in its time.
    """
    lower, upper = bounds(graph, other, costs)
    most = max(graph.n + other.n, graph.ends.shape[1] + other.ends.shape[1])
    if lower < upper and timeout > 0 and most <= LARGEST:
        lower, upper = _searched(graph, other, costs, lower, upper, timeout)
    return lower, upper


def bounds(graph: EditGraph, other: EditGraph, costs: EditCosts) -> tuple[float, float]:
    """A lower and an upper bound of the distance, by the cheapest assignment of nodes with halves of their edges.

    An edge has two ends, and an assignment of nodes that pays half of each edge at either end, with the ends of edges
    assigned for each pair of nodes alone, pays no more than any edit path (the bound BRANCH of Blumenthal and Gamper,
    2018). What that assignment costs in truth, after exchanging pairs of nodes while that helps, bounds the distance
    from above.
    """
    of_edges = costs.edges(graph, other)
    change = costs.nodes(graph, other) + 0.5 * _ends_of_edges(graph, other, of_edges, costs.edge)
    gone, come = (costs.node + 0.5 * costs.edge * np.bincount(g.ends.ravel(), minlength=g.n) for g in (graph, other))
    saved = np.minimum(change - gone[:, None] - come, 0.0)
    rows, columns = linear_sum_assignment(saved)
    kept = change[rows, columns] <= gone[rows] + come[columns] + _ROUNDING
    lower = float(gone.sum() + come.sum() + saved[rows, columns].sum())
    image = np.full(graph.n, -1)
    image[rows[kept]] = columns[kept]
    upper = _exchanged(PathCost(graph, other, costs), image)
    return _met(lower, upper, costs.step(graph, other))


class PathCost:
    """What it costs to turn one graph into another, given what becomes of its nodes."""

    def __init__(self, graph: EditGraph, other: EditGraph, costs: EditCosts) -> None:
        self.other_n, self._directed, self._single = other.n, graph.directed, costs.edge
        # Compared with deleting and inserting all: negative where it is cheaper.
        self._change_nodes = (costs.nodes(graph, other) - 2 * costs.node).tolist()
        self._change_edges = costs.edges(graph, other)
        self._all = costs.node * (graph.n + other.n) + costs.edge * (graph.ends.shape[1] + other.ends.shape[1])
        self._ends = graph.ends.T.tolist()
        self.work = graph.n + len(self._ends)
        self._places: dict[tuple[int, int], list[int]] = {}
        for j, ends in enumerate(_in_one_order(other.ends, other.directed)):
            self._places.setdefault(ends, []).append(j)

    def of(self, image: list[int]) -> float:
        """The cost of turning each node into node image[i] of the other, or deleting it where that is −1."""
        total = self._all
        moved: dict[tuple[int, int], list[int]] = {}
        for i, j in enumerate(image):
            if j >= 0:
                total += self._change_nodes[i][j]
        for i, (tail, head) in enumerate(self._ends):
            a, b = image[tail], image[head]
            ends = (b, a) if a > b and not self._directed else (a, b)
            if ends in self._places:
                moved.setdefault(ends, []).append(i)
        for ends, own in moved.items():
            total -= _saved(self._change_edges[np.ix_(own, self._places[ends])], self._single)
        return total


def _exchanged(cost: PathCost, image: np.ndarray) -> float:
    """The least cost that is found by exchanging what becomes of two nodes, one exchange after the other.

    Nodes of the other graph that come from none, and places for deleted ones, take part.
    """
    n, free = len(image), sorted(set(range(cost.other_n)) - set(image.tolist()))
    slots = [*image.tolist(), *free]
    best, tries, improved = cost.of(slots[:n]), _WORK // cost.work, True
    while improved and tries > 0:
        improved = False
        slots += [-1] * (-1 not in slots[n:])
        for a, b in combinations(range(len(slots)), 2):
            if a >= n or slots[a] == slots[b]:
                continue
            slots[a], slots[b] = slots[b], slots[a]
            value, tries = cost.of(slots[:n]), tries - 1
            if value < best - _ROUNDING:
                best, improved = value, True
            else:
                slots[a], slots[b] = slots[b], slots[a]
            if not tries:
                break
    return best


def _ends_of_edges(graph: EditGraph, other: EditGraph, of_edges: np.ndarray, edge: float) -> np.ndarray:
    """What it costs to turn the edges at each node of a graph into those at each node of another [n, m]."""
    total = np.zeros((graph.n, other.n))
    for own, others in zip(_edges_at(graph), _edges_at(other), strict=True):
        counts, other_counts = (np.array([len(one) for one in listed]) for listed in (own, others))
        total += edge * (counts[:, None] + other_counts)
        if not of_edges.any():
            total -= 2 * edge * np.minimum(counts[:, None], other_counts)
            continue
        for u, mine in enumerate(own):
            for v, theirs in enumerate(others):
                total[u, v] -= _saved(of_edges[np.ix_(mine, theirs)], edge)
    return total


def _edges_at(graph: EditGraph) -> list[list[list[int]]]:
    """Indices of the edges at each node: of those that leave, and of those that come where edges are directed."""
    leaving: list[list[int]] = [[] for _ in range(graph.n)]
    coming: list[list[int]] = [[] for _ in range(graph.n)] if graph.directed else leaving
    for i, (tail, head) in enumerate(graph.ends.T.tolist()):
        leaving[tail].append(i)
        coming[head].append(i)
    return [leaving, coming] if graph.directed else [leaving]


def _saved(change: np.ndarray, single: float) -> float:
    """How much less the best assignment costs than to delete all rows and insert all columns, at `single` each."""
    if not change.size:
        return 0.0
    saved = np.minimum(change - 2 * single, 0.0)
    return -float(saved.min() if saved.size == 1 else saved[linear_sum_assignment(saved)].sum())


def _in_one_order(ends: np.ndarray, directed: bool) -> list[tuple[int, int]]:
    """Ends [2, e] as tuples, the smaller one first where there are no directions."""
    return [(a, b) for a, b in (ends if directed else np.sort(ends, axis=0)).T.tolist()]


def _met(lower: float, upper: float, step: float) -> tuple[float, float]:
    """Bounds, rounded up to what sums of costs can be, and equal where only rounding is between them."""
    slack = _ROUNDING * max(1.0, upper)
    lower = float(np.ceil(lower / step - slack) * step) if step else lower
    return (upper, upper) if lower >= upper - slack else (lower, upper)


def _searched(
    graph: EditGraph, other: EditGraph, costs: EditCosts, lower: float, upper: float, timeout: float
) -> tuple[float, float]:
    """Bounds after so many seconds of networkx, which goes from one edit path to a cheaper one.

    Where changing a node may cost as much as replacing it, networkx overlooks paths: it does not try to keep a node
    that the cheapest assignment deletes, unless the first graph has more nodes left than the second. There it gets
    spare nodes without edges, which are deleted for nothing, and cost as much as an insertion when they are changed.
    """
    import networkx as nx

    of_nodes, of_edges = costs.nodes(graph, other), costs.edges(graph, other)
    spare = other.n + 1 if (of_nodes >= 2 * costs.node - _ROUNDING).any() else 0
    of_nodes = np.concatenate([of_nodes, np.full((spare, other.n), costs.node)])
    several = any(len(set(_in_one_order(one.ends, one.directed))) < one.ends.shape[1] for one in (graph, other))
    start = time.perf_counter()
    paths = nx.optimize_edit_paths(
        _as_networkx(graph, several, spare),
        _as_networkx(other, several),
        node_subst_cost=lambda own, its: of_nodes[own["i"], its["i"]],
        node_del_cost=lambda own: costs.node if own["i"] < graph.n else 0.0,
        node_ins_cost=lambda _: costs.node,
        edge_subst_cost=lambda own, its: of_edges[own["i"], its["i"]],
        edge_del_cost=lambda _: costs.edge,
        edge_ins_cost=lambda _: costs.edge,
        upper_bound=upper,
        timeout=None if timeout == np.inf else timeout,
    )
    for _, _, cost in paths:
        lower, upper = _met(lower, min(upper, cost), 0.0)
        if lower == upper:
            return lower, upper
    complete = time.perf_counter() - start < timeout  # or it would have found any cheaper path
    return (upper, upper) if complete else (lower, upper)


def _as_networkx(graph: EditGraph, several: bool, spare: int = 0) -> Any:
    """A graph of networkx whose nodes and edges carry their index "i", and so many nodes without edges after them.

    `several` is whether edges of either graph are parallel.
    """
    import networkx as nx

    kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
    made = kinds.get((graph.directed, several), nx.MultiDiGraph)()
    made.add_nodes_from((i, {"i": i}) for i in range(graph.n + spare))
    made.add_edges_from((tail, head, {"i": i}) for i, (tail, head) in enumerate(graph.ends.T.tolist()))
    return made
