"""What all predictors on a metric share: a fitted metric, embedded reference graphs, saving and loading."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, check_memory, has_fit_parameter

from .._core.linear import one_thread_for_products
from .._core.registry import Registry
from .._core.schema import OwnState, split
from .._core.validation import as_listed
from ..graphs import Graphs, as_graphs
from ..io.models import opened_model, save_model
from ..metrics.base import BaseGraphMetric
from ..objectives.classes import check_classes
from ..objectives.folds import check_groups
from ..objectives.numbers import check_numbers, check_scored_numbers
from ..objectives.targets import given_targets, is_missing
from ..transport import Curves, Embedded, pairwise_distances
from ..transport.devices import resolve_device
from .fold_distances import ReferenceFolds
from .state import restored, without_nan

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
    y_ : ndarray [R]
        Their classes or numbers.
    chosen_ : dict
        Settings that `fit` found for itself.
    names_ : ndarray of str [R] or None
        Their names, where the graphs have some (see :func:`as_graphs`).
    """

    metric: Any
    memory: Any = None  # a place to keep fitted metrics in, see `sklearn.pipeline.Pipeline`
    task: ClassVar[str] = "classes"  # what a metric is fitted for
    metric_: BaseGraphMetric
    embedded_: Embedded
    y_: np.ndarray
    names_: np.ndarray | None = None
    _own: bool = False  # whether the metric was fitted to the reference graphs, here
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
            Targets; from the graphs (`Data.y`) when None.
        groups : array [N], optional
            Graphs of one group are never on both sides of a fold, see :meth:`GraphMetric.fit`.
        """
        self._check_options()
        given, y = self._given(graphs, y)
        groups = check_groups(as_listed("groups", groups), len(given))
        self._fit_metric(given, y, groups)
        return self._fit_head(given, y, groups)

    @one_thread_for_products()
    def _fit_head(self, given: Graphs, y: np.ndarray, groups: np.ndarray | None = None) -> Self:
        """All of `fit` but the metric."""
        self._refer_to(given, y)
        read = self.metric_.read(given)
        self.chosen_ = self._choose(ReferenceFolds(self.metric_, read, self.embedded_, groups, own=self._own))
        self._complete()
        return self

    def _check_options(self) -> None:
        """Raises a ValueError for settings that make no sense."""

    def _given(self, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
        """Graphs as one collection, and their targets, checked."""
        return labelled_graphs(self.metric, graphs, y)

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """Settings that are found by folds of the reference graphs."""
        return {}

    def _fit_metric(self, graphs: Any, y: Any, groups: Any = None) -> None:
        """Fits a copy of the metric; a frozen one (`sklearn.frozen.FrozenEstimator`) is used as it is."""
        chosen = self.metric
        if chosen is None:
            from ..metrics.automatic import GraphMetric

            chosen = GraphMetric(task=self.task)
        if not isinstance(unfrozen(chosen), BaseGraphMetric):  # bad input is a ValueError throughout
            raise ValueError(  # noqa: TRY004
                f"metric must be an SGML, a GraphMetric or another BaseGraphMetric, or None, got {chosen!r}"
            )
        self._own = unfrozen(chosen) is chosen
        if not self._own:
            self.metric_ = unfrozen(chosen)
            check_is_fitted(self.metric_)
            return
        copy = clone(chosen)
        if getattr(copy, "task", None) == "auto":
            copy.set_params(task=self._task_of_metric(copy, y))
        if groups is not None and not has_fit_parameter(copy, "groups"):
            raise ValueError(f"groups: {type(copy).__name__} does not use them")
        self.metric_ = check_memory(self.memory).cache(_fitted)(copy, graphs, y, groups)

    def _task_of_metric(self, metric: Any, y: Any) -> str:
        """What a metric that has no task of its own is fitted for, with these targets."""
        return self.task

    def _refer_to(self, graphs: Any, y: np.ndarray) -> None:
        given = self.metric_.read(graphs)
        self.embedded_ = self.metric_.embed(given)
        self.y_ = y
        self.names_ = given.names

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

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_is_fitted(self, "embedded_")
        params = {
            name: value for name, value in self.get_params(deep=False).items() if name not in ("metric", "memory")
        }
        names = {} if self.names_ is None else {"names": self.names_.tolist()}
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

    def _complete(self) -> None:
        """Computes what follows from the reference graphs: after `fit`, after loading, after they have grown."""


PREDICTORS: Registry[type[MetricPredictor]] = Registry("predictor")


def _fitted(metric: BaseGraphMetric, graphs: Any, y: Any, groups: Any) -> BaseGraphMetric:
    """The metric, fitted. A function of its own so that `memory` can keep what it returns."""
    return metric.fit(graphs, y) if groups is None else metric.fit(graphs, y, groups)  # type: ignore[call-arg]


class ClassesFromGraphs(ClassifierMixin):
    """`score` that finds the classes in the graphs, as `fit` does."""

    metric_: BaseGraphMetric

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; classes from the graphs (`Data.y`) when y is None."""
        check_is_fitted(self, "embedded_")
        given = self.metric_.read(graphs)
        truth = given_targets(given, y)
        if truth is None:
            raise ValueError("no class labels: pass y, or graphs that carry them (Data.y)")
        check_known_classes(truth)
        return super().score(given, truth, sample_weight)

    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        """What `predict` and `predict_proba` return; predictors that can embed the graphs but once for both."""
        given = self.metric_.read(graphs)
        return self.predict(given), self.predict_proba(given)  # type: ignore[attr-defined]


