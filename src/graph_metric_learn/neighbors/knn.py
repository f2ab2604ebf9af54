"""k nearest neighbours on a metric between graphs: classes, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._core.validation import one_of
from ..metrics.base import BaseGraphMetric
from ..objectives.classes import Classes
from ..objectives.leave_one_out import leave_one_out, usable
from ..objectives.votes import SAME, by_distance, elected, neighbor_shares
from ..transport import Embedded, kneighbors
from .base import ClassesFromGraphs, MetricPredictor, is_fitted, joined_names, labelled_graphs, unfrozen

VOTES = ("uniform", "distance")
_CHOSEN_ON = 2000  # reference graphs that n_neighbors="auto" looks at, at most
_ROWS = 1000  # graphs whose distances to all reference graphs are held at once
_ROUNDING = 1e-6  # share of the largest distance that is nothing but rounding


class _Neighbors(MetricPredictor):
    """Neighbours among reference graphs, which may grow."""

    n_neighbors: Any
    n_neighbors_: int
    weights: str

    _allows_auto_k = False

    @property
    def _k(self) -> int:
        return self.n_neighbors_ if isinstance(self.n_neighbors, str) else self.n_neighbors

    def _check_neighbors(self, available: int) -> None:
        one_of("weights", self.weights, VOTES)
        if self._allows_auto_k and isinstance(self.n_neighbors, str) and self.n_neighbors == "auto":
            return
        if not isinstance(self.n_neighbors, (int, np.integer)) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be a whole number >= 1, got {self.n_neighbors!r}")
        if self.n_neighbors > available:
            raise ValueError(f"n_neighbors={self.n_neighbors}, but there are only {available} graphs to choose from")

    def add(self, graphs: Any, y: Any = None) -> Any:
        """Grows the reference set by labelled graphs; the metric stays. With n_neighbors="auto", k is chosen anew."""
        check_is_fitted(self, "embedded_")
        given = self.metric_.read(graphs)
        more = self.metric_.embed(given)
        if y is None and given.y is None:
            raise ValueError("no labels: pass y, or graphs that carry them (Data.y)")
        y = np.asarray(given.y if y is None else y)
        y = y.astype(str) if y.dtype.kind == "O" else y
        if y.shape != (len(more),):
            raise ValueError(f"{len(more)} graphs, but labels of shape {y.shape}")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("labels must be finite, without NaN")
        if (y.dtype.kind in "US") != (self.y_.dtype.kind in "US"):
            raise ValueError(f"labels of type {y.dtype}, those of the reference graphs are {self.y_.dtype}")
        self.names_ = joined_names(self.names_, len(self.embedded_), given.names, len(more))
        self.embedded_ = Embedded.concatenate([self.embedded_, more])
        self.y_ = np.concatenate([self.y_, y])
        self._complete()
        return self

    def kneighbors(self, graphs: Any = None, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and indices of the nearest reference graphs [N, k], nearest first.

        Without graphs, for each reference graph among the others. Where the reference graphs have names,
        `names_[indices]` are those of the neighbours.

        >>> import networkx as nx
        >>> from graph_metric_learn import SGML, GraphKNNClassifier
        >>> graphs = [nx.path_graph(n) for n in (3, 4, 5)] + [nx.complete_graph(n) for n in (3, 4, 5)]
        >>> for i, graph in enumerate(graphs):
        ...     graph.name = "path 3,path 4,path 5,triangle,K4,K5".split(",")[i]
        >>> clf = GraphKNNClassifier(SGML(random_state=0), n_neighbors=1).fit(graphs, [0, 0, 0, 1, 1, 1])
        >>> _, indices = clf.kneighbors([nx.complete_graph(4)])
        >>> clf.names_[indices]
        array([['K4']], dtype=object)
        """
        check_is_fitted(self, "embedded_")
        k = self._k if n_neighbors is None else n_neighbors
        available = len(self.embedded_) - (graphs is None)
        if not isinstance(k, (int, np.integer)) or not 1 <= k <= available:
            raise ValueError(f"n_neighbors={k}, but there are {available} graphs to choose from")
        if graphs is None:
            return kneighbors(self.embedded_, n_neighbors=k, device=self.metric_.place(self.embedded_))
        embedded = self.metric_.embed(graphs)
        return kneighbors(embedded, self.embedded_, n_neighbors=k, device=self.metric_.place(embedded))

    def _vote_shares(self, graphs: Any) -> sparse.csr_array:
        """How much each reference graph counts for each graph [N, R]; rows add up to 1.

        Reference graphs at the same distance share their votes, so that their order does not matter. Where the k-th and
        the next are equally near, all reference graphs are looked at; else the k nearest are enough.
        """
        check_is_fitted(self, "embedded_")
        count = len(self.embedded_)
        self._check_neighbors(count)
        k = self._k
        embedded = self.metric_.embed(graphs)
        nearest, columns = kneighbors(
            embedded, self.embedded_, n_neighbors=min(k + 1, count), device=self.metric_.place(embedded)
        )
        floor = self._rounding()
        nearest = np.where(nearest < floor, 0.0, nearest)
        is_cut = (nearest[:, k:] <= nearest[:, k - 1 : k] * (1 + SAME)).any(1)
        plain, cut = np.flatnonzero(~is_cut), np.flatnonzero(is_cut)
        parts = [(plain, columns[plain, :k], self._weighted(nearest[plain, :k], k))]
        for some in np.split(cut, range(_ROWS, len(cut), _ROWS)) if len(cut) else ():
            every = self._distances(embedded[some], self.embedded_)
            every = np.where(every < floor, 0.0, every)
            parts.append((some, np.broadcast_to(np.arange(count), every.shape), self._weighted(every, k)))
        entries = [
            (rows[at], where[at, of], votes[at, of]) for rows, where, votes in parts for at, of in [votes.nonzero()]
        ]
        rows, columns, votes = (np.concatenate(part) for part in zip(*entries, strict=True))
        votes /= np.bincount(rows, votes, minlength=len(embedded))[rows]
        return sparse.csr_array((votes, (rows, columns)), shape=(len(embedded), count))

    def _weighted(self, distances: np.ndarray, k: int) -> np.ndarray:
        """Votes of reference graphs at these distances [N, M], by the rule that was asked for."""
        if len(distances) == 0:
            return np.zeros(distances.shape)
        shares = neighbor_shares(distances, k)
        return by_distance(shares, distances) if self.weights == "distance" else shares

    def _rounding(self) -> float:
        """A distance that is nothing but rounding: graphs that differ by their numbering are equally near."""
        some = self.embedded_[: min(100, len(self.embedded_))]
        return _ROUNDING * float(self._distances(some).max(initial=0.0))


