"""How well scores rank what is relevant before what is not: AUC, average precision, BEDROC, enrichment.

Equal scores share their places: what is returned is the mean over all orders of them, in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..graphs.sources.raw_graph import as_numpy
from .targets import is_missing, target_array

LEAST_ALPHA = 1e-3  # of BEDROC: with less, weights of places differ by little more than rounding
_ROUNDING = 1e-9  # of products that stand for numbers of places


def ranking_scores(
    scores: Any, y: Any, *, positive: Any = None, alpha: float = 20.0, fraction: float = 0.01
) -> dict[str, Any]:
    """How well scores rank relevant graphs before others, by the measures that are usual for rare hits.

    Parameters
    ----------
    scores : array [N] or [N, T]
        Higher is better, such as a column of `predict_proba`, or minus the distance to the nearest active.
    y : array [N] or [N, T]
        1 for relevant graphs, 0 for others; or two classes or more, with `positive`. NaN or None where it was not
        measured: such graphs do not count.
    positive : optional
        The class that is relevant.
    alpha, fraction : float
        Of BEDROC, and the share of the places that enrichment looks at.

    Returns
    -------
    dict
        `auc`, `average_precision`, `bedroc` and `enrichment`, see :mod:`graph_metric_learn.objectives.ranking`; a
        number each, or with columns an array [T]. NaN where it is not defined: without relevant graphs, and for `auc`
        and `bedroc` also without others. Equal scores share their places.

    Examples
    --------
    >>> import graph_metric_learn as gml
    >>> gml.ranking_scores([0.9, 0.8, 0.3, 0.2], ["active", "active", "no", "no"], positive="active")
    {'auc': 1.0, 'average_precision': 1.0, 'bedroc': 1.0, 'enrichment': 2.0}
    """
    _check_options(alpha, fraction)
    measures: dict[str, Callable[[Ranking], np.ndarray]] = {
        "auc": Ranking.auc,
        "average_precision": Ranking.average_precision,
        "bedroc": lambda ranking: ranking.bedroc(alpha),
        "enrichment": lambda ranking: ranking.enrichment(fraction),
    }
    scores, truth = checked(as_numpy(scores), as_truth(y, positive))
    ranking = Ranking.of(*_columns(scores, truth))
    alone = scores.ndim == truth.ndim == 1
    return {name: float(measure(ranking)[0]) if alone else measure(ranking) for name, measure in measures.items()}


def auc(scores: Any, truth: Any) -> Any:
    """Area under the ROC curve: the probability that a relevant item has a higher score than another one.

    Equal scores count half. NaN where all items are relevant, or none.

    Parameters
    ----------
    scores : array [N] or [N, T]
        Higher is better; T columns are T rankings.
    truth : array [N] or [N, T]
        1 for relevant items, 0 for others, NaN for those that were not measured, which do not count. One column
        stands for all.

    Returns
    -------
    float or ndarray [T]

    Examples
    --------
    >>> auc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    0.875
    """
    return _of_columns(scores, truth, Ranking.auc)


def average_precision(scores: Any, truth: Any) -> Any:
    """Mean, over the relevant items, of the share of relevant items down to their places; NaN without any.

    Arguments and result as for :func:`auc`. Among equal scores it is the mean over all orders; scikit-learn counts them
    as if each had the last of their places.

    >>> average_precision([0.9, 0.8, 0.7], [1, 0, 1])
    0.8333333333333333
    """
    return _of_columns(scores, truth, Ranking.average_precision)


def bedroc(scores: Any, truth: Any, alpha: float = 20.0) -> Any:
    """Early recognition, BEDROC of Truchon and Bayly (2007): 0 for the worst order, 1 for the best.

    Relevant items count exp(−alpha · place / N); with alpha = 20, 80 % of it comes from the first 8 % of the places.
    Arguments and result as for :func:`auc`.

    >>> bedroc([3.0, 2.0, 1.0, 0.0], [1, 1, 0, 0])
    1.0
    """
    _check_options(alpha=alpha)
    return _of_columns(scores, truth, lambda ranking: ranking.bedroc(alpha))


def enrichment(scores: Any, truth: Any, fraction: float = 0.01) -> Any:
    """Share of relevant items in the first `fraction` of the places, rounded up, over their share in all.

    NaN without relevant items. Arguments and result as for :func:`auc`.

    >>> enrichment([4.0, 3.0, 2.0, 1.0], [1, 0, 0, 0], fraction=0.25)
    4.0
    """
    _check_options(fraction=fraction)
    return _of_columns(scores, truth, lambda ranking: ranking.enrichment(fraction))


@dataclass(frozen=True)
class Ranking:
    """T rankings, best first, as G groups of items with equal scores, in the order of their ranking and place.

    Attributes
    ----------
    column : ndarray [G]
        Which ranking a group belongs to, ascending.
    before, size : ndarray [G]
        How many measured items stand before the group, and in it (at least one).
    hits_before, hits : ndarray [G]
        How many of them are relevant.
    counts, relevant : ndarray [T]
        How many measured items a ranking has, and how many of them are relevant.
    """

    column: np.ndarray
    before: np.ndarray
    size: np.ndarray
    hits_before: np.ndarray
    hits: np.ndarray
    counts: np.ndarray
    relevant: np.ndarray

    @staticmethod
    def of(scores: np.ndarray, truth: np.ndarray) -> Ranking:
        """Rankings of scores [N, T] by truth [N, T] or [N, 1]: 1, 0, or NaN where an item does not count."""
        n_rows, n_columns = scores.shape
        keys = np.negative(scores.T, order="C", dtype=scores.dtype)
        missing = np.isnan(truth)
        some_missing = bool(missing.any())
        order = np.argsort(keys, axis=1)
        keys = np.take_along_axis(keys, order, 1)
        first = np.ones((n_columns, n_rows), dtype=bool)
        np.not_equal(keys[:, 1:], keys[:, :-1], out=first[:, 1:])
        starts = np.flatnonzero(first)
        column = starts // n_rows
        relevant, hits_before, hits = _counted(_reordered(truth == 1, order), starts, column)
        there = _reordered(~missing, order) if some_missing else np.broadcast_to(True, order.shape)
        counts, before, size = _counted(there, starts, column)
        ranking = Ranking(column, before, size, hits_before, hits, counts, relevant)
        return ranking._with_groups(size > 0) if some_missing else ranking

    def auc(self) -> np.ndarray:
        """Area under the ROC curve [T], see :func:`auc`."""
        others = self.counts - self.relevant
        others_after = others[self.column] - (self.before - self.hits_before) - (self.size - self.hits)
        won = self._sums(self.hits * (others_after + 0.5 * (self.size - self.hits)))
        return _ratio(won, self.relevant * others)

    def average_precision(self, places: np.ndarray | None = None) -> np.ndarray:
        """Average precision [T]; with `places` [T] the sum ends after so many, and is divided by as many."""
        last = self.counts if places is None else places
        length = np.clip(last[self.column] - self.before, 0, self.size)
        # An item at place i of a group is relevant with probability hits / size, and then so is `slope` of each before
        # it: it expects (hits_before + 1 + slope · (i − before − 1)) / i, which is slope + rest / i.
        slope = np.where(self.size > 1, (self.hits - 1) / np.maximum(self.size - 1, 1), 0.0)
        rest = self.hits_before + 1 - slope * (self.before + 1)
        harmonic = _cumulative(1.0 / np.arange(1, self.counts.max(initial=0) + 1))
        inverses = harmonic[self.before + length] - harmonic[self.before]
        sums = self._sums(self.hits / self.size * (slope * length + rest * inverses))
        return _ratio(sums, self.relevant if places is None else places)

    def bedroc(self, alpha: float) -> np.ndarray:
        """Early recognition [T], see :func:`bedroc`."""
        rate = alpha / np.maximum(self.counts, 1)
        start, end = (np.exp(-rate[self.column] * place) for place in (self.before, self.before + self.size))
        found = self._sums(self.hits / self.size * (start - end))
        most = -np.expm1(-rate * self.relevant)
        least = np.exp(-rate * (self.counts - self.relevant)) * most
        return np.where(self._both, _ratio(found - least, np.where(self._both, most - least, 0.0)), np.nan)

    def enrichment(self, fraction: float) -> np.ndarray:
        """Enrichment [T], see :func:`enrichment`."""
        places = np.ceil(self.counts * fraction - _ROUNDING).astype(np.int64)
        return _ratio(self.precision(places) * self.counts, self.relevant)

    def precision(self, places: np.ndarray) -> np.ndarray:
        """Share of relevant items in the first `places` [T] of each ranking [T]."""
        length = np.clip(places[self.column] - self.before, 0, self.size)
        return _ratio(self._sums(self.hits / self.size * length), places)

    def ndcg(self, k: int) -> np.ndarray:
        """Normalised discounted cumulative gain of the first k places [T]: relevant items count 1 / log2(place + 1)."""
        gains = 1.0 / np.log2(np.arange(2, self.counts.max(initial=0) + 2))
        gains[k:] = 0.0
        total = _cumulative(gains)
        share = self.hits / self.size
        found = self._sums(share * (total[self.before + self.size] - total[self.before]))
        return _ratio(found, total[self.relevant])

    def _with_groups(self, which: np.ndarray) -> Ranking:
        """The same without some groups, in which no item was measured."""
        names = ("column", "before", "size", "hits_before", "hits")
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    @property
    def _both(self) -> np.ndarray:
        """Whether a ranking has relevant items and others [T]."""
        return (self.relevant > 0) & (self.relevant < self.counts)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the groups of each ranking [T]."""
        return np.bincount(self.column, values, len(self.counts))


