"""Small vector drawings of graphs: where each line and node goes. Templates write the SVG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class GraphDrawing(NamedTuple):
    """A graph in a square of side 80.

    Attributes
    ----------
    path : str
        The edges, as the `d` of an SVG path.
    circles : list of (int, int, float)
        x, y and radius of each node.
    alt : str
        A description in words.
    """

    path: str
    circles: list[tuple[int, int, float]]
    alt: str


def draw_graph(positions: np.ndarray, edges: np.ndarray, weights: np.ndarray, alt: str) -> GraphDrawing:
    """Draws a graph.

    Parameters
    ----------
    positions : ndarray [n, 2]
        In the square from −1 to 1, y upwards.
    edges : ndarray [2, E]
        Pairs of nodes, each edge in both directions; it is drawn once.
    weights : ndarray [n]
        Sizes of the nodes, from 0 (small) to 1 (large).
    alt : str
        A description in words.

    Examples
    --------
    >>> draw_graph(np.array([[-1, 0], [1, 0]]), np.array([[0, 1], [1, 0]]), np.ones(2), "an edge")
    GraphDrawing(path='M6 40L74 40', circles=[(6, 40, 3.4), (74, 40, 3.4)], alt='an edge')
    """
    places = np.rint(np.stack([40 + 34 * positions[:, 0], 40 - 34 * positions[:, 1]], axis=1)).astype(int).tolist()
    lines = ("M{} {}L{} {}".format(*places[a], *places[b]) for a, b in np.transpose(edges) if a < b)
    circles = [(x, y, round(float(1.2 + 2.2 * weight), 1)) for (x, y), weight in zip(places, weights, strict=True)]
    return GraphDrawing("".join(lines), circles, alt)
