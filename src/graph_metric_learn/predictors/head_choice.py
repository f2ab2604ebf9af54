"""The choice of the head on a metric (k-NN, ridge or SVM): by its score on held-out training graphs, or by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._core.schema import check_choice, within
from .._core.validation import one_of
from .fold_distances import ReferenceFolds
from .knn import GraphKNNClassifier, GraphKNNRegressor
from .predictor import ClassesFromGraphs, MetricPredictor, NumbersFromGraphs, classes_of
from .ridge import GraphRidge, GraphRidgeClassifier
from .state import ChosenHead
from .svc import GraphSVC

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_OF_SVC = 10_000  # graphs whose kernel matrix an SVM is fitted to, unless it is asked for
_NEARLY = 1.0  # standard errors: the others have picked k, or γ and C, by the scores that are compared


class _ChoosesHead(MetricPredictor):
    """One metric, several heads on it, of which the one that does best on graphs held out is kept."""

    heads: ClassVar[dict[str, type[MetricPredictor]]]
    _chosen_type = ChosenHead
    head_: MetricPredictor
    _held_out: ReferenceFolds  # of models that were fitted here, not of loaded ones

    def __init__(self, metric: Any = None, head: str = "auto", memory: Any = None) -> None:
        self.metric = metric
        self.head = head
        self.memory = memory

    def _check_options(self) -> None:
        one_of("head", self.head, ("auto", *self.heads))

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """The head with the best score on graphs held out; the ridge regression where it is nearly as good.

        The others have picked k, or γ and C, by these very scores, which flatters them.
        """
        self._held_out = folds
        names = self._heads_to_try() if self.head == "auto" else [self.head]
        settings = {name: self._bare(name)._choose(folds) for name in names}
        scores = {name: chosen.get("held_out_score", 0.0) for name, chosen in settings.items()}
        best = max(scores, key=lambda name: scores[name])
        if "ridge" in scores and scores["ridge"] >= scores[best] - _NEARLY * settings["ridge"]["held_out_error"]:
            best = "ridge"
        scored_by = settings[best].get("scored_by", self._scorer().words)
        return {"head": best, "settings": settings[best], "scores": scores, "scored_by": scored_by}

    def _heads_to_try(self) -> list[str]:
        """Heads that "auto" chooses from."""
        return list(self.heads)

    def with_head(self, head: str) -> Self:
        """The same metric and reference graphs with another head, or with "auto"; right after `fit`.

        A loaded model has no folds to choose by: what its metric has learned is known to its reference graphs.
        """
        check_is_fitted(self, "head_")
        if not hasattr(self, "_held_out"):
            raise ValueError("with_head chooses on the graphs held out in fit, which a loaded model does not have")
        other = clone(self).set_params(head=head)
        other._check_options()
        self._share_with(other)
        other.chosen_ = other._choose(self._held_out)
        other._complete()
        return other

    def _bare(self, name: str) -> MetricPredictor:
        """A head on this metric and these reference graphs, without settings."""
        head = self.heads[name]()
        self._share_with(head)
        return head

    def _share_with(self, other: MetricPredictor) -> None:
        other.metric_, other._own, other._own_folds = self.metric_, self._own, self._own_folds
        other.embedded_, other.y_, other.names_ = self.embedded_, self.y_, self.names_
        other.target_names_ = self.target_names_

    def _check_chosen(self, chosen: dict[str, Any]) -> None:
        head = check_choice("head", super()._check_chosen(chosen).head, self.heads)
        with within("settings"):
            self._bare(head)._check_chosen(chosen["settings"])

    def _complete(self) -> None:
        self.head_ = self._bare(self.chosen_["head"])
        self.head_.chosen_ = self.chosen_["settings"]
        self.head_._complete()

    def predict(self, graphs: Any) -> np.ndarray:
        """What the head predicts [N]."""
        check_is_fitted(self, "head_")
        return self.head_.predict(graphs)  # type: ignore[attr-defined]


class GraphClassifier(ClassesFromGraphs, _ChoosesHead):
    """Classification of graphs: the metric is learned once, and k-NN, ridge or SVM on it is chosen by graphs held out.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNClassifier`.
    head : {"auto", "knn", "ridge", "svc"}
        :class:`GraphKNNClassifier`, :class:`GraphRidgeClassifier` or :class:`GraphSVC`; "auto" chooses: without SVM
        of several labels, and of more than 10,000 graphs, whose kernels among each other it keeps.

    Attributes
    ----------
    head_ : predictor
        The one that was chosen, fitted.
    chosen_ : dict
        Its name, its settings, the scores of all on graphs held out, and what these are: accuracy, or AUC where a class
        is rare.
    metric_, embedded_, y_, names_, classes_
        See :class:`GraphKNNClassifier`.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 14)] + [nx.star_graph(n) for n in range(4, 14)]
    >>> model = gml.GraphClassifier(gml.GraphMetric(random_state=0)).fit(graphs, ["ring"] * 10 + ["star"] * 10)
    >>> model.predict([nx.cycle_graph(30), nx.star_graph(30)])
    array(['ring', 'star'], dtype='<U4')
    """

    heads: ClassVar = {"knn": GraphKNNClassifier, "ridge": GraphRidgeClassifier, "svc": GraphSVC}
    _takes_labels = True

    def _check_takes_labels(self, count: int) -> None:
        if self.head != "auto" and not self.heads[self.head]._takes_labels:
            raise ValueError(f"head={self.head!r} predicts one class per graph, but there are {count} labels of each")

    def _heads_to_try(self) -> list[str]:
        small = len(self.y_) <= _MOST_OF_SVC and self.y_.ndim == 1
        return [name for name in self.heads if small or name != "svc"]

    def _complete(self) -> None:
        super()._complete()
        self.classes_ = classes_of(self.y_)

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], or of each label [N, T], by the head."""
        check_is_fitted(self, "head_")
        return self.head_.predict_proba(graphs)  # type: ignore[attr-defined]

    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "head_")
        return self.head_.predict_with_shares(graphs)  # type: ignore[attr-defined]


class GraphRegressor(NumbersFromGraphs, _ChoosesHead):
    """Regression of numbers per graph: the metric is learned once, and k-NN or ridge is chosen by graphs held out.

    Parameters
    ----------
    metric, memory
        See :class:`GraphKNNRegressor`.
    head : {"auto", "knn", "ridge"}
        :class:`GraphKNNRegressor` or :class:`GraphRidge`; "auto" chooses.

    Attributes
    ----------
    head_, chosen_
        See :class:`GraphClassifier`.
    metric_, embedded_, y_, names_
        See :class:`GraphKNNRegressor`.
    """

    heads: ClassVar = {"knn": GraphKNNRegressor, "ridge": GraphRidge}


_CHOOSING: dict[str, Any] = {"classes": GraphClassifier, "labels": GraphClassifier, "numbers": GraphRegressor}


def predictor(name: str, task: str, metric: Any, **settings: Any) -> MetricPredictor:
    """A predictor by its short name, not fitted.

    Parameters
    ----------
    name : {"auto", "knn", "ridge", "svc"}
        "auto" chooses among the others.
    task : {"classes", "labels", "numbers"}
    metric : BaseGraphMetric or None
    settings
        Of its constructor.

    Examples
    --------
    >>> predictor("knn", "numbers", None, n_neighbors=3)
    GraphKNNRegressor(n_neighbors=3)
    """
    choosing = _CHOOSING[task]
    one_of("model", name, ("auto", *choosing.heads))
    kind: Any = choosing if name == "auto" else choosing.heads[name]
    options = kind().get_params(deep=False)
    for setting in settings:
        if setting not in options:
            raise ValueError(f"{kind.__name__} has no setting {setting!r}")
    return kind(metric, **settings)
