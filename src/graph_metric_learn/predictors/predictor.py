"""What all predictors on a metric share: a fitted metric, embedded reference graphs, saving and loading.

`fit` is the same for all: fit the metric, embed the graphs, choose settings on folds (`_choose`), and compute what
follows from them (`_complete`). Predictors differ in the last two steps, and in what they predict.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sized
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, check_memory, has_fit_parameter

from .._core.parallel import n_workers
from .._core.registry import Registry
from .._core.schema import OwnState, read, split
from .._core.threads import one_thread_for_products
from .._core.validation import as_listed
from ..graphs import Graphs, as_graphs
from ..graphs.stream import CHUNK, is_stream, read_chunks
from ..io.models import opened_model, save_model
from ..metrics.base import METRICS, BaseGraphMetric, FoldViews, fit_with_folds
from ..objectives import Classes, Numbers, Objective, SeveralLabels
from ..objectives.classes import check_classes
from ..objectives.folds import check_groups
from ..objectives.labels import as_table, check_table
from ..objectives.numbers import check_numbers, check_scored_numbers
from ..objectives.scoring import Scorer, scorer_for
from ..objectives.targets import given_targets, is_missing
from ..transport import Curves, Embedded, pairwise_distances
from ..transport.devices import resolve_device
from .fold_distances import ReferenceFolds
from .settings import Setting, check_settings
from .state import restored, saved_classes, saved_numbers, saved_table, with_nan, without_nan

if TYPE_CHECKING:
    from typing_extensions import Self


class MetricPredictor(BaseEstimator):
    """A fitted metric and the embedded reference graphs.

    Attributes
    ----------
    metric_ : BaseGraphMetric
        The fitted metric.
    embedded_ : Curves or Vectors
        The reference graphs.
    y_ : ndarray [R] or [R, T]
        Their classes or numbers; several labels as 0, 1 and NaN.
    target_names_ : list of str [T] or None
        What several labels or numbers are called, where y was a table with names of columns.
    chosen_ : dict
        Settings that `fit` chose by itself.
    names_ : ndarray of str [R] or None
        Their names, where the graphs have some (see :func:`as_graphs`).
    """

    metric: Any
    memory: Any = None  # where fitted metrics are kept, see `sklearn.pipeline.Pipeline`
    task: ClassVar[str] = "classes"  # what a metric is fitted for
    _settings: ClassVar[Mapping[str, Setting]] = {}  # what options may be, here and in files
    _chosen_type: ClassVar[Any] = dict[str, Any]  # what `chosen_` may be in files
    metric_: BaseGraphMetric
    embedded_: Embedded
    y_: np.ndarray
    names_: np.ndarray | None = None
    target_names_: list[str] | None = None
    _own: bool = False  # whether the metric was fitted to the reference graphs, here
    _own_folds: FoldViews | None = None  # and what it said of them by fold; large, so neither saved nor pickled
    chosen_: dict[str, Any]  # what "auto" turned out to be: kept in files, not chosen again

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            PREDICTORS[cls.__name__] = cls

    @property
    def curves_(self) -> Curves:
        """The old name of `embedded_`: vectors as curves of one step."""
        check_is_fitted(self, "embedded_")
        warnings.warn(f"{type(self).__name__}.curves_ is now called embedded_", FutureWarning, stacklevel=2)
        return self.embedded_.as_step_functions()

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> Self:
        """Learns the metric, chooses what is left to choose, and keeps the graphs as reference.

        Parameters
        ----------
        graphs : list of graphs
            See :func:`as_graphs`.
        y : array [N], optional
            Targets; from the graphs (`Data.y`) when None. Several labels are a table [N, T] of 0 and 1, NaN or None
            where one was not measured, for predictors that take them.
        groups : array [N], optional
            Graphs of one group are never on both sides of a fold, see :meth:`GraphMetric.fit`.
        """
        self._check_options()
        names = column_names(y)
        graphs, y = self._checked(graphs, y)
        self.target_names_ = names if y.ndim == 2 else None
        groups = check_groups(as_listed("groups", groups), len(graphs))
        self._fit_metric(graphs, y, groups)
        with one_thread_for_products():
            graphs = self._refer_to(graphs, y)
            folds = ReferenceFolds(self.metric_, graphs, self.embedded_, groups, own=self._own_folds)
            self.chosen_ = self._choose(folds)
            self._complete()
        return self

    def _check_options(self) -> None:
        """Raises a ValueError for settings that make no sense."""
        check_settings(self, self._settings)

    def _checked(self, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
        """Graphs as one collection, and their targets, checked."""
        graphs = self._read(graphs)
        return graphs, self._check_targets(graphs, y)

    def _check_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        return check_classes(graphs, y)

    def _read(self, graphs: Any) -> Graphs:
        """Graphs converted once, by the metric's names for their parts: for its `fit`, or for use."""
        metric = unfrozen(self.metric)
        if not isinstance(metric, BaseGraphMetric):
            return as_graphs(graphs)
        return metric.read(graphs) if self._is_used_as_it_is() else metric.read_new(graphs)

    def _objective(self) -> tuple[Objective, np.ndarray]:
        """What predictions are scored by, and the encoded targets of the reference graphs."""
        raise NotImplementedError

    def _scorer(self) -> Scorer:
        """How predictions of graphs held out are judged: as the metric judged its own, if it has the same targets."""
        objective, target = self._objective()
        same = getattr(self.metric_, "task_", None) == self.task_
        return scorer_for(getattr(self.metric_, "scoring", "auto") if same else "auto", objective, target)

    @property
    def task_(self) -> str:
        """What is predicted: "classes", "labels" (several) or "numbers"."""
        check_is_fitted(self, "embedded_")
        return self._task_of(self.y_)

    def _task_of(self, y: np.ndarray) -> str:
        return self.task

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """Settings that are chosen on folds of the reference graphs."""
        return {}

    def _is_used_as_it_is(self) -> bool:
        """Whether the metric is not fitted: a frozen one, `sklearn.frozen.FrozenEstimator`."""
        return unfrozen(self.metric) is not self.metric

    def _fit_metric(self, graphs: Graphs, y: Any, groups: np.ndarray | None = None) -> None:
        """Fits a copy of the metric, unless it is used as it is."""
        metric = unfrozen(self.metric)
        if metric is None:
            metric = self._default_metric(y)
        if not isinstance(metric, BaseGraphMetric):  # bad input is a ValueError throughout
            raise ValueError(  # noqa: TRY004
                f"metric must be an SGML, a GraphMetric or another BaseGraphMetric, or None, got {self.metric!r}"
            )
        self._own = not self._is_used_as_it_is()
        if not self._own:
            check_is_fitted(metric)
            self.metric_, self._own_folds = metric, None
            return
        copy = clone(metric)
        if getattr(copy, "task", None) == "auto":
            copy.set_params(task=self._task_of_metric(copy, y))
        if groups is not None and not has_fit_parameter(copy, "groups"):
            raise ValueError(f"groups: {type(copy).__name__} does not use them")
        self.metric_, self._own_folds = check_memory(self.memory).cache(_fitted)(copy, graphs, y, groups)

    def _default_metric(self, y: Any) -> BaseGraphMetric:
        """What is fitted when `metric` is None."""
        from ..metrics.automatic import GraphMetric

        return GraphMetric(task=self._task_of(y))

    def _task_of_metric(self, metric: Any, y: Any) -> str:
        """What a metric that has no task of its own is fitted for, with these targets."""
        return self._task_of(y)

    def _refer_to(self, graphs: Graphs, y: np.ndarray) -> Graphs:
        """Makes these the reference graphs; returns them as the fitted metric reads them."""
        graphs = self.metric_.read(graphs)
        self.embedded_, self.y_, self.names_ = self.metric_.embed(graphs), y, graphs.names
        return graphs

    def _distances(self, embedded: Embedded, others: Embedded | None = None) -> np.ndarray:
        """Distances of embedded graphs [N, N], or to others [N, M], computed where the metric says."""
        return pairwise_distances(embedded, others, device=self.metric_.place(embedded))

    def to(self, device: Any) -> Any:
        """Moves metric and reference graphs to a device."""
        check_is_fitted(self, "embedded_")
        resolve_device(device)  # an error where there is no such device
        if hasattr(self.metric_, "to"):  # a GraphMetric makes its vectors on the CPU
            self.metric_.to(device)
            self.embedded_ = self.embedded_.to(device)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but what is large and serves only to choose right after `fit`."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_own_folds", "_held_out")}

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_is_fitted(self, "embedded_")
        params = {
            name: value for name, value in self.get_params(deep=False).items() if name not in ("metric", "memory")
        }
        names: dict[str, Any] = {} if self.names_ is None else {"names": self.names_.tolist()}
        if self.target_names_ is not None:
            names["target_names"] = self.target_names_
        return split(
            {
                "params": params,
                "metric_kind": type(self.metric_).__name__,
                "metric": OwnState(*self.metric_.state()),
                "reference": {"kind": self.embedded_.kind, **self.embedded_.arrays()},
                "y": without_nan(self.y_),
                **names,
                "chosen": self.chosen_,
            }
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes metric, embedded reference graphs and labels to a folder: JSON and safetensors, no pickle."""
        return save_model(path, type(self).__name__, *self._state(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, *, encoder: torch.nn.Module | None = None) -> Self:
        """What was saved in a folder; `encoder` as in :meth:`SGML.load`."""
        with opened_model(path, cls.__name__) as (_, config, tensors):
            return restored(cls, config, tensors, encoder)

    _saved_targets = staticmethod(with_nan)

    def _check_chosen(self, chosen: dict[str, Any]) -> Any:
        """What "auto" turned out to be, read, or a :class:`FieldError` where it does not go with the rest."""
        return read(self._chosen_type, chosen)

    def _complete(self) -> None:
        """Computes what follows from the reference graphs: after `fit`, after loading, after they have grown."""


PREDICTORS: Registry[type[MetricPredictor]] = Registry("predictor")


def _fitted(metric: BaseGraphMetric, graphs: Any, y: Any, groups: Any) -> tuple[BaseGraphMetric, FoldViews]:
    """The metric, fitted, and its distances by fold. A function of its own: `memory` can keep what it returns."""
    return metric, fit_with_folds(metric, graphs, y, groups)


class ClassesFromGraphs(ClassifierMixin):
    """A predictor of classes: `score` takes them from the graphs, as `fit` does."""

    metric: Any
    metric_: BaseGraphMetric
    y_: np.ndarray
    _takes_labels: ClassVar[bool] = False  # whether targets may be a table of several labels

    def _check_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Classes [N], or several labels [N, T]: columns of 0, 1 and NaN."""
        targets = given_targets(graphs, y)
        if targets is None or targets.ndim != 2:
            return check_classes(graphs, targets)
        if targets.shape[1] == 1 and getattr(unfrozen(self.metric), "task", None) != "labels":
            return check_classes(graphs, targets)
        self._check_takes_labels(targets.shape[1])
        return check_table(graphs, targets)

    def _check_takes_labels(self, count: int) -> None:
        """A `ValueError` where several labels cannot be predicted."""
        if not self._takes_labels:
            raise ValueError(
                f"{type(self).__name__} predicts one class per graph, but there are {count} labels of each: "
                "GraphClassifier, GraphKNNClassifier and GraphRidgeClassifier predict several"
            )

    @classmethod
    def _saved_targets(cls, y: list[Any]) -> np.ndarray:
        return saved_table(y) if cls._takes_labels and isinstance(y[0], list) else saved_classes(y)

    def _task_of(self, y: np.ndarray) -> str:
        return "labels" if y.ndim == 2 else "classes"

    def _objective(self) -> tuple[Objective, np.ndarray]:
        return SeveralLabels.of(self.y_) if self.y_.ndim == 2 else Classes.of(self.y_)

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; classes from the graphs (`Data.y`) when y is None. Of several labels, the share of those that are
        known which are right.
        """
        check_is_fitted(self, "embedded_")
        graphs = self.metric_.read(graphs)
        if self.y_.ndim == 2:
            return self._score_of_labels(graphs, y, sample_weight)
        truth = given_targets(graphs, y)
        if truth is None:
            raise ValueError("no class labels: pass y, or graphs that carry them (Data.y)")
        check_scored_classes(truth)
        return super().score(graphs, truth, sample_weight)

    def _score_of_labels(self, graphs: Graphs, y: Any, sample_weight: Any) -> float:
        truth = as_table(graphs, y)
        if truth.shape[1] != self.y_.shape[1]:
            raise ValueError(f"{truth.shape[1]} labels per graph, the model was fitted to {self.y_.shape[1]}")
        is_known = np.isfinite(truth)
        if not is_known.any():
            raise ValueError("no label of any graph is known: there is nothing to score")
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        right = is_known & (self.predict(graphs) == truth)  # type: ignore[attr-defined]
        return float(weights @ right.sum(1) / (weights @ is_known.sum(1)))

    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        """What `predict` and `predict_proba` return; the graphs are embedded once where that can be."""
        graphs = self.metric_.read(graphs)
        return self.predict(graphs), self.predict_proba(graphs)  # type: ignore[attr-defined]


def classes_of(y: np.ndarray) -> Any:
    """Class labels [C] that targets have; of several labels [N, T] an array for each, as scikit-learn has it.

    >>> classes_of(np.array(["b", "a", "b"]))
    array(['a', 'b'], dtype='<U1')
    >>> classes_of(np.array([[0.0, 1.0], [1.0, np.nan]]))
    [array([0, 1]), array([0, 1])]
    """
    return np.unique(y) if y.ndim == 1 else [np.array([0, 1]) for _ in range(y.shape[1])]


def target_titles(model: Any) -> list[str]:
    """What several labels or numbers are called that a model predicts, or their places; nothing where there is one.

    >>> from types import SimpleNamespace
    >>> target_titles(SimpleNamespace(y_=np.zeros((5, 2)), target_names_=None)), target_titles(SimpleNamespace())
    (['0', '1'], [])
    """
    y = getattr(model, "y_", None)
    if y is None or y.ndim == 1:
        return []
    return model.target_names_ or [str(place) for place in range(y.shape[1])]


def column_names(y: Any) -> list[str] | None:
    """Names of the columns of targets, as a data frame has them."""
    columns = getattr(y, "columns", None)
    return None if columns is None else [str(name) for name in columns]


class NumbersFromGraphs(RegressorMixin):
    """A predictor of numbers: `score` takes them from the graphs, as `fit` does."""

    task = "numbers"
    metric_: BaseGraphMetric
    y_: np.ndarray
    _saved_targets = staticmethod(saved_numbers)

    def _objective(self) -> tuple[Objective, np.ndarray]:
        return Numbers.of(self.y_)

    def _check_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        return check_numbers(graphs, y)

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R²; numbers from the graphs (`Data.y`) when y is None. Of several numbers, the mean over all that are known
        of two graphs or more.
        """
        check_is_fitted(self, "embedded_")
        graphs = self.metric_.read(graphs)
        truth = check_scored_numbers(graphs, y)
        if truth.ndim == 1 or not np.isnan(truth).any():
            return super().score(graphs, truth, sample_weight)
        is_known, predicted = np.isfinite(truth), self.predict(graphs)  # type: ignore[attr-defined]
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        scores = [
            r2_score(truth[rows, column], predicted[rows, column], sample_weight=weights[rows])
            for column, rows in enumerate(is_known.T)
            if rows.sum() > 1
        ]
        if not scores:
            raise ValueError("no number is known of two graphs or more: there is nothing to score")
        return float(np.mean(scores))


def check_scored_classes(labels: np.ndarray) -> None:
    """A `ValueError` for classes [N] that predictions cannot be compared with; they may all be the same."""
    if labels.dtype.kind != "O":
        return
    missing = [i for i, label in enumerate(labels.reshape(len(labels), -1).tolist()) if any(map(is_missing, label))]
    if missing:
        raise ValueError(f"the class of graph {missing[0]} is missing ({len(missing)} such in all): leave it out")
    raise ValueError("class labels must be discrete: all strings or all whole numbers")


def unfrozen(metric: Any) -> Any:
    """The metric inside a `sklearn.frozen.FrozenEstimator`; any other as it is."""
    from sklearn.frozen import FrozenEstimator

    return metric.estimator if isinstance(metric, FrozenEstimator) else metric


def is_fitted(metric: BaseGraphMetric) -> bool:
    """Whether `fit` was called."""
    try:
        check_is_fitted(metric)
    except NotFittedError:
        return False
    return True


def streamed(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a predictor that takes graphs first and returns arrays with a row per graph, or tuples of such.

    It is called on parts of many graphs, or of graphs that come one after the other, so that memory does not grow with
    their number; what it returns is put together.
    """

    @wraps(method)
    def in_parts(self: Any, graphs: Any = None, *args: Any, **options: Any) -> Any:
        check_is_fitted(self)
        size = 4 * CHUNK * n_workers()
        if graphs is None or not (is_stream(graphs) or (isinstance(graphs, Sized) and len(graphs) > size)):
            return method(self, graphs, *args, **options)
        parts = [method(self, part, *args, **options) for part in read_chunks(graphs, self.metric_.read, size)]
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        return np.concatenate(parts)

    return in_parts


def load(path: str | Path, *, encoder: torch.nn.Module | None = None) -> Any:
    """Any model folder, whatever was saved: a metric, or a predictor on a metric."""
    from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known
    from . import class_means, head_choice, kmeans, knn, ridge, svc  # noqa: F401

    kinds: dict[str, type[BaseGraphMetric] | type[MetricPredictor]] = {**METRICS, **PREDICTORS}
    with opened_model(path, tuple(kinds)) as (name, config, tensors):
        kind: Any = kinds[name]
        if issubclass(kind, MetricPredictor):
            return restored(kind, config, tensors, encoder)
        return kind.from_state(config, tensors, **({"encoder": encoder} if kind.takes_encoder else {}))
