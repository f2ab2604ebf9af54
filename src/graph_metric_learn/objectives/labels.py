"""Several labels at once, each there, not there, or not measured: graphs of like labels should be near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from .._core.schema import Saved, read
from ..graphs import Graphs
from ..linalg.ridge import known_means
from .base import Objective
from .numbers import as_numbers, neighbor_means
from .targets import given_targets

_MOST_LABELS = 10_000


class LabelsState(Saved):
    """What files hold of :class:`SeveralLabels`."""

    rates: Annotated[list[Annotated[float, Meta(ge=0.0, le=1.0)]], Meta(min_length=1, max_length=_MOST_LABELS)]


class SeveralLabels(Objective):
    """A table [N, T] of 0 and 1, NaN where a label was not measured; a graph has the labels that most neighbours have.

    Graphs without any label are allowed. Scores are the share of the known labels that are right. `rates_` [T] are the
    shares of graphs that have each label, of those seen for which it is known.
    """

    score_name = "accuracy of labels"
    guess_name = "the commoner value of each label"

    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        objective, target = SeveralLabels.of(check_table(graphs, y))
        self.__dict__.update(vars(objective))
        return target

    def encode_more(self, graphs: Graphs, y: Any) -> np.ndarray:
        table = as_table(graphs, y)
        if table.shape[1] != len(self.rates_):
            raise ValueError(f"there are {table.shape[1]} labels, but {len(self.rates_)} so far")
        return table

    @classmethod
    def of(cls, table: np.ndarray) -> tuple[SeveralLabels, np.ndarray]:
        """The objective for a table [N, T] that was checked, and the targets, which are the table."""
        objective = cls()
        objective.rates_ = known_means(table)
        return objective, table

    def outputs(self, target: np.ndarray) -> np.ndarray:
        return target

    def decode(self, target: np.ndarray) -> np.ndarray:
        return target

    def neighbor_outputs(
        self, distances: np.ndarray, neighbors: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """Shares of the k nearest that have each label, of those for which it is known."""
        return neighbor_means(distances, neighbors, ks, weighted=weighted)

    def neighbor_scores(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = False,
    ) -> np.ndarray:  # fmt: skip
        outputs = self.neighbor_outputs(distances, neighbors, ks, weighted=weighted)
        return np.stack([self.output_scores(outputs[:, q], target) for q in range(len(ks))], axis=1)

    def output_scores(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The share of known labels that are right; 1 where none is known."""
        known = np.isfinite(target)
        right = known & ((outputs > 0.5) == (target > 0.5))
        return np.where(known.any(1), right.sum(1) / np.maximum(known.sum(1), 1), 1.0)

    def guess(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The commoner value of each label."""
        return self.output_scores(np.broadcast_to(known_means(target), others.shape), others)

    def rarest_share(self, target: np.ndarray) -> float | None:
        rates = known_means(target)
        there = (rates > 0) & (rates < 1)
        return float(np.minimum(rates, 1 - rates)[there].min()) if there.any() else None

    def relevance(self, target: np.ndarray) -> tuple[np.ndarray, list[int]]:
        return target, list(range(target.shape[1]))

    def in_words(self, score: float) -> str:
        return f"{100 * score:.1f} %"

    def summary(self) -> str:
        return f"{len(self.rates_)} labels"

    def state(self) -> Any:
        return {"rates": self.rates_.tolist()}

    def set_state(self, state: Any) -> None:
        self.rates_ = np.array(read(LabelsState, state, "labels").rates)

    def n_outputs(self) -> int | None:
        return len(self.rates_)


def check_table(graphs: Graphs, y: Any) -> np.ndarray:
    """A table [N, T] of 0 and 1, float64, NaN where a label was not measured, that can be learned from; or an error."""
    table = as_table(graphs, y)
    for i, column in enumerate(table.T):
        seen = np.unique(column[np.isfinite(column)])
        if len(seen) < 2:
            what = "known for no graph" if len(seen) == 0 else f"{seen[0]:.0f} for all graphs"
            raise ValueError(f"label {i} is {what}: there is nothing to learn from; leave it out")
    return table


def as_table(graphs: Graphs, y: Any) -> np.ndarray:
    """Labels of the graphs [N, T], float64, 0, 1 or NaN, or a clear error; a label may be the same for all."""
    targets = given_targets(graphs, y)
    if targets is None:
        raise ValueError("no labels to learn from: pass y, or graphs that carry them (Data.y)")
    if targets.ndim != 2 or len(targets) != len(graphs) or targets.shape[1] == 0:
        raise ValueError(f"{len(graphs)} graphs, but labels of shape {targets.shape}: give a row per graph")
    if targets.shape[1] > _MOST_LABELS:
        raise ValueError(f"{targets.shape[1]} labels are too many: at most {_MOST_LABELS:,} can be learned at once")
    table = as_numbers(targets)
    wrong = np.isfinite(table) & (table != 0) & (table != 1) | np.isinf(table)
    if wrong.any():
        graph, label = np.argwhere(wrong)[0]
        raise ValueError(
            f"label {label} of graph {graph} is {table[graph, label]:g}: labels are 0, 1, or NaN where they were not "
            'measured; numbers are for task="numbers"'
        )
    return table
