"""What a distance is for: an objective checks and encodes the targets, makes folds, and scores neighbours and pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .._core.registry import Registry
from ..graphs import Graphs


class Objective(ABC):
    """What graphs that are near each other should have in common.

    `GraphMetric` goes through these methods only, so that a new objective is one class in the registry,
    ``OBJECTIVES["name"] = MyObjective``, chosen by ``GraphMetric(task="name")``.

    Attributes
    ----------
    score_name : str
        What its scores are; they are between 0 and 1, more is better.
    """

    score_name: ClassVar[str] = "score"

    @abstractmethod
    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Targets [N] in the form the other methods take, checked; from the graphs themselves when y is None."""

    @abstractmethod
    def subsample(self, target: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
        """Numbers of at most `most` graphs that stand for all, ascending."""

    @abstractmethod
    def folds(self, target: np.ndarray, count: int, shuffled: np.ndarray) -> np.ndarray:
        """Which of `count` folds each graph is held out in [N]; `shuffled` is a random order of the graphs [N]."""

    @abstractmethod
    def left_out_scores(
        self, distances: np.ndarray, target: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """How well each graph is predicted by its k nearest among all others [N, len(ks)].

        Parameters
        ----------
        distances : ndarray [N, N]
            Distances of any power; with `weighted`, distances themselves.
        target : ndarray [N]
        ks : sequence of int
            Ascending, smaller than N.
        weighted : bool
            Whether nearer neighbours count more, by one over the distance.
        """

    @abstractmethod
    def held_out_scores(
        self, squares: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int]
    ) -> np.ndarray:
        """How well graphs are predicted by the k nearest of listed neighbours, averaged over k [H].

        Parameters
        ----------
        squares : ndarray [H, M]
            Squared distances to the listed neighbours; infinite for those that do not count.
        neighbors : ndarray [H, M]
            Targets of these neighbours.
        target : ndarray [H]
        ks : sequence of int
        """

    @abstractmethod
    def alike(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Whether pairs should be near each other; both arrays of targets broadcast against each other."""

    @abstractmethod
    def pair_loss(self, scaled: np.ndarray, known: np.ndarray, alike: np.ndarray) -> tuple[float, np.ndarray]:
        """A loss of scaled squared distances [N, M] to listed neighbours, and its gradient [N, M].

        `known` [N, M] says which neighbours count, `alike` [N, M] which of them should be near.
        """

    @abstractmethod
    def summary(self) -> str:
        """What the targets are, in a few words, for reports."""

    @abstractmethod
    def state(self) -> Any:
        """What was learned from the targets, as JSON can hold it."""

    @abstractmethod
    def set_state(self, state: Any) -> None:
        """Restores what `state` returned."""


OBJECTIVES: Registry[type[Objective]] = Registry("task")
