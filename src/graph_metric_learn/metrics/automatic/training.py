"""What the stages of a fit know of the training graphs: their targets, which of them go together, how to judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...objectives import Objective
from ...objectives.folds import groups_among
from ...objectives.scoring import Scorer

N_FOLDS = 5


@dataclass(frozen=True)
class Training:
    """N training graphs.

    Attributes
    ----------
    objective : Objective
    scorer : Scorer
        How predictions of graphs held out are judged.
    target : ndarray [N, …]
        Encoded by the objective.
    groups : ndarray [N]
        Graphs of one group are held out together: copies, and what the user said.
    powers : tuple of float
        Weights of graphs that are tried, see `row_weights`: 0 is none, 1 balances the classes.
    """

    objective: Objective
    scorer: Scorer
    target: np.ndarray
    groups: np.ndarray
    powers: tuple[float, ...] = (0.0,)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def outputs(self) -> np.ndarray:
        """What a regression is fitted to [N, T]; NaN where an entry is missing."""
        return self.objective.outputs(self.target)

    def part(self, rows: np.ndarray) -> Training:
        """Some of the graphs, by their indices."""
        groups = groups_among(self.groups, rows)
        assert groups is not None
        return replace(self, target=self.target[rows], groups=groups)

    def folds(self, rng: np.random.Generator) -> np.ndarray:
        """Which fold each graph is held out in [N]."""
        return self.objective.folds(self.target, N_FOLDS, rng, self.groups)

    def row_weights(self, power: float) -> np.ndarray | None:
        """How much each graph counts in a regression [N], 1 on average; None where all count the same.

        One over the number of graphs of its class, to this power. Several labels are balanced one by one, which is for
        sums over many graphs: here all count the same.
        """
        if power == 0 or self.target.ndim > 1:
            return None
        counts = np.bincount(self.target)
        weights = (1.0 / counts[self.target]) ** power
        return weights / weights.mean()
