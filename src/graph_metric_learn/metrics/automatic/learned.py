"""What was learned: a regression on landmarks, whose scores are coordinates of the metric."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..._core.schema import Positive, Saved, array
from ...linalg.principal_axes import spanning_directions
from ...linalg.squared_distances import squared_distances
from .exact import Setting
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
    graphs : ndarray [m], uint64, or None
        Hashes of the landmarks, see :func:`graph_hashes`.
    """

    gate: ScoreWeight
    setting: Setting
    alpha: Annotated[np.ndarray, array("m T")]
    mean: Annotated[np.ndarray, array("T")]
    basis: Annotated[np.ndarray, array("T r")]
    unit: Positive
    graphs: Annotated[np.ndarray, array("m", "u")] | None = None

    @classmethod
    def of(
        cls, gate: ScoreWeight, setting: Setting, alpha: np.ndarray, mean: np.ndarray, scores: np.ndarray, most: int
    ) -> Learned:
        """From a regression and its scores of training graphs [N, T], which get at most so many coordinates."""
        basis = np.ascontiguousarray(spanning_directions(scores)[:, :most])
        placed = (scores @ basis)[:: max(1, len(scores) // _PAIRS)]
        unit = max(float(squared_distances(placed).mean()), 1e-30)
        return cls(gate, setting, alpha, mean, basis, unit)

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
