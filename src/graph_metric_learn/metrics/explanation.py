"""Why two graphs are as far apart as they are: which nodes were matched, and what each costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs import Graphs

_LONGEST_NAME = 40  # letters of a name that a title shows


@dataclass(frozen=True, repr=False)
class Explanation:
    """A distance taken apart.

    Attributes
    ----------
    distance : float
        Between the two graphs.
    plan : ndarray [n, m]
        How much mass each node of the first graph sends to each node of the second, averaged over directions or terms.
        Rows add up to 1 / n, columns to 1 / m.
    source_share, target_share : ndarray [n], [m]
        Each node's share of the squared distance; adds up to 1 (all 0 for a distance of 0).
    graphs : Graphs
        The two graphs, with their names if both have one.
    edge_ends : list of two ndarrays [2, e], optional
        The edges of each graph that are compared as such, by the places of their nodes.
    edge_source_share, edge_target_share : ndarray [e], optional
        Their shares of the squared distance; with those of the nodes they add up to 1.
    term_share : dict of float, optional
        Share of the squared distance by what was compared, the largest first; adds up to 1.
    """

    distance: float
    plan: np.ndarray
    source_share: np.ndarray
    target_share: np.ndarray
    graphs: Graphs
    edge_ends: list[np.ndarray] | None = None
    edge_source_share: np.ndarray | None = None
    edge_target_share: np.ndarray | None = None
    term_share: dict[str, float] | None = None

    @property
    def names(self) -> tuple[str, str] | None:
        """What the two graphs are called, if both have a name."""
        return None if self.graphs.names is None else (self.graphs.names[0], self.graphs.names[1])

    def __repr__(self) -> str:
        sizes = [f"{n} node{'s' * (n != 1)}" for n in self.plan.shape]
        if self.names is None:
            return f"Explanation(distance {self.distance:.3g} between graphs of {sizes[0]} and {sizes[1]})"
        sides = [f"{name!r} ({size})" for name, size in zip(self.names, sizes, strict=True)]
        return f"Explanation(distance {self.distance:.3g} between {sides[0]} and {sides[1]})"

    def matches(self, k: int = 10) -> list[tuple[int, int, float]]:
        """The k heaviest matches: (node of the first, node of the second, mass); nodes by their place in the graph."""
        heaviest = np.argsort(-self.plan, axis=None, kind="stable")[:k]
        pairs = zip(*np.unravel_index(heaviest, self.plan.shape), strict=True)
        return [(int(i), int(j), float(self.plan[i, j])) for i, j in pairs if self.plan[i, j] > 0]

    def plot(self, ax: Any = None, *, k: int | None = None, positions: tuple[Any, Any] | None = None) -> Any:
        """Draws both graphs side by side and the k heaviest matches between them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when None.
        k : int, optional
            How many matches; as many as the larger graph has nodes when None.
        positions : pair of arrays [n, 2], [m, 2], optional
            Where the nodes are; laid out by their edges when None.

        Returns
        -------
        matplotlib Axes
            Nodes are coloured by their share of the distance; edges that have one are red and thick. The title has
            the distance and, if both graphs have a name, their names.
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(9, 4.5), layout="constrained").add_subplot()
        n, m = self.plan.shape
        places = [
            _unit_square(_layout(self.graphs, side) if positions is None else np.asarray(positions[side], dtype=float))
            for side in (0, 1)
        ]
        places[1][:, 0] += 1.6
        for i, j, mass in self.matches(max(n, m) if k is None else k):
            ends = np.stack([places[0][i], places[1][j]]).T
            ax.plot(*ends, color="0.5", linewidth=0.4 + 2.5 * mass * max(n, m) / 2, alpha=0.35, zorder=1)
        edge_shares = [self._edge_shares(side) for side in (0, 1)]
        of_edges = [share for found in edge_shares for share in found.values()]
        top = max([1e-12, float(self.source_share.max()), float(self.target_share.max()), *of_edges])
        for side, share in enumerate((self.source_share, self.target_share)):
            here, start = places[side], self.graphs.offsets[side]
            tail, head = self.graphs.edges
            inside = (tail >= start) & (tail < start + len(here)) & (tail < head)
            for a, b in self.graphs.edges[:, inside].T - start:
                part = max(0.0, edge_shares[side].get((int(a), int(b)), 0.0)) / top
                ax.plot(*here[[a, b]].T, color=(0.2 + 0.7 * part, 0.2, 0.2), linewidth=1.0 + 3.0 * part, zorder=2)
            ax.scatter(*here.T, c=share, cmap="YlOrRd", vmin=0, vmax=top, s=60, edgecolors="0.2", zorder=3)
        title = f"distance {self.distance:.3g}"
        if self.names is not None:
            title = "\n".join([" – ".join(map(_shortened, self.names)), title])
        ax.set_title(title, parse_math=False)  # a SMILES may hold dollar signs
        ax.set_aspect("equal")
        ax.axis("off")
        return ax

    def _edge_shares(self, side: int) -> dict[tuple[int, int], float]:
        """Shares of the edges of one graph by their nodes, the smaller first; those of parallel edges together."""
        share = (self.edge_source_share, self.edge_target_share)[side]
        found: dict[tuple[int, int], float] = {}
        if share is not None and self.edge_ends is not None:
            for (a, b), part in zip(self.edge_ends[side].T.tolist(), share.tolist(), strict=True):
                place = (min(a, b), max(a, b))
                found[place] = found.get(place, 0.0) + part
        return found


def _shortened(name: str) -> str:
    """
    >>> _shortened("aspirin"), _shortened("C" * 100)[-3:], len(_shortened("C" * 100))
    ('aspirin', 'CC…', 40)
    """
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _layout(graphs: Graphs, side: int) -> np.ndarray:
    """Node positions of one graph from its edges [n, 2]."""
    import networkx as nx

    start, n = graphs.offsets[side], graphs.sizes[side]
    graph = nx.empty_graph(int(n))
    inside = (graphs.edges[0] >= start) & (graphs.edges[0] < start + n)
    graph.add_edges_from((graphs.edges[:, inside] - start).T.tolist())
    placed = nx.spring_layout(graph, seed=0)
    return np.array([placed[i] for i in range(int(n))])


def _unit_square(places: np.ndarray) -> np.ndarray:
    low, high = places.min(0), places.max(0)
    return (places - low) / max(float((high - low).max()), 1e-12)
