"""What was learned: a regression on landmarks, whose scores are coordinates of the metric."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from msgspec.structs import replace

from ..._core.schema import Count, Positive, Saved, array
from ...linalg.principal_axes import spanning_directions
from ...linalg.squared_distances import squared_distances
from .exact import Regression, Setting
from .score_weight import ScoreWeight

_PAIRS = 2000  # graphs whose mean squared distance is the unit of scores


class Learned(Saved):
    """A regression and how much its scores count.

    Attributes
    ----------
    gate : ScoreWeight
        What was found on graphs held out; with weight 0 the scores are not part of the distance.
    setting : Setting
        What was chosen on folds.
    alpha : ndarray [m, T]
        Scores of a graph are k(G, landmarks) · alpha + mean.
    mean : ndarray [T]
    basis : ndarray [T, r]
        Directions in which scores differ: of C classes, C − 1.
    unit : float
        Mean squared distance of the scores of training graphs.
    n_graphs : int
        How many it was fitted to.
    graphs : ndarray [m], uint64, or None
        Hashes of the landmarks, see :func:`graph_hashes`.
    """

    gate: ScoreWeight
    setting: Setting
    alpha: Annotated[np.ndarray, array("m T")]
    mean: Annotated[np.ndarray, array("T")]
    basis: Annotated[np.ndarray, array("T r")]
    unit: Positive
    n_graphs: Count
    graphs: Annotated[np.ndarray, array("m", "u")] | None = None

    @classmethod
    def of(
        cls, gate: ScoreWeight, regression: Regression, scores: np.ndarray, most: int, n_graphs: int, graphs: np.ndarray
    ) -> Learned:
        """From a regression and its scores of graphs that are judged [N, T], which get at most so many coordinates."""
        basis = np.ascontiguousarray(spanning_directions(scores)[:, :most])
        placed = (scores @ basis)[:: max(1, len(scores) // _PAIRS)]
        unit = max(float(squared_distances(placed).mean()), 1e-30)
        return cls(gate, regression.setting, regression.alpha, regression.mean, basis, unit, n_graphs, graphs)

    @classmethod
    def refitted(cls, learned: Learned, alpha: np.ndarray, mean: np.ndarray, n_graphs: int) -> Learned:
        """The same with another regression on the same landmarks."""
        return replace(learned, alpha=alpha, mean=mean, n_graphs=n_graphs)

    @property
    def width(self) -> int:
        """Coordinates that the scores have in the distance."""
        return self.basis.shape[1] if self.gate.weight > 0 else 0

    def scores(self, kernel: np.ndarray) -> np.ndarray:
        """Predicted outputs [N, T], from kernels to the landmarks [N, m]."""
        return kernel @ self.alpha + self.mean

    def placed(self, scores: np.ndarray) -> np.ndarray:
        """Scores [N, T] as coordinates of the distance [N, r], float32."""
        factor = np.sqrt(self.gate.weight / self.unit)
        return (factor * (scores - self.mean) @ self.basis).astype(np.float32)
