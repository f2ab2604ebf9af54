"""The shape that all systems share: parameters, a grid to search, the packages they need."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

from ..graphs import Graphs, as_graphs

EXTRA = "graph-metric-learn[baselines]"


class SolverFailure(RuntimeError):
    """A solver gave up, warned, or returned something that is not a finite number; the message names the pair."""


class System:
    """One rival of the paper's tables. `__init__` only stores its parameters, by keyword.

    Attributes
    ----------
    name : str
        How the tables and the command line call it.
    needs : tuple of str
        Names of the modules it imports beyond the package's own dependencies.
    discrete : bool
        Whether it compares labels, which are equal or not: numbers as features would all be different labels.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    discrete: ClassVar[bool] = False

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        """The settings among which the protocol chooses by validation accuracy.

        Parameters
        ----------
        task_features : {"labels", "degree", "attributes", "fuse"}
            What the graphs' x is made of (`load_tu(features=...)`).
        dataset : str
            Its name in the TU collection.
        """
        return [{}]

    @classmethod
    def missing(cls) -> list[str]:
        """Those of the needed modules that are not installed."""
        return [module for module in cls.needs if importlib.util.find_spec(module) is None]

    @classmethod
    def require(cls) -> None:
        """Raises ImportError, with what to install, if a needed package is not there."""
        if missing := cls.missing():
            raise ImportError(f"{cls.name!r} needs {', '.join(missing)}: install {EXTRA}")

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, as they were given."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.params.items())})"


class DescriptorSystem(System):
    """A vector per graph; the distance of two graphs is that of their vectors."""

    metric: ClassVar[str] = "euclidean"

    def describe(self, graphs: Graphs) -> np.ndarray:
        """The vectors [N, d]."""
        raise NotImplementedError

    def distances(
        self, graphs: Any, *, progress: bool | None = None, checkpoint: Any = None, jobs: int | None = 1
    ) -> np.ndarray:
        """All distances [N, N], float64. Vectors are quick: `progress`, `checkpoint` and `jobs` change nothing."""
        self.require()
        with threadpool_limits(1):  # for decompositions of small matrices
            vectors = np.asarray(self.describe(as_graphs(graphs)), dtype=np.float64)
        return without_rounding(squareform(pdist(vectors, self.metric)))

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0) -> float | None:
        """None: never long."""
        return None


class KernelSystem(System):
    """A positive semi-definite kernel between graphs."""

    def kernel(self, graphs: Any, *, progress: bool | None = None) -> np.ndarray:
        """The kernel matrix [N, N], float64, symmetric."""
        raise NotImplementedError

    def estimate_seconds(self, graphs: Any, *, pairs: int = 200, seed: int = 0) -> float | None:
        """Seconds that :meth:`kernel` will take, or None where that is never long."""
        return None


def without_rounding(distances: np.ndarray) -> np.ndarray:
    """The same distances [N, N] with 0 for those below 1e-9 of the largest.

    Two graphs that differ by the numbering of their nodes are at 1e-15 by rounding, and among several such graphs
    rounding would say which one is the nearest.

    >>> without_rounding(np.array([[0.0, 1e-15], [1e-15, 3.0]]))
    array([[0., 0.],
           [0., 3.]])
    """
    return np.where(distances < 1e-9 * distances.max(initial=0.0), 0.0, distances)


def positive(**parameters: float) -> None:
    """Raises ValueError for the first parameter that is not a number above 0.

    >>> positive(width=-1.0)
    Traceback (most recent call last):
    ValueError: width must be positive, got -1.0
    """
    for name, value in parameters.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}")


def normalized(kernel: np.ndarray) -> np.ndarray:
    """k(i, j) / sqrt(k(i, i) k(j, j)) [N, N]; a graph without any feature (k(i, i) = 0) is like itself only.

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
    """The distance that a kernel means, sqrt(k(i, i) + k(j, j) − 2 k(i, j)) [N, N]: for k-NN on a kernel.

    >>> kernel_distances(np.array([[4.0, 2.0], [2.0, 9.0]]))
    array([[0., 3.],
           [3., 0.]])
    """
    diagonal = np.diag(kernel)
    squared = diagonal[:, None] + diagonal[None, :] - (kernel + kernel.T)
    # What is far below the kernel itself is rounding, of either sign: see without_rounding.
    return np.sqrt(np.where(squared < 1e-12 * diagonal.max(), 0.0, squared))