def _reordered(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values [N, T] or [N, 1] in the order of each ranking [T, N]."""
    return values[:, 0][order] if values.shape[1] == 1 else np.take_along_axis(values.T, order, 1)


def _counted(marked: np.ndarray, starts: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many items of `marked` [T, N] each ranking has [T], and how many stand before each group and in it [G]."""
    so_far = np.zeros(marked.size + 1, dtype=np.int64)
    np.cumsum(marked, out=so_far[1:])
    of_rankings, of_groups = so_far[:: marked.shape[1]], so_far[starts]
    ends = np.empty_like(of_groups)
    ends[:-1], ends[-1] = of_groups[1:], so_far[-1]
    return of_rankings[1:] - of_rankings[:-1], of_groups - of_rankings[column], ends - of_groups


def _cumulative(values: np.ndarray) -> np.ndarray:
    """Sums of the first 0, 1, … of the values [n + 1]."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, NaN where the whole is 0."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _of_columns(scores: Any, truth: Any, measure: Callable[[Ranking], np.ndarray]) -> Any:
    """A measure of each column, or of the only one."""
    scores, truth = checked(scores, truth)
    values = measure(Ranking.of(*_columns(scores, truth)))
    return float(values[0]) if scores.ndim == truth.ndim == 1 else values


def _columns(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores [N, T], and truth [N, T] or [N, 1]."""
    scores, truth = (array[:, None] if array.ndim == 1 else array for array in (scores, truth))
    return np.broadcast_to(scores, (len(scores), max(scores.shape[1], truth.shape[1]))), truth


def _check_options(alpha: float = 1.0, fraction: float = 1.0) -> None:
    if not LEAST_ALPHA <= alpha < np.inf:
        raise ValueError(f"alpha must be a number of at least {LEAST_ALPHA}, got {alpha!r}")
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction must be above 0 and at most 1, got {fraction!r}")


def as_truth(y: Any, positive: Any = None, name: str = "y") -> np.ndarray:
    """Targets as 1 (relevant; equal to `positive`), 0, or NaN where one is missing: an array of the same shape.

    >>> as_truth(["yes", None, "no"], "yes")
    array([ 1., nan,  0.])
    """
    given = target_array(y)
    if given.dtype.kind in "biuf":
        values, missing = given, np.isnan(given)
    else:
        values = given.astype(object)
        missing = np.array([is_missing(one) for one in given.reshape(-1).tolist()], dtype=bool).reshape(given.shape)
    if positive is not None:
        relevant = _equals(values, positive)
        if not relevant.any():
            raise ValueError(f"nothing is of the class {positive!r} that positive= names")
    else:
        relevant = _equals(values, 1)
        wrong = ~(relevant | _equals(values, 0) | missing)
        if wrong.any():
            row, value = int(np.argwhere(wrong)[0][0]), values[wrong].tolist()[0]
            hint = "; positive= names a class" if given.ndim == 1 else ""
            raise ValueError(f"row {row} of {name} is {value!r}: give 1 for relevant, 0, or NaN for not measured{hint}")
    return np.where(missing, np.nan, relevant)


def _equals(values: np.ndarray, one: Any) -> np.ndarray:
    """Which values equal one; none does where these are numbers and that is a string."""
    if values.dtype.kind != "O" and not isinstance(one, str):
        return values == one
    return np.array([value == one for value in values.reshape(-1).tolist()], dtype=bool).reshape(values.shape)


def checked(scores: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truth [N] or [N, T] each, as floats, or a `ValueError` that names the row."""
    scores, truth = np.asarray(scores), np.asarray(truth, dtype=np.float64)
    scores = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    fits = scores.ndim in (1, 2) and truth.ndim in (1, 2) and len(scores) == len(truth)
    if fits and scores.ndim == truth.ndim == 2:
        fits = scores.shape == truth.shape
    if not fits:
        raise ValueError(
            f"scores of shape {scores.shape} and truth of shape {truth.shape} do not fit: give [N] or [N, T] of each"
        )
    if not scores.size or not truth.size:
        raise ValueError("there are no scores: give at least one row")
    missing = np.isnan(truth)
    wrong = ~missing & (truth != 0) & (truth != 1)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        value = truth[wrong][0]
        raise ValueError(f"the truth of row {row} is {value:g}: give 1 for relevant, 0, or NaN for not measured")
    unknown = np.isnan(scores)
    if unknown.any():
        unknown, missing = (array.reshape(len(array), -1) for array in (unknown, missing))
        rows = np.flatnonzero((unknown & ~missing).any(1))
        if len(rows):
            raise ValueError(f"the score of row {rows[0]} is NaN: give a number, or leave the row out (truth NaN)")
    return scores, truth
