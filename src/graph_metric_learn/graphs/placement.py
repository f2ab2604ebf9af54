"""Places in the plane for the nodes of a graph, from its edges alone, so that steps along edges become lengths."""

from __future__ import annotations

import numpy as np
from scipy import sparse

_MOST_BY_STRESS = 400  # nodes; larger components are placed by distances to few pivots
_N_STEPS = 50
_N_PIVOTS = 50
_GAP = 1.0  # between components, in steps along edges


def place_nodes(n: int, edges: np.ndarray, seed: int = 0) -> np.ndarray:
    """Where to draw n nodes joined by edges [2, e]: places [n, 2], about one unit of length per edge.

    The distance of two nodes in the drawing is as near as can be to the number of edges between them (stress
    majorization, started from classical scaling). Parts that are not joined stand side by side. One seed, one drawing.

    >>> path = place_nodes(3, np.array([[0, 1], [1, 2]]))
    >>> np.linalg.norm(np.diff(path, axis=0), axis=1).round(2)
    array([1., 1.])
    """
    ends = edges.astype(np.int32)  # csgraph of SciPy before 1.13 takes no others
    adjacency = sparse.csr_array((np.ones(edges.shape[1]), (ends[0], ends[1])), shape=(n, n))
    adjacency = adjacency + adjacency.T
    count, member = sparse.csgraph.connected_components(adjacency, directed=False)
    parts = [np.flatnonzero(member == part) for part in range(count)]
    placed = [_upright(_component(adjacency[part][:, part], np.random.default_rng(seed))) for part in parts]
    places = np.zeros((n, 2))
    for part, origin, own in zip(parts, _packed([own.max(0) for own in placed]), placed, strict=True):
        places[part] = own + origin
    return places


def _component(adjacency: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Places [n, 2] of nodes that are all joined; of too many for all pairs, by distances to few pivots."""
    n = adjacency.shape[0]
    if n == 1:
        return np.zeros((1, 2))
    if n <= _MOST_BY_STRESS:
        steps = sparse.csgraph.shortest_path(adjacency, unweighted=True, directed=False)
        return _least_stress(steps, _scaled(steps) + 0.05 * rng.normal(size=(n, 2)))
    pivots = rng.permutation(n)[:_N_PIVOTS]
    steps = sparse.csgraph.dijkstra(adjacency, directed=False, indices=pivots, unweighted=True).T
    places = _scaled(steps)
    return places * (steps.max() / max(float(np.ptp(places, axis=0).max()), 1e-9))


def _scaled(steps: np.ndarray) -> np.ndarray:
    """Classical scaling of distances [n, n] to the plane, or of those to pivots [n, k]."""
    squares = steps**2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean())
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(steps), 2))
    wide = min(2, left.shape[1])
    places[:, :wide] = left[:, :wide] * np.sqrt(values[:wide])
    return places


def _least_stress(steps: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Majorization of Σ (|x_i − x_j| − d_ij)² / d_ij²."""
    np.fill_diagonal(steps, 1.0)
    weights = steps**-2.0
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(1)) - weights
    inverse = np.linalg.inv(laplacian + 1.0 / len(steps))  # on differences of places; their mean does not count
    towards = weights * steps
    for _ in range(_N_STEPS):
        gaps = places[:, None] - places[None]
        lengths = np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps))
        np.maximum(lengths, 1e-9, out=lengths)
        ratio = towards / lengths
        places = inverse @ (ratio.sum(1)[:, None] * places - ratio @ places)
    return places


def _upright(places: np.ndarray) -> np.ndarray:
    """Turned so that the longest extent is horizontal, with the lower left corner at 0."""
    centred = places - places.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    if axes.shape == (2, 2):
        centred = centred @ axes.T
    return centred - centred.min(0)


def _packed(extents: list[np.ndarray]) -> list[np.ndarray]:
    """Lower left corners of boxes of these extents, in rows of about the same width; in the order given."""
    area = sum(float((one[0] + _GAP) * (one[1] + _GAP)) for one in extents)
    widest = max(1.5 * np.sqrt(area), max(float(one[0]) for one in extents))
    corners: list[np.ndarray] = [np.zeros(2)] * len(extents)
    x = y = height = 0.0
    for box in sorted(range(len(extents)), key=lambda i: -float(extents[i][1])):
        if x > 0 and x + extents[box][0] > widest:
            x, y, height = 0.0, y - height - _GAP, 0.0
        corners[box] = np.array([x, y - extents[box][1]])
        x += float(extents[box][0]) + _GAP
        height = max(height, float(extents[box][1]))
    return corners