class GraphKNNClassifier(ClassesFromGraphs, _Neighbors):
    """k-nearest-neighbours classification of graphs, with a metric that is learned for it.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        A copy of it is fitted by `fit`; `GraphMetric()` when None. To use a fitted metric as it is, freeze it:
        ``metric=sklearn.frozen.FrozenEstimator(fitted)``.
    n_neighbors : int or "auto"
        How many neighbours vote; "auto" takes the k of 1, 2, 3, 5 and 7 with the best leave-one-out accuracy.
    weights : {"uniform", "distance"}
        Whether all count the same, or nearer ones more.

    Attributes
    ----------
    metric_ : GraphMetric or SGML
        The fitted metric.
    n_neighbors_ : int
        What "auto" turned out to be.
    classes_ : ndarray
        Class labels.
    embedded_ : Curves or Vectors
        The reference graphs.
    names_ : ndarray of str or None
        Their names, where they have some.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> clf = gml.GraphKNNClassifier(gml.SGML(random_state=0), n_neighbors=3).fit(graphs, y)
    >>> clf.predict([nx.cycle_graph(30), nx.star_graph(30)])
    array(['ring', 'star'], dtype='<U4')
    """

    _allows_auto_k = True

    def __init__(self, metric: Any = None, n_neighbors: Any = 5, weights: str = "uniform") -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.weights = weights

    def fit(self, graphs: Any, y: Any = None) -> GraphKNNClassifier:
        """Learns the metric and keeps the graphs as reference."""
        given, y = labelled_graphs(self.metric, graphs, y)
        self._check_neighbors(len(given))
        self._fit_metric(given, y)
        self._refer_to(given, y)
        self._complete()
        return self

    def _complete(self) -> None:
        """Classes, and the number of neighbours where it is chosen, by leaving one out."""
        self.classes_, codes = np.unique(self.y_, return_inverse=True)
        if isinstance(self.n_neighbors, str):
            some = np.random.default_rng(0).permutation(len(codes))[:_CHOSEN_ON]
            distances = self._distances(self.embedded_[some])
            distances[distances < self._rounding()] = 0.0
            scores = leave_one_out(Classes(), distances, codes[some], weighted=self.weights == "distance")
            self.n_neighbors_ = usable(len(some))[int(scores.argmax())]

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Shares of the votes for each class [N, classes]."""
        return self._vote_shares(graphs) @ (self.y_[:, None] == self.classes_).astype(float)

    def predict(self, graphs: Any) -> np.ndarray:
        """The class with the most votes [N]; the first of equals."""
        votes = self.predict_proba(graphs)
        return self.classes_[elected(votes)]


class GraphKNNRegressor(RegressorMixin, _Neighbors):
    """k-nearest-neighbours regression of a number per graph, on a metric that is fitted already.

    Parameters
    ----------
    metric : fitted SGML or GraphMetric
        Learned from classes, on these or other graphs. Freeze it (``sklearn.frozen.FrozenEstimator``) where
        scikit-learn makes copies, as in cross-validation.
    n_neighbors, weights
        See :class:`GraphKNNClassifier`; "auto" is for classes only.
    """

    def __init__(self, metric: Any = None, n_neighbors: int = 5, weights: str = "uniform") -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.weights = weights

    def fit(self, graphs: Any, y: Any) -> GraphKNNRegressor:
        """Keeps the graphs and their numbers as reference."""
        metric = unfrozen(self.metric)
        if not isinstance(metric, BaseGraphMetric) or not is_fitted(metric):
            raise NotFittedError(
                "GraphKNNRegressor needs a fitted metric, SGML().fit(graphs, y); where scikit-learn makes copies, "
                "as in cross-validation, wrap it in sklearn.frozen.FrozenEstimator"
            )
        self.metric_ = metric
        y = np.asarray(y, dtype=float)
        self._refer_to(graphs, y)
        if y.shape != (len(self.embedded_),) or not np.isfinite(y).all():
            raise ValueError(
                f"{len(self.embedded_)} graphs need as many finite numbers, got an array of shape {y.shape}"
            )
        self._check_neighbors(len(y))
        return self

    def predict(self, graphs: Any) -> np.ndarray:
        """Means over the neighbours [N]."""
        return self._vote_shares(graphs) @ self.y_
