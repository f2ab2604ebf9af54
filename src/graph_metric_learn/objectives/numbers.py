"""Numbers as the objective: graphs with like numbers should be near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from .._core.gaps import columns_by_gaps
from .._core.schema import FieldError, Saved, read
from ..graphs import Graphs
from ..linalg.ridge import known_means
from .base import Objective
from .targets import given_targets, is_missing
from .votes import neighbor_sums

_MOST = 1e100  # of targets: sums of their squares are finite
_LEAST = 1e-100  # by which they must differ: squares of less are 0
_KNOWN_FOR = {0: "missing for all graphs", 1: "known for one graph only"}
_LONG = 1e6  # numbers in reports have an exponent from here on


class NumbersState(Saved):
    """What files hold of :class:`Numbers`."""

    centre: Annotated[list[Annotated[float, Meta(ge=-_MOST, le=_MOST)]], Meta(min_length=1)]
    scale: list[Annotated[float, Meta(ge=0.0, le=_MOST)]]
    several: bool

    def __post_init__(self) -> None:
        if len(self.centre) != len(self.scale) or (not self.several and len(self.centre) > 1):
            raise FieldError("scale", f"has {len(self.scale)} numbers for {len(self.centre)}")


class Numbers(Objective):
    """One number per graph, or several; a graph is predicted to have the mean of its neighbours.

    With several numbers entries may be missing (NaN). Scores are 1 − (error / standard deviation)², averaged over
    the numbers that are there: over many graphs, R².

    `centre_` and `scale_` [T] are mean and standard deviation of the numbers seen, by which targets are centred and
    scaled; `several_` says whether y had columns.
    """

    score_name = "R²"

    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        objective, target = Numbers.of(check_numbers(graphs, y))
        self.__dict__.update(vars(objective))
        return target

    def encode_more(self, graphs: Graphs, y: Any) -> np.ndarray:
        numbers = check_scored_numbers(graphs, y)
        if numbers.reshape(len(numbers), -1).shape[1] != len(self.centre_):
            raise ValueError(
                f"targets have the shape {numbers.shape}, but there were {len(self.centre_)} numbers so far"
            )
        return self.encoded(numbers)

    @classmethod
    def of(cls, numbers: np.ndarray) -> tuple[Numbers, np.ndarray]:
        """The objective for numbers [N] or [N, T] that were checked, and the targets [N, T]."""
        objective = cls()
        objective.several_ = numbers.ndim == 2
        table = numbers.reshape(len(numbers), -1)
        objective.centre_, objective.scale_ = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
        return objective, objective.encoded(numbers)

    def encoded(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers [N] or [N, T], centred and scaled as those seen [N, T]."""
        return (numbers.reshape(len(numbers), -1) - self.centre_) / np.maximum(self.scale_, 1e-300)

    def outputs(self, target: np.ndarray) -> np.ndarray:
        return target

    def decode(self, target: np.ndarray) -> np.ndarray:
        """Numbers in the units of y, [N] or [N, T] as y was."""
        table = target * self.scale_ + self.centre_
        return table if self.several_ else table[:, 0]

    def neighbor_scores(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """Of each number, the k nearest that have it count. Where none has, 0 is predicted: the mean."""
        means = self.neighbor_outputs(distances, neighbors, ks, weighted=weighted)
        return np.stack([self.output_scores(means[:, q], target) for q in range(len(ks))], axis=1)

    def neighbor_outputs(
        self, distances: np.ndarray, neighbors: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """Means of the numbers."""
        return neighbor_means(distances, neighbors, ks, weighted=weighted)

    def output_scores(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        there = np.isfinite(target)
        errors = np.where(there, outputs - np.where(there, target, 0.0), 0.0) ** 2
        return 1.0 - errors.sum(1) / np.maximum(there.sum(1), 1)

    def guess(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The mean; 0, the mean of all, where `target` has no number."""
        return self.output_scores(np.broadcast_to(known_means(target), others.shape), others)

    def error_in_words(self, score: float) -> str | None:
        """The root mean squared error, in units of y; None of several numbers, which have a unit each."""
        if len(self.scale_) > 1:
            return None
        return in_digits(float(self.scale_[0]) * max(0.0, 1.0 - score) ** 0.5)

    def summary(self) -> str:
        return f"{len(self.centre_)} numbers per graph" if self.several_ else "numbers"

    def state(self) -> dict[str, Any]:
        return {"centre": self.centre_.tolist(), "scale": self.scale_.tolist(), "several": self.several_}

    def set_state(self, state: Any) -> None:
        saved = read(NumbersState, state, "numbers")
        self.centre_, self.scale_, self.several_ = np.array(saved.centre), np.array(saved.scale), saved.several

    def n_outputs(self) -> int | None:
        """As many as numbers; unknown of a subclass with outputs of its own."""
        return len(self.centre_) if type(self).outputs is Numbers.outputs else None


def neighbor_means(distances: np.ndarray, neighbors: np.ndarray, ks: Sequence[int], *, weighted: bool) -> np.ndarray:
    """Means of the numbers [M, T] of the k nearest that have one [H, len(ks), T]; 0 where none has."""
    means = np.zeros((len(distances), len(ks), neighbors.shape[1]))
    for rows, columns in columns_by_gaps(np.isfinite(neighbors)):
        near = distances if len(rows) == len(neighbors) else distances[:, rows]
        values = np.concatenate([neighbors[np.ix_(rows, columns)], np.ones((len(rows), 1))], axis=1)
        sums = neighbor_sums(near, values, tuple(ks), weighted=weighted)
        total, weight = sums[:, :, :-1], sums[:, :, -1:]
        means[:, :, columns] = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return means


def check_numbers(graphs: Graphs, y: Any) -> np.ndarray:
    """Numbers of the graphs [N] or [N, T], float64, that can be learned from, or a clear error.

    With several columns entries may be missing (NaN), but not all of a graph, nor all of a column.
    """
    numbers = _finite_numbers(graphs, y, "no numbers to learn from")
    table = numbers.reshape(len(numbers), -1)
    for i, column in enumerate(table.T):
        finite = column[np.isfinite(column)]
        if len(finite) == 0 or np.ptp(finite) == 0:
            which = f"target {i}" if table.shape[1] > 1 else "the target"
            what = _KNOWN_FOR.get(len(finite), "the same for all graphs")
            raise ValueError(f"{which} is {what}: there is nothing to learn from")
        if np.ptp(finite) < _LEAST:
            raise ValueError(f"targets that differ by less than {_LEAST:g} cannot be squared: scale them up")
    return numbers


def check_scored_numbers(graphs: Graphs, y: Any) -> np.ndarray:
    """Numbers that predictions are compared with [N] or [N, T], float64, or a clear error.

    Checked as in `check_numbers`, but they may all be the same, and a column may be missing.
    """
    return _finite_numbers(graphs, y, "no numbers")


def _finite_numbers(graphs: Graphs, y: Any, without: str) -> np.ndarray:
    """Targets as float64; NaN is an entry that is missing, of several numbers. without: what to say where none are."""
    targets = given_targets(graphs, y)
    if targets is None:
        raise ValueError(f"{without}: pass y, or graphs that carry them (Data.y)")
    if targets.shape[0] != len(graphs) or targets.ndim > 2 or targets.size == 0:
        raise ValueError(f"{len(graphs)} graphs, but targets of shape {targets.shape}")
    numbers = as_numbers(targets)
    table = numbers.reshape(len(graphs), -1)
    several = table.shape[1] > 1
    if np.nanmax(np.abs(np.where(np.isinf(table), np.nan, table)), initial=0.0) > _MOST:
        raise ValueError(f"targets beyond {_MOST:g} cannot be squared: scale them down")
    bad = np.isinf(table).any(1) | np.isnan(table).all(1)
    if bad.any():
        what = "are all NaN, or some infinite" if several else "is NaN or infinite"
        first = np.flatnonzero(bad)[0]
        raise ValueError(
            f"the target{'s' * several} of graph {first} {what} ({bad.sum()} such graphs in all): leave it out"
        )
    return numbers


def as_numbers(targets: np.ndarray) -> np.ndarray:
    """Targets as float64, NaN where one is missing: None, or pandas' NA, in arrays of objects.

    >>> as_numbers(np.array([None, 2, "0.5"], dtype=object))
    array([nan, 2. , 0.5])
    """
    if targets.dtype.kind in "OUS":
        rows = targets.reshape(len(targets), -1).tolist()
        return np.array([[_number(one, i) for one in row] for i, row in enumerate(rows)]).reshape(targets.shape)
    if targets.dtype.kind not in "biuf":
        raise ValueError(f"targets must be real numbers, got {targets.dtype}")
    return targets.astype(np.float64)


def _number(value: Any, graph: int) -> float:
    """A target as a number, NaN where it is missing."""
    try:
        return np.nan if is_missing(value) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"targets must be numbers, that of graph {graph} is {value!r}") from None
    except OverflowError:
        raise ValueError(f"the target of graph {graph} is a number of hundreds of digits: scale it down") from None


def in_digits(value: float) -> str:
    """A positive number with three digits or more, without an exponent where it would be in the way.

    >>> in_digits(0.81649), in_digits(1234.5), in_digits(2.5e7)
    ('0.816', '1234', '2.5e+07')
    """
    return f"{value:.0f}" if 999 <= value < _LONG else f"{value:.3g}"
