"""Compiling all loops ahead of their first use, for images of containers and after an installation."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from .index import GraphIndex
from .linalg.multiset_changes import changes_by_name
from .linalg.multisets import MinSums
from .metrics.automatic import GraphMetric
from .metrics.sgml import SGML
from .predictors import GraphClassifier, GraphKNNClassifier
from .transport import pairwise_distances, rpw_distance
from .transport.curves import DISTANCES


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
    helper = _helper() if (os.cpu_count() or 1) > 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up_rest()
        if helper is not None:
            helper.wait()  # what it compiled need only be read now
        warm_up_sgml()
    return time.perf_counter() - began


def warm_up_sgml() -> None:
    """The loops of `SGML`."""
    graphs, y = _graphs()
    for distance in DISTANCES:
        metric = SGML(n_epochs=1, distance=distance, n_projections=2, random_state=0, progress=False)
        model = GraphKNNClassifier(metric, n_neighbors=1).fit(graphs, y)
        model.predict(graphs)
        model.metric_.transform(graphs)
    model.metric_.pairwise_distances(graphs * 40)  # enough for threads


def _warm_up_rest() -> None:
    """The loops of `GraphMetric`, and of distances between clouds."""
    graphs, y = _graphs()
    model = GraphClassifier(GraphMetric(random_state=0, progress=False)).fit(graphs, y)
    model.predict(graphs)
    model.metric_.pairwise_distances(graphs * 40)
    along_axes = GraphMetric(features=["attributes@0"], embedding="axes", learn=False, random_state=0, progress=False)
    along_axes.fit(graphs, y).explain(graphs[0], graphs[1])
    name, level, once = np.zeros(1, np.uint64), np.zeros(1, np.int64), np.ones(1)
    sums = MinSums(level, name, once, level, n_references=1, n_levels=1)
    changes_by_name(sums, name, level, (once, once), np.ones((1, 1)), [0])
    index = GraphIndex(model.metric_).add(graphs)
    index.search(graphs[:1], 1)
    index.search(graphs * 40, 1)
    for kind in (np.float32, np.float64):
        clouds = [x.astype(kind) for _, x in graphs]
        pairwise_distances(clouds)
        rpw_distance(clouds[0], clouds[1])


def _helper() -> subprocess.Popen:
    """Another process that compiles half of the loops meanwhile: numba compiles one at a time."""
    package = __name__.partition(".")[0]
    above = str(Path(sys.modules[package].__file__ or "").parent.parent)
    paths = os.pathsep.join(filter(None, (above, os.environ.get("PYTHONPATH"))))
    command = f"import warnings; warnings.simplefilter('ignore'); from {__name__} import warm_up_sgml; warm_up_sgml()"
    return subprocess.Popen(
        [sys.executable, "-c", command], env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _graphs() -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Rings with chords of some weight and two numbers per node, and their classes, of which there are two."""
    rng, graphs = np.random.default_rng(0), []
    for n in range(4, 16):
        weights = np.triu(rng.uniform(0.5, 2.0, size=(n, n)) * (rng.random((n, n)) < 0.3), 2)
        ring = np.roll(np.eye(n), 1, axis=1)
        graphs.append((weights + weights.T + ring + ring.T, rng.normal(size=(n, 2))))
    return graphs, np.arange(12) % 2
