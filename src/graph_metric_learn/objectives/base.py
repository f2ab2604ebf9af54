"""What a distance is for: an objective checks and encodes the targets, makes folds, and scores neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .._core.registry import Registry
from .._core.renamed import adopt_old_attribute
from ..graphs import Graphs
from .folds import spread_folds


class Objective(ABC):
    """What graphs that are near each other should have in common.

    `GraphMetric` goes through these methods only, so that a new objective is one class in the registry,
    ``OBJECTIVES["name"] = MyObjective``, chosen by ``GraphMetric(task="name")``.
    """

    score_name: ClassVar[str] = "score"  # what its scores are; 1 is the best, and more is better
    guess_name: ClassVar[str] = "the mean"  # what `guess` predicts
    supervised: ClassVar[bool] = True  # whether there are targets; else no neighbour is scored, and nothing is learned
    scale_invariant: ClassVar[bool] = False  # whether outputs mean the same when all are multiplied by a number

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        adopt_old_attribute(cls, "any_scale", "scale_invariant")

    @abstractmethod
    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Targets [N, …] in the form the other methods take, checked; from the graphs when y is None."""

    def encode_more(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Targets of more graphs in the same form [N, …], by what `encode` has seen; checked."""
        raise NotImplementedError(f"{type(self).__name__} defines no encode_more, which learning bit by bit needs")

    @abstractmethod
    def outputs(self, target: np.ndarray) -> np.ndarray:
        """The same as numbers [N, T], float64, that a regression can be fitted to; NaN where an entry is missing."""

    def subsample(self, target: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
        """Indices [M] of at most `most` graphs that stand for all, ascending; at random."""
        return np.sort(rng.permutation(len(target))[:most])

    def folds(
        self, target: np.ndarray, count: int, rng: np.random.Generator, groups: np.ndarray | None = None
    ) -> np.ndarray:
        """Which of `count` folds each graph is held out in [N], at random; graphs of one group in the same fold."""
        return spread_folds(np.zeros(len(target), dtype=np.int64), count, rng, groups)

    @abstractmethod
    def neighbor_scores(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """How well each graph is predicted by the k nearest of some others [H, len(ks)].

        Parameters
        ----------
        distances : ndarray [H, M]
            Of any power (with `weighted`, distances themselves); infinite for those that do not count.
        neighbors, target : ndarrays [M, …], [H, …]
            Targets of the others, and what is to be predicted.
        ks : sequence of int
            Ascending.
        weighted : bool
            Whether nearer neighbours count more, see :func:`vote_shares`.
        """

    def left_out_scores(
        self, distances: np.ndarray, target: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """How well each graph is predicted by its k nearest among all others [N, len(ks)], from distances [N, N]."""
        others = distances.astype(np.float32, copy=True)
        np.fill_diagonal(others, np.inf)
        return self.neighbor_scores(others, target, target, ks, weighted=weighted)

    def neighbor_outputs(
        self, distances: np.ndarray, neighbors: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """What the k nearest predict, in the form of `outputs` [H, len(ks), T]; arguments as in `neighbor_scores`."""
        raise NotImplementedError(f"{type(self).__name__} defines no neighbor_outputs, which rankings need")

    def rarest_share(self, target: np.ndarray) -> float | None:
        """The share of graphs that the rarest class, or label, has; None where there are none."""
        return None

    def relevance(self, target: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """Labels that graphs are ranked by [N, L], 0 and 1, NaN where one is missing; and columns of their outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no classes or labels that graphs could be ranked by")

    @abstractmethod
    def output_scores(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How well each graph is predicted by numbers in the form of `outputs` [N, T], in the same units [N]."""

    @abstractmethod
    def guess(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Scores [H] of predicting graphs with targets `others` without looking at them, knowing `target` alone."""

    def balanced(self, scores: np.ndarray, target: np.ndarray) -> float | None:
        """Mean over classes of the mean score [N] within each, where that differs; None without classes."""
        return None

    def balanced_error(self, scores: np.ndarray, target: np.ndarray, groups: np.ndarray) -> float | None:
        """Standard error of `balanced`, None where that is; graphs of one group [N] count as one draw."""
        return None

    @abstractmethod
    def decode(self, target: np.ndarray) -> np.ndarray:
        """Encoded targets in the form the user gave them."""

    def in_words(self, score: float) -> str:
        """A score, for reports."""
        return f"{round(score, 3) + 0.0:.3f}"  # without the sign of -0.0

    def error_in_words(self, score: float) -> str | None:
        """The error that a mean score stands for, in units of the targets, for reports; None where there are none."""
        return None

    @abstractmethod
    def summary(self) -> str:
        """What the targets are, in a few words, for reports."""

    @abstractmethod
    def state(self) -> Any:
        """What was learned from the targets, as JSON can hold it."""

    @abstractmethod
    def set_state(self, state: Any) -> None:
        """Restores what `state` returned. It comes from a file: a `ValueError` for what it cannot be."""

    def n_outputs(self) -> int | None:
        """How many columns `outputs` has, by which files are checked; None if unknown."""
        return None


def error_of_equals(count: int) -> float:
    """Standard error of the mean of `count` draws that are all right or all wrong.

    As if one more were right, and one wrong: few draws are never certain.
    """
    return float(np.sqrt(count + 1) / (count + 2) ** 1.5)


OBJECTIVES: Registry[type[Objective]] = Registry("task")
