"""Small vector drawings of graphs and of maps: where each line, node and label goes. Templates write the SVG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_MAP_SIDE = 240  # width and height of a map, in its own units
_MAP_MARGIN = 10
_N_COLOURS = 10  # that the style sheet has


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


class MapDrawing(NamedTuple):
    """Labelled points in a square.

    Attributes
    ----------
    side : int
        Width and height of the square.
    marks : list of (float, float, int, str)
        x, y, number of the colour and label of each point.
    alt : str
        A description in words.
    """

    side: int
    marks: list[tuple[float, float, int, str]]
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


def draw_map(points: np.ndarray, labels: np.ndarray, alt: str) -> MapDrawing:
    """Draws points in the plane, each as its label, in one colour per label.

    Parameters
    ----------
    points : ndarray [N, 2]
    labels : ndarray [N]
        Short ones: digits, letters.
    alt : str
        A description in words.
    """
    low, high = points.min(0), points.max(0)
    extent = max(float((high - low).max()), 1e-12)
    places = (points - (low + high) / 2) / extent * (_MAP_SIDE - 2 * _MAP_MARGIN) + _MAP_SIDE / 2
    _, codes = np.unique(labels, return_inverse=True)
    marks = [
        (float(x), float(y), int(code) % _N_COLOURS, str(label))
        for (x, y), code, label in zip(places, codes, labels, strict=True)
    ]
    return MapDrawing(_MAP_SIDE, marks, alt)
