"""k-NN and SVM on top of a metric between graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from ..graphs import Graphs, as_graphs
from ..metrics.automatic.estimator import GraphMetric
from ..metrics.automatic.selection import leave_one_out, usable
from ..metrics.sgml.estimator import SGML, check_classes
from ..objectives.votes import SAME, class_votes, elected, neighbor_shares, weighted_votes
from ..persistence.models import load_model, save_model
from ..transport import kneighbors, pairwise_distances
from ..transport.curves import Curves

VOTES = ("uniform", "distance")
_CHOSEN_ON = 2000  # reference graphs that "auto" looks at, at most
_ROWS = 1000  # of graphs whose distances to all reference graphs are looked at together


def _converted(metric: Any, graphs: Any) -> Graphs:
    """Graphs converted once, by the metric's names for their parts."""
    return as_graphs(graphs, attribute=getattr(metric, "attribute", "x"), label=getattr(metric, "label", None))


def _labelled(metric: Any, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
    given = _converted(metric, graphs)
    return given, check_classes(given, y)


def _place(metric: Any, curves: Curves) -> Any:
    """Where to compute distances: where the metric is, unless it leaves the choice."""
    chosen = getattr(getattr(metric, "estimator", metric), "device", "auto")
    return "auto" if chosen == "auto" else curves.device


class _OwnClasses(ClassifierMixin):
    """`score` that finds the classes in the graphs, as `fit` does."""

    metric_: Any

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; classes from the graphs (`Data.y`) when y is None."""
        check_is_fitted(self, "curves_")
        given = _converted(self.metric_, graphs)
        if y is None and given.y is None:
            raise ValueError("no class labels: pass y, or graphs that carry them (Data.y)")
        return super().score(given, given.y if y is None else y, sample_weight)


class _OnMetric(BaseEstimator):
    """What all of them share: a fitted metric and the curves of the reference graphs."""

    metric: Any

    def _fit_metric(self, graphs: Any, y: Any) -> None:
        """Fits a copy of the metric; a frozen one (`sklearn.frozen.FrozenEstimator`) is used as it is."""
        chosen = GraphMetric() if self.metric is None else self.metric
        if not hasattr(chosen, "embed"):
            raise ValueError(f"metric must be an SGML or GraphMetric (or None for the default one), got {chosen!r}")
        self.metric_ = clone(chosen).fit(graphs, y)

    def _refer_to(self, graphs: Any, y: np.ndarray) -> None:
        self.curves_ = self.metric_.embed(graphs)
        self.y_ = y

    def to(self, device: Any) -> Any:
        """Moves metric and reference graphs to a device."""
        check_is_fitted(self, "curves_")
        metric = getattr(self.metric_, "estimator", self.metric_)
        if hasattr(metric, "to"):  # a GraphMetric makes its vectors on the CPU
            metric.to(device)
            self.curves_ = self.curves_.to(device)
        return self

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_is_fitted(self, "curves_")
        metric, tensors = getattr(self.metric_, "estimator", self.metric_).state()
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "metric"}
        kind = type(getattr(self.metric_, "estimator", self.metric_)).__name__
        config = {"params": params, "metric_kind": kind, "metric": metric, "y": self.y_.tolist()}
        tensors = {f"metric.{name}": value for name, value in tensors.items()}
        tensors["reference.values"] = self.curves_.values.cpu().numpy()
        tensors["reference.sizes"] = self.curves_.sizes
        return config, tensors

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes metric, reference curves and labels to a folder: JSON and safetensors, no pickle."""
        return save_model(path, type(self).__name__, *self._state(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, *, encoder: torch.nn.Module | None = None) -> Any:
        """What was saved in a folder; `encoder` as in :meth:`SGML.load`."""
        _, config, tensors = load_model(path, cls.__name__)
        own = {name.removeprefix("metric."): value for name, value in tensors.items() if name.startswith("metric.")}
        metric: Any
        if config.get("metric_kind") == "GraphMetric":
            metric = GraphMetric.from_state(config["metric"], own)
        else:
            metric = SGML.from_state(config["metric"], own, encoder=encoder)
        loaded = cls(metric=clone(metric), **config["params"])
        loaded.metric_ = metric
        loaded.curves_ = Curves(
            torch.from_numpy(tensors["reference.values"]), tensors["reference.sizes"], None, numpy=True
        )
        loaded.y_ = np.array(config["y"])
        loaded._after_load()
        return loaded

    def _after_load(self) -> None:
        """What else a class keeps."""


class _Neighbors(_OnMetric):
    """Neighbours among reference graphs, which may grow."""

    n_neighbors: Any
    n_neighbors_: int
    weights: str

    _can_choose = False  # k, by itself

    @property
    def _k(self) -> int:
        return self.n_neighbors_ if isinstance(self.n_neighbors, str) else self.n_neighbors

    def _check_neighbors(self, available: int) -> None:
        if self.weights not in VOTES:
            raise ValueError(f"unknown weights={self.weights!r}: use one of {', '.join(map(repr, VOTES))}")
        if self._can_choose and isinstance(self.n_neighbors, str) and self.n_neighbors == "auto":
            return
        if not isinstance(self.n_neighbors, (int, np.integer)) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be a whole number >= 1, got {self.n_neighbors!r}")
        if self.n_neighbors > available:
            raise ValueError(f"n_neighbors={self.n_neighbors}, but there are only {available} graphs to choose from")

    def add(self, graphs: Any, y: Any = None) -> Any:
        """Grows the reference set by labelled graphs; the metric stays. With n_neighbors="auto", k is chosen anew."""
        check_is_fitted(self, "curves_")
        given = _converted(self.metric_, graphs)
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
        self.curves_ = Curves.concatenate([self.curves_, more])
        self.y_ = np.concatenate([self.y_, y])
        self._after_load()
        return self

    def kneighbors(self, graphs: Any = None, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and indices of the nearest reference graphs [N, k], nearest first.

        Without graphs, for each reference graph among the others.
        """
        check_is_fitted(self, "curves_")
        k = self._k if n_neighbors is None else n_neighbors
        available = len(self.curves_) - (graphs is None)
        if not isinstance(k, (int, np.integer)) or not 1 <= k <= available:
            raise ValueError(f"n_neighbors={k}, but there are {available} graphs to choose from")
        if graphs is None:
            return kneighbors(self.curves_, n_neighbors=k, device=_place(self.metric_, self.curves_))
        embedded = self.metric_.embed(graphs)
        return kneighbors(embedded, self.curves_, n_neighbors=k, device=_place(self.metric_, embedded))

    def _shares(self, graphs: Any) -> sparse.csr_array:
        """How much each reference graph counts for each graph [N, R]; rows add up to 1.

        Reference graphs at the same distance share their votes, so that their order does not matter.
        """
        check_is_fitted(self, "curves_")
        count = len(self.curves_)
        self._check_neighbors(count)
        k = self._k
        curves = self.metric_.embed(graphs)
        where = _place(self.metric_, curves)
        distances, columns = kneighbors(curves, self.curves_, n_neighbors=min(k + 1, count), device=where)
        floor = self._rounding()
        distances = np.where(distances < floor, 0.0, distances)
        cut = np.flatnonzero(
            (distances[:, k:] <= distances[:, k - 1 : k] * (1 + SAME)).any(1)
        )  # in the midst of equals
        rows = np.repeat(np.arange(len(curves)), k)
        plain = ~np.isin(rows, cut)
        rows, columns, lengths = rows[plain], columns[:, :k].ravel()[plain], distances[:, :k].ravel()[plain]
        votes = np.ones(len(rows))
        for some in np.split(cut, range(_ROWS, len(cut), _ROWS)) if len(cut) else ():
            every = pairwise_distances(curves[some], self.curves_, device=where)
            every = np.where(every < floor, 0.0, every)
            shares = neighbor_shares(every, k)
            r, c = np.nonzero(shares)
            rows, columns = np.concatenate([rows, some[r]]), np.concatenate([columns, c])
            lengths, votes = np.concatenate([lengths, every[r, c]]), np.concatenate([votes, shares[r, c]])
        if self.weights == "distance":  # a neighbour at distance 0 takes all
            touching = np.isin(rows, rows[lengths == 0])
            votes = np.where(touching, votes * (lengths == 0), votes / np.where(lengths > 0, lengths, 1))
        votes /= np.bincount(rows, votes, minlength=len(curves))[rows]
        return sparse.csr_array((votes, (rows, columns)), shape=(len(curves), count))

    def _rounding(self) -> float:
        """A distance that is nothing but rounding: graphs that differ by their numbering are equally near."""
        some = self.curves_[: min(100, len(self.curves_))]
        return 1e-6 * float(pairwise_distances(some, device=_place(self.metric_, some)).max(initial=0.0))


class GraphKNNClassifier(_OwnClasses, _Neighbors):
    """k-nearest-neighbours classification of graphs, with a metric that is learned for it.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        A copy of it is fitted by `fit`; `GraphMetric()` when None. To use a fitted metric as it is, freeze it:
        ``metric=sklearn.frozen.FrozenEstimator(fitted)``.
    n_neighbors : int or "auto"
        How many neighbours vote; "auto" is what classifies most reference graphs right by the others.
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
    curves_ : Curves
        The reference graphs.

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

    _can_choose = True

    def __init__(self, metric: Any = None, n_neighbors: Any = 5, weights: str = "uniform") -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.weights = weights

    def fit(self, graphs: Any, y: Any = None) -> GraphKNNClassifier:
        """Learns the metric and keeps the graphs as reference."""
        given, y = _labelled(self.metric, graphs, y)
        self._check_neighbors(len(given))
        self._fit_metric(given, y)
        self._refer_to(given, y)
        self._after_load()
        return self

    def _after_load(self) -> None:
        self.classes_, codes = np.unique(self.y_, return_inverse=True)
        if isinstance(self.n_neighbors, str):
            some = np.random.default_rng(0).permutation(len(codes))[:_CHOSEN_ON]
            distances = pairwise_distances(self.curves_[some], device=_place(self.metric_, self.curves_))
            distances[distances < self._rounding()] = 0.0
            ks, votes = usable(len(some)), weighted_votes if self.weights == "distance" else class_votes
            self.n_neighbors_ = ks[int(leave_one_out(distances, codes[some], ks, votes).argmax())]

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Shares of the votes for each class [N, classes]."""
        return self._shares(graphs) @ (self.y_[:, None] == self.classes_).astype(float)

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
        if self.metric is None or not hasattr(self.metric, "classes_"):
            raise NotFittedError(
                "GraphKNNRegressor needs a fitted metric, SGML().fit(graphs, y); where scikit-learn makes copies, "
                "as in cross-validation, wrap it in sklearn.frozen.FrozenEstimator"
            )
        self.metric_ = self.metric
        y = np.asarray(y, dtype=float)
        self._refer_to(graphs, y)
        if y.shape != (len(self.curves_),) or not np.isfinite(y).all():
            raise ValueError(f"{len(self.curves_)} graphs need as many finite numbers, got an array of shape {y.shape}")
        self._check_neighbors(len(y))
        return self

    def predict(self, graphs: Any) -> np.ndarray:
        """Means over the neighbours [N]."""
        return self._shares(graphs) @ self.y_


class GraphSVC(_OwnClasses, _OnMetric):
    """Support vector classification of graphs with the kernel exp(−γ d) of a learned metric.

    The kernel is positive definite for every γ > 0: the distance is Euclidean between curves.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        See :class:`GraphKNNClassifier`.
    gamma : float
        γ.
    C : float
        Cost of errors, as in `sklearn.svm.SVC`.

    Attributes
    ----------
    svc_ : sklearn.svm.SVC
        Fitted on the kernel matrix.
    """

    def __init__(self, metric: Any = None, gamma: float = 1.0, C: float = 1.0) -> None:
        self.metric = metric
        self.gamma = gamma
        self.C = C

    def fit(self, graphs: Any, y: Any = None) -> GraphSVC:
        """Learns the metric, then the classifier."""
        for name in ("gamma", "C"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}")
        given, y = _labelled(self.metric, graphs, y)
        self._fit_metric(given, y)
        self._refer_to(given, y)
        self._after_load()
        return self

    def _after_load(self) -> None:
        distances = pairwise_distances(self.curves_, device=_place(self.metric_, self.curves_))
        kernel = np.exp(-self.gamma * distances.astype(float))
        self.svc_ = SVC(C=self.C, kernel="precomputed").fit(kernel, self.y_)
        self.classes_ = self.svc_.classes_

    def _kernel(self, graphs: Any) -> np.ndarray:
        check_is_fitted(self, "svc_")
        embedded = self.metric_.embed(graphs)
        distances = pairwise_distances(embedded, self.curves_, device=_place(self.metric_, embedded))
        return np.exp(-self.gamma * distances.astype(float))

    def decision_function(self, graphs: Any) -> np.ndarray:
        """As `sklearn.svm.SVC`."""
        kernel = self._kernel(graphs)
        return self.svc_.decision_function(kernel)

    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        kernel = self._kernel(graphs)
        return self.svc_.predict(kernel)


def load(path: str | Path, *, encoder: torch.nn.Module | None = None) -> Any:
    """Any model folder: a metric, a k-NN classifier or regressor, or an SVM, whatever was saved."""
    homes: dict[str, Any] = {
        home.__name__: home for home in (SGML, GraphMetric, GraphKNNClassifier, GraphKNNRegressor, GraphSVC)
    }
    kind, _, _ = load_model(path, tuple(homes))
    return homes[kind].load(path) if kind == "GraphMetric" else homes[kind].load(path, encoder=encoder)
