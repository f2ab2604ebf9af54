"""Handwritten digits as graphs: real data with nothing to download."""

from __future__ import annotations

import numpy as np

from ..graphs.sources.pyg import DRAWING
from .graph_dataset import GraphDataset, build_graphs

SIDE = 8  # the images are 8 x 8 pixels
FULL_INK = 16.0  # the largest value of a pixel


def load_digits(threshold: float = 0.1) -> GraphDataset:
    """Scikit-learn's 1797 images of digits as graphs.

    Nodes are the pixels with ink; pixels that touch, also at a corner, are joined by an edge.

    Parameters
    ----------
    threshold : float in [0, 1)
        A pixel is a node when its intensity, from 0 (paper) to 1 (full ink), is larger than this.

    Returns
    -------
    GraphDataset
        1797 graphs, in scikit-learn's order. `Data.x` float32 [n, 3] holds (row, column, intensity): row and column
        run from −1 (top, left) to 1, intensity from 0 to 1. `Data.pos` [n, 2] places the nodes for drawing
        (x to the right, y upwards), and `Data.drawing` says that it is for drawing only. `Data.y` is the digit.

    Examples
    --------
    >>> load_digits()
    GraphDataset(digits: 1797 graphs, 10 classes, on average 30.4 nodes and 79.8 edges, 3-dimensional features)
    """
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold is {threshold}, expected a number in [0, 1)")
    from sklearn.datasets import load_digits as load_images

    pixels, digits = load_images(return_X_y=True)
    intensity = pixels / FULL_INK  # [G, 64]
    ink = intensity > threshold
    sizes = ink.sum(axis=1)
    if sizes.min() < 2:
        raise ValueError(f"threshold {threshold} leaves fewer than 2 pixels of image {sizes.argmin()}: lower it")

    graph, pixel = ink.nonzero()
    row, column = (2 * at / (SIDE - 1) - 1 for at in divmod(pixel, SIDE))
    x = np.stack([row, column, intensity[graph, pixel]], axis=1).astype(np.float32)
    pos = np.stack([column, -row], axis=1).astype(np.float32)

    touching = _touching_pixels()
    joined = ink[:, touching[0]] & ink[:, touching[1]]  # [G, pairs of touching pixels]
    graph, pair = joined.nonzero()
    node = np.cumsum(ink, axis=1) - 1  # of the pixel's node within its graph [G, 64]
    edge_index = node[graph, touching[:, pair]]
    y = digits.astype(np.int64)
    graphs = build_graphs(sizes, edge_index, joined.sum(axis=1), y, x=x, pos=pos)
    for each in graphs:
        each[DRAWING] = "pos"  # the same places as in x
    return GraphDataset(graphs, y, "digits")


def _touching_pixels() -> np.ndarray:
    """Both directions of all pairs of neighbouring pixels, diagonals included, in increasing order [2, 420]."""
    row, column = divmod(np.arange(SIDE**2), SIDE)
    apart = np.maximum(abs(row[:, None] - row), abs(column[:, None] - column))
    return np.stack((apart == 1).nonzero())
