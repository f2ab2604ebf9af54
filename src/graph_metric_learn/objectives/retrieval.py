"""How well distances find what is relevant: MAP@R, R-precision, precision and discounted gain of the k nearest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.compiled import njit
from .._core.validation import whole_number
from ..graphs.sources.raw_graph import as_numpy
from .ranking import Ranking, as_truth
from .targets import is_missing, target_array, task_of
from .votes import SAME

_CHUNK = 2**20  # distances that are ranked at a time
_SLACK = 1e-9  # of `within`, for rounding


def retrieval_scores(
    distances: Any, y: Any = None, others_y: Any = None, k: int = 10, *, within: float | None = None,
    relevance: Any = None,
) -> dict[str, float]:  # fmt: skip
    """How many of the nearest graphs are relevant, as means over graphs for which any is.

    Equal distances share their places, also those that differ by rounding of float32: what is returned is the mean over
    all orders of them.

    Parameters
    ----------
    distances : array [N, M]
        Of N queries from M graphs. Without `others_y` a square matrix [N, N] is one of graphs among themselves: its
        diagonal does not count.
    y : array [N] or [N, T]
        Classes [N]: graphs of the same class are relevant. Labels [N, T] of 0 and 1: graphs are relevant that share a
        label with the query. Numbers [N], with `within`. Entries may be missing (NaN, None). A graph without a class or
        number does not count; nor does, for a query, one that was measured for none of the labels that the query has.
    others_y : array [M] or [M, T], optional
        The same of the M graphs, where these are others than the queries.
    k : int
        For `precision_at_k` and `ndcg_at_k`; where fewer than k graphs count, all of them.
    within : float, optional
        Numbers are relevant for each other that differ by at most so much.
    relevance : array [N, M], optional
        In place of y: 1 for relevant, 0, or NaN for what does not count.

    Returns
    -------
    dict
        `map_at_r`, the mean of the precisions at the places of relevant graphs among the first R, divided by R, which
        is how many graphs are relevant for the query; `r_precision`, the share of relevant graphs among the first R;
        `precision_at_k`; `ndcg_at_k`; and `n_queries`, of how many queries these are means.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> distances = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    >>> gml.retrieval_scores(distances, ["ring", "tree", "ring"], k=1)
    {'map_at_r': 0.5, 'r_precision': 0.5, 'precision_at_k': 0.5, 'ndcg_at_k': 0.5, 'n_queries': 2}
    """
    distances, k = _checked_distances(distances), whole_number("k", k, 1)
    among_themselves = others_y is None and (relevance is None or distances.shape[0] == distances.shape[1])
    relevant_to = _relevance(distances.shape, y, others_y, within, relevance)
    names = ("map_at_r", "r_precision", "precision_at_k", "ndcg_at_k")
    sums, count = np.zeros(len(names)), 0
    step = max(1, _CHUNK // distances.shape[1])
    for start in range(0, len(distances), step):
        rows = np.arange(start, min(start + step, len(distances)))
        truth = relevant_to(rows)
        if among_themselves:
            truth[np.arange(len(rows)), rows] = np.nan
        values = _row_scores(_checked_rows(distances[rows], truth, start), truth, k)
        sums, count = sums + values.sum(1), count + values.shape[1]
    if not count:
        raise ValueError("there is no query for which any graph is relevant: nothing can be found")
    return {**dict(zip(names, (sums / count).tolist(), strict=True)), "n_queries": count}


def _row_scores(distances: np.ndarray, truth: np.ndarray, k: int) -> np.ndarray:
    """The four scores [4, H] of those rows of [N, M] that have relevant entries; NaN in truth does not count."""
    ranking = Ranking.of(-_without_rounding(distances).T, truth.T)
    relevant = ranking.relevant
    scores = [
        ranking.average_precision(relevant),
        ranking.precision(relevant),
        ranking.precision(np.minimum(k, ranking.counts)),
        ranking.ndcg(k),
    ]
    return np.stack(scores)[:, relevant > 0]


def _without_rounding(distances: np.ndarray) -> np.ndarray:
    """Distances [N, M] in which those are equal that differ by rounding from the smallest of them."""
    rows = np.ascontiguousarray(distances)
    equal = np.empty_like(rows)
    _equalise(rows, np.argsort(rows, axis=1), equal)
    return equal


@njit(error_model="numpy")
def _equalise(rows, order, equal):
    for a in range(len(rows)):
        smallest = -np.inf
        for b in order[a]:
            if not rows[a, b] <= smallest + SAME * abs(smallest):
                smallest = rows[a, b]
            equal[a, b] = smallest


def _checked_distances(distances: Any) -> np.ndarray:
    distances = as_numpy(distances)
    if distances.ndim != 2 or not distances.size:
        raise ValueError(f"distances must be a matrix [N, M], got the shape {distances.shape}")
    if distances.dtype.kind not in "fiub":
        raise ValueError(f"distances have dtype {distances.dtype}, expected numbers")
    return distances


def _checked_rows(distances: np.ndarray, truth: np.ndarray, start: int) -> np.ndarray:
    """Some rows of the distances as floats; `start` is the number of the first. What does not count may be NaN."""
    wrong = ~(distances > -np.inf) & ~np.isnan(truth)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = distances[row, column]
        raise ValueError(
            f"the distance of query {start + row} from graph {column} is {value}: give a number, inf for far away"
        )
    return distances if distances.dtype in (np.float32, np.float64) else distances.astype(np.float64)


def _relevance(
    shape: tuple[int, ...], y: Any, others_y: Any, within: float | None, relevance: Any
) -> Callable[[np.ndarray], np.ndarray]:
    """A function of rows that gives which graphs are relevant for them [rows, M]: 1, 0, or NaN."""
    if (y is None) == (relevance is None):
        raise ValueError("give either y or relevance, which say which graphs are relevant")
    if relevance is not None:
        if within is not None or others_y is not None:
            raise ValueError("relevance says all: leave out within and others_y")
        given = as_truth(relevance, name="relevance")
        if given.shape != shape:
            raise ValueError(f"relevance has the shape {given.shape}, distances have {shape}: give an entry for each")
        return lambda rows: given[rows]
    if others_y is None and shape[0] != shape[1]:
        raise ValueError(f"distances of shape {shape} are not those of graphs among themselves: pass others_y")
    ours = _targets("y", y, shape[0])
    theirs = ours if others_y is None else _targets("others_y", others_y, shape[1])
    if ours.ndim != theirs.ndim or ours.shape[1:] != theirs.shape[1:]:
        raise ValueError(f"y has the shape {ours.shape}, others_y {theirs.shape}: give the same columns")
    if within is not None:
        return _alike_numbers(ours, theirs, within)
    return _same_classes(ours, theirs) if ours.ndim == 1 else _shared_labels(ours, theirs)


def _targets(name: str, y: Any, count: int) -> np.ndarray:
    """Targets [count], or [count, T] with two columns or more."""
    targets = target_array(y)
    targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
    if targets.ndim not in (1, 2) or len(targets) != count:
        raise ValueError(f"{name} has the shape {targets.shape}, expected one entry or row for each of {count} graphs")
    return targets


def _same_classes(ours: np.ndarray, theirs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    both = ours.tolist() + theirs.tolist()
    if task_of(target_array(both)) == "numbers":
        raise ValueError("y holds numbers: say by within= how much those may differ that are relevant for each other")
    codes = {label: code for code, label in enumerate(dict.fromkeys(one for one in both if not is_missing(one)))}
    known = np.array([np.nan if is_missing(one) else codes[one] for one in both])
    queries, others = known[: len(ours)], known[len(ours) :]

    def relevant_to(rows: np.ndarray) -> np.ndarray:
        difference = queries[rows, None] - others
        return np.where(np.isnan(difference), np.nan, difference == 0)

    return relevant_to


def _alike_numbers(ours: np.ndarray, theirs: np.ndarray, within: float) -> Callable[[np.ndarray], np.ndarray]:
    if ours.ndim > 1:
        raise ValueError(f"within= is for one number per graph, y has the shape {ours.shape}")
    if not 0 <= within < np.inf:
        raise ValueError(f"within must be a number >= 0, got {within!r}")
    queries, others = (_as_numbers(values) for values in (ours, theirs))

    def relevant_to(rows: np.ndarray) -> np.ndarray:
        difference = np.abs(queries[rows, None] - others)
        return np.where(np.isnan(difference), np.nan, difference <= within * (1 + _SLACK))

    return relevant_to


def _as_numbers(values: np.ndarray) -> np.ndarray:
    """Finite numbers [N], NaN where one is missing."""
    try:
        numbers = np.array([np.nan if is_missing(one) else float(one) for one in values.tolist()])
    except (TypeError, ValueError):
        raise ValueError("y must be numbers where within= is given") from None
    if np.isinf(numbers).any():
        raise ValueError(f"the number of graph {int(np.isinf(numbers).argmax())} is infinite: clean it or leave it out")
    return numbers


def _shared_labels(ours: np.ndarray, theirs: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    queries, others = as_truth(ours), as_truth(theirs, name="others_y")
    has, there, positive = (part.astype(np.float32) for part in (queries == 1, ~np.isnan(others), others == 1))

    def relevant_to(rows: np.ndarray) -> np.ndarray:
        return np.where(has[rows] @ there.T > 0, has[rows] @ positive.T > 0, np.nan)

    return relevant_to