class NumbersFromGraphs(RegressorMixin):
    """`score` that finds the numbers in the graphs, as `fit` does."""

    task = "numbers"
    metric: Any
    metric_: BaseGraphMetric

    def _given(self, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
        given = read_for(self.metric, graphs)
        return given, check_numbers(given, y)

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R²; numbers from the graphs (`Data.y`) when y is None. Of several numbers, the mean over all that are known
        of two graphs or more.
        """
        check_is_fitted(self, "embedded_")
        given = self.metric_.read(graphs)
        truth = check_scored_numbers(given, y)
        if truth.ndim == 1 or not np.isnan(truth).any():
            return super().score(given, truth, sample_weight)
        known, found = np.isfinite(truth), self.predict(given)  # type: ignore[attr-defined]
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        scores = [
            r2_score(truth[rows, column], found[rows, column], sample_weight=weights[rows])
            for column, rows in enumerate(known.T)
            if rows.sum() > 1
        ]
        if not scores:
            raise ValueError("no number is known of two graphs or more: there is nothing to score")
        return float(np.mean(scores))


def check_known_classes(labels: np.ndarray) -> None:
    """A `ValueError` for classes that predictions cannot be compared with; they may all be the same."""
    if labels.dtype.kind != "O":
        return
    missing = [i for i, label in enumerate(labels.reshape(len(labels), -1).tolist()) if any(map(is_missing, label))]
    if missing:
        raise ValueError(f"the class of graph {missing[0]} is missing ({len(missing)} such in all): leave it out")
    raise ValueError("class labels must be discrete: all strings or all whole numbers")


def read_for(metric: Any, graphs: Any) -> Graphs:
    """Graphs converted once, by the metric's names for their parts: as for its `fit`, or as it is if it is frozen."""
    chosen = unfrozen(metric)
    if not isinstance(chosen, BaseGraphMetric):
        return as_graphs(graphs)
    return chosen.read_new(graphs) if chosen is metric else chosen.read(graphs)


def labelled_graphs(metric: Any, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
    """Graphs converted once, and their classes [N]."""
    given = read_for(metric, graphs)
    return given, check_classes(given, y)


def joined_names(names: np.ndarray | None, count: int, more: np.ndarray | None, added: int) -> np.ndarray | None:
    """Names of `count` graphs and of those added to them; graphs without names are called by their row.

    >>> joined_names(None, 2, np.array(["water"], dtype=object), 1)
    array(['0', '1', 'water'], dtype=object)
    """
    if names is None and more is None:
        return None
    rows = np.array([str(row) for row in range(count + added)], dtype=object)
    return np.concatenate([rows[:count] if names is None else names, rows[count:] if more is None else more])


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
