"""Drift: whether new graphs are farther from those that are known than these are from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

_SHARE = 0.05  # of the usual distances that count as far
_FEWEST = 20  # usual distances that say anything about so small a share
_CHANCE = 0.01  # probability below which a share is not taken for chance


@dataclass(frozen=True, eq=False)
class Drift:
    """Distances of new graphs to the nearest known ones, beside what is usual.

    Attributes
    ----------
    distances : ndarray [N]
        Of each new graph to its nearest.
    usual : ndarray [M]
        The same of graphs that are known to be as they should be.

    Examples
    --------
    >>> usual = np.linspace(0, 1, 100)
    >>> print(Drift(usual + 0.5, usual))
    54.0 % of 100 graphs are far from all that are known (4.0 % are usual): they differ
    >>> print(Drift(usual[::5], usual))
    0.0 % of 20 graphs are far from all that are known (4.0 % are usual): no more than by chance
    """

    distances: np.ndarray
    usual: np.ndarray

    def __post_init__(self) -> None:
        check_usual(self.usual)
        if not len(self.distances):
            raise ValueError("there are no graphs to look at")

    @property
    def limit(self) -> float:
        """The distance above which a graph is far: 95 % of the usual ones are not."""
        return float(np.quantile(self.usual, 1 - _SHARE, method="higher"))

    @property
    def is_far(self) -> np.ndarray:
        """Which of the new graphs are far from all that are known [N]."""
        return self.distances > self.limit

    @property
    def far(self) -> float:
        """Their share."""
        return float(self.is_far.mean())

    @property
    def p_value(self) -> float:
        """The probability that as many or more are far where nothing differs (Fisher's exact test)."""
        rows = [self.is_far, self.usual > self.limit]
        table = [[int(far.sum()), int((~far).sum())] for far in rows]
        return float(stats.fisher_exact(table, alternative="greater")[1])

    @property
    def differs(self) -> bool:
        """Whether more graphs are far than by chance."""
        return self.p_value < _CHANCE

    def __str__(self) -> str:
        verdict = "they differ" if self.differs else "no more than by chance"
        usual = float((self.usual > self.limit).mean())
        return (
            f"{100 * self.far:.1f} % of {len(self.distances)} graphs are far from all that are known "
            f"({100 * usual:.1f} % are usual): {verdict}"
        )


def check_usual(distances: np.ndarray) -> None:
    """A `ValueError` unless distances [M] are enough to say what is usual; for use before others are computed."""
    if len(distances) < _FEWEST:
        raise ValueError(f"{len(distances)} graphs do not say what distances are usual: {_FEWEST} are needed")
