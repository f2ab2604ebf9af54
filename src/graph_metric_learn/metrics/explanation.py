"""Why two graphs are as far apart as they are: which nodes were matched, and what each costs.

Its drawings are in `viz/explanations.py`, which is imported when a drawing is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..graphs import Graphs
from ..graphs.depiction import Depiction, depictions

_LONGEST_NAME = 40  # characters of a name that a title shows
_MOST_MATCHES = 10  # that a drawing shows: more is a tangle
_N_NAMED = 3  # ways to compare, and nodes, that a summary names


@dataclass(frozen=True)
class Evidence:
    """What the learned scores see in the nodes of two graphs: which speak for a class, or raise a number.

    Attributes
    ----------
    towards : str
        The class that the scores give the first graph; or which number.
    against : str or None
        The class that the scores give the second graph, where it is another one.
    is_number : bool
        Whether scores are numbers, in the units of the targets, and not votes for classes.
    change : float
        The score of the first graph minus that of the second. The score is that for `towards`, less that for `against`.
    source, target : ndarray [n], [m]
        How much each node raises the score of its graph, measured against the other graph: they add up to `change` and
        −`change`, with those of the edges.
    edge_source, edge_target : ndarray [e], optional
        The same of edges.
    """

    towards: str
    against: str | None
    is_number: bool
    change: float
    source: np.ndarray
    target: np.ndarray
    edge_source: np.ndarray | None = None
    edge_target: np.ndarray | None = None


@dataclass(frozen=True, repr=False)
class Explanation:
    """A distance taken apart.

    Attributes
    ----------
    distance : float
        Between the two graphs.
    plan : ndarray [n, m]
        How much mass each node of the first graph sends to each node of the second, averaged over directions or
        families. Rows add up to 1 / n, columns to 1 / m; with ``SGML(masses="learned")``, to the masses of the nodes.
    source_share, target_share : ndarray [n], [m]
        Each node's share of the squared distance; adds up to 1 (all 0 for a distance of 0).
    graphs : Graphs
        The two graphs, with their names if both have one.
    edge_ends : list of two ndarrays [2, e], optional
        The edges of each graph that are compared as such, by the indices of their nodes.
    edge_source_share, edge_target_share : ndarray [e], optional
        Their shares of the squared distance; with those of the nodes they add up to 1.
    term_share : dict of float, optional
        Share of the squared distance by what was compared, the largest first; adds up to 1.
    block_share : dict of float, optional
        Share of the squared distance by block of node or edge features, the largest first; adds up to 1.
    evidence : Evidence, optional
        Which nodes speak for which class, or raise the number, where the distance has learned scores.
    depicted : tuple of two Depiction, optional
        How the two graphs look: names of their nodes, positions, molecules.
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
    block_share: dict[str, float] | None = None
    evidence: Evidence | None = None
    depicted: tuple[Depiction, Depiction] | None = None

    def drawn_as(self, originals: list[Any]) -> Explanation:
        """The same, with names and positions of nodes as in the user's own two graphs."""
        one, two = depictions(originals, self.graphs)
        return replace(self, depicted=(one, two))

    @property
    def names(self) -> tuple[str, str] | None:
        """What the two graphs are called, if both have a name."""
        return None if self.graphs.names is None else (self.graphs.names[0], self.graphs.names[1])

    @property
    def node_names(self) -> tuple[list[str], list[str]]:
        """What the user calls the nodes of the two graphs: ids of NetworkX nodes, atoms as "O3", else numbers."""
        one, two = self.looks
        return one.names, two.names

    def __repr__(self) -> str:
        return "\n".join(self.in_words())

    def in_words(self) -> list[str]:
        """Three lines: the distance, what it is made of, and the nodes with the largest shares."""
        sizes = [f"{n} node{'s' * (n != 1)}" for n in self.plan.shape]
        sides = sizes
        if self.names is not None:
            sides = [f"{_shortened(name)!r} ({size})" for name, size in zip(self.names, sizes, strict=True)]
        between = f"graphs of {sides[0]} and {sides[1]}" if self.names is None else f"{sides[0]} and {sides[1]}"
        terms = list((self.term_share or {}).items())[:_N_NAMED]
        from_terms = ", ".join(f"{_percent(share)} {name}" for name, share in terms) or "one cloud of encoded nodes"
        more = len(self.term_share or {}) - len(terms)
        heaviest = " and ".join(
            ", ".join(f"{names[i]} {_percent(share[i])}" for i in np.argsort(-share, kind="stable")[:_N_NAMED])
            for names, share in zip(self.node_names, (self.source_share, self.target_share), strict=True)
        )
        return [
            f"Explanation: distance {self.distance:.3g} between {between}",
            f"  d² from: {from_terms}{f' and {more} more' if more else ''}",
            f"  nodes with the largest shares: {heaviest}",
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it, nodes by their names."""
        one, two = self.node_names
        evidence = self.evidence
        edges = [
            [[names[a], names[b], share] for (a, b), share in self.edge_shares(side).items() if a >= 0]
            for side, names in enumerate((one, two))
        ]
        return {
            "graphs": None if self.names is None else list(self.names),
            "distance": self.distance,
            "terms": self.term_share,
            "blocks": self.block_share,
            "nodes": [
                [[name, share] for name, share in zip(names, shares.tolist(), strict=True)]
                for names, shares in ((one, self.source_share), (two, self.target_share))
            ],
            "edges": None if self.edge_ends is None else edges,
            "matches": [[one[i], two[j], mass] for i, j, mass in self.matches()],
            "learned": None if evidence is None else {
                "towards": evidence.towards, "against": evidence.against, "change": evidence.change,
                "nodes": [evidence.source.tolist(), evidence.target.tolist()],
            },
        }  # fmt: skip

    def _repr_html_(self) -> str:
        from ..viz.explanations import explanation_html

        return explanation_html(self)

    def matches(self, k: int = _MOST_MATCHES) -> list[tuple[int, int, float]]:
        """The k heaviest matches: (node of the first, node of the second, mass); nodes by index."""
        heaviest = np.argsort(-self.plan, axis=None, kind="stable")[:k]
        pairs = zip(*np.unravel_index(heaviest, self.plan.shape), strict=True)
        return [(int(i), int(j), float(self.plan[i, j])) for i, j in pairs if self.plan[i, j] > 0]

    def plot(self, ax: Any = None, *, k: int = _MOST_MATCHES, positions: tuple[Any, Any] | None = None) -> Any:
        """Draws both graphs side by side, the k heaviest matches between them, and a bar that says what colours mean.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when None.
        k : int
            How many matches.
        positions : pair of arrays [n, 2], [m, 2], optional
            Where the nodes are; when None where the graphs say so, molecules as RDKit places them, else by their edges.

        Returns
        -------
        matplotlib Axes
            Nodes are coloured by their share of the squared distance: orange adds to it, purple takes off. Edges that
            have a share are coloured likewise and thick. Atoms but carbon are written, bonds drawn with their order.
            The title has the distance and, if both graphs have a name, their names.
        """
        from ..viz.explanations import plot_explanation

        return plot_explanation(self, ax, k, positions)

    def edge_shares(self, side: int) -> dict[tuple[int, int], float]:
        """Shares of the edges of one graph by their nodes, the smaller first; those of parallel edges together."""
        share = (self.edge_source_share, self.edge_target_share)[side]
        total: defaultdict[tuple[int, int], float] = defaultdict(float)
        if share is not None and self.edge_ends is not None:
            for (a, b), part in zip(self.edge_ends[side].T.tolist(), share.tolist(), strict=True):
                total[min(a, b), max(a, b)] += part
        return dict(total)

    @property
    def title(self) -> str:
        """The names of the two graphs, shortened, and their distance."""
        names = "" if self.names is None else " – ".join(map(_shortened, self.names)) + "\n"
        return f"{names}distance {self.distance:.3g}"

    @property
    def looks(self) -> tuple[Depiction, Depiction]:
        """How the two graphs are drawn."""
        if self.depicted is not None:
            return self.depicted
        one, two = depictions(None, self.graphs)
        return one, two


def _shortened(name: str) -> str:
    """
    >>> _shortened("aspirin"), _shortened("C" * 100)[-3:], len(_shortened("C" * 100))
    ('aspirin', 'CC…', 40)
    """
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _percent(share: float) -> str:
    """
    >>> _percent(0.617), _percent(0.004), _percent(-0.0001)
    ('62 %', '0.4 %', '0 %')
    """
    percent = 100 * share
    return f"{percent:.0f} %" if abs(percent) >= 1 else f"{percent:.1f} %".replace("-0.0", "0").replace("0.0 ", "0 ")
