"""Base classes of the baselines: parameters, a grid to search, needed packages; vectors and kernels."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

from graph_metric_learn.graphs import Graphs, as_graphs


class SolverFailure(RuntimeError):
    """A solver failed, warned, or did not return a finite number; the message names the pair of graphs."""


class System:
    """A baseline. `__init__` only stores its parameters, by keyword.

    Attributes
    ----------
    name : str
        Its name in tables and on the command line.
    needs : tuple of str
        Names of the modules it imports beyond the package's own dependencies.
    comes_with : str
        What to install for these.
    discrete : bool
        Whether it takes features for labels, which are equal or not; attributes would all be different labels.
    edges : bool
        Whether it uses what edges carry; an option of those baselines whose definition knows edges, off by default.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    comes_with: ClassVar[str] = "graph-metric-learn-reproduction"
    discrete: ClassVar[bool] = False
    edges: bool = False

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        """The settings to search by validation accuracy, for a dataset of the TU collection and what x is made of.

        That is "labels", "degree", "attributes" or "fuse", as `load_tu(features=...)` takes it.
        """
        return [{}]

    @classmethod
    def missing(cls) -> list[str]:
        """The needed modules that are not installed."""
        return [module for module in cls.needs if importlib.util.find_spec(module) is None]

    @classmethod
    def require(cls) -> None:
        """Raises an ImportError that says what to install if a needed package is missing."""
        if missing := cls.missing():
            raise ImportError(f"{cls.name!r} needs {', '.join(missing)}: install {cls.comes_with}")

    def read(self, graphs: Any) -> Graphs:
        """Graphs of any kind that `as_graphs` takes, with float32 features, and with edge data only if it is used."""
        graphs = as_graphs(graphs, edges="auto" if self.edges else False)
        if graphs.x is None or graphs.x.dtype == np.float32:
            return graphs
        return replace(graphs, x=graphs.x.astype(np.float32))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as given, by name."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.params.items())})"


class DescriptorSystem(System):
    """Describes each graph by a vector; the distance of two graphs is that of their vectors."""

    metric: ClassVar[str] = "euclidean"

    def describe(self, graphs: Graphs) -> np.ndarray:
        """The vectors [N, d]."""
        raise NotImplementedError

    def distances(
        self, graphs: Any, *, progress: bool | None = None, checkpoint: Any = None, jobs: int | None = 1
    ) -> np.ndarray:
        """All distances [N, N], float64. Vectors are fast: `progress`, `checkpoint` and `jobs` have no effect."""
        self.require()
        with threadpool_limits(1):  # threads slow down the decomposition of small matrices
            vectors = np.asarray(self.describe(self.read(graphs)), dtype=np.float64)
        return rounding_to_zero(squareform(pdist(vectors, self.metric)))

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0) -> float | None:
        """None: always fast."""
        return None


class KernelSystem(System):
    """A positive semi-definite kernel between graphs."""

    def kernel(self, graphs: Any, *, progress: bool | None = None) -> np.ndarray:
        """The kernel matrix [N, N], float64, symmetric."""
        raise NotImplementedError

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0) -> float | None:
        """Seconds that :meth:`kernel` will take, or None if it is always fast."""
        return None


def rounding_to_zero(distances: np.ndarray) -> np.ndarray:
    """The same distances [N, N] with 0 for those below 1e-9 of the largest.

    Graphs that differ only in the order of their nodes can be at 1e-15 instead of 0, and among several such graphs
    rounding would decide which one is nearest.

    >>> rounding_to_zero(np.array([[0.0, 1e-15], [1e-15, 3.0]]))
    array([[0., 0.],
           [0., 3.]])
    """
    return np.where(distances < 1e-9 * distances.max(initial=0.0), 0.0, distances)


def positive(**parameters: float) -> None:
    """Raises a ValueError that names the first parameter that is not above 0.

    >>> positive(width=-1.0)
    Traceback (most recent call last):
    ValueError: width must be positive, got -1.0
    """
    for name, value in parameters.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}")


def normalized(kernel: np.ndarray) -> np.ndarray:
    """k(i, j) / sqrt(k(i, i) k(j, j)) [N, N]; a graph with k(i, i) = 0 gets 1 with itself and 0 with all others.

    >>> normalized(np.array([[4.0, 2.0], [2.0, 9.0]])).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """
    scale = np.sqrt(np.diag(kernel))
    scale = np.where(scale > 0, scale, 1.0)
    unit = kernel / np.outer(scale, scale)
    np.fill_diagonal(unit, 1.0)
    return unit


def kernel_distances(kernel: np.ndarray) -> np.ndarray:
    """The distances that a kernel defines, sqrt(k(i, i) + k(j, j) − 2 k(i, j)) [N, N]: for k-NN on a kernel.

    >>> kernel_distances(np.array([[4.0, 2.0], [2.0, 9.0]]))
    array([[0., 3.],
           [3., 0.]])
    """
    diagonal = np.diag(kernel)
    squared = diagonal[:, None] + diagonal[None, :] - (kernel + kernel.T)
    # Values far below the kernel itself are rounding errors, of either sign (see rounding_to_zero).
    return np.sqrt(np.where(squared < 1e-12 * diagonal.max(), 0.0, squared))
