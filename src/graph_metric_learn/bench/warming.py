"""Compiling all loops ahead of their first use, for images of containers and after an installation."""

from __future__ import annotations

import time
import warnings

import numpy as np

from ..metrics.automatic import GraphMetric
from ..metrics.sgml import SGML
from ..neighbors import GraphClassifier, GraphKNNClassifier
from ..transport import pairwise_distances, rpw_distance
from ..transport.curves import DISTANCES


def warm_up() -> float:
    """Runs a little of everything, so that its loops are compiled and kept; returns the seconds that took.

    Loops are kept beside the package, in the home folder, or where NUMBA_CACHE_DIR says. For an image, call it as the
    last step of its building, with NUMBA_CACHE_DIR set to a folder that the users of the image can read.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> gml.warm_up() >= 0
    True
    """
    began = time.perf_counter()
    rng = np.random.default_rng(0)
    graphs = [_graph(rng, n) for n in range(4, 16)]
    y = np.arange(len(graphs)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for distance in DISTANCES:
            metric = SGML(n_epochs=1, distance=distance, n_projections=2, random_state=0, progress=False)
            model = GraphKNNClassifier(metric, n_neighbors=1).fit(graphs, y)
            model.predict(graphs)
            model.metric_.transform(graphs)
        GraphClassifier(GraphMetric(random_state=0, progress=False)).fit(graphs, y).predict(graphs)
        for kind in (np.float32, np.float64):
            clouds = [x.astype(kind) for _, x in graphs]
            pairwise_distances(clouds)
            rpw_distance(clouds[0], clouds[1])
    return time.perf_counter() - began


def _graph(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A ring with chords of some weight, and two numbers per node."""
    weights = np.triu(rng.uniform(0.5, 2.0, size=(n, n)) * (rng.random((n, n)) < 0.3), 2)
    ring = np.roll(np.eye(n), 1, axis=1)
    return weights + weights.T + ring + ring.T, rng.normal(size=(n, 2))
