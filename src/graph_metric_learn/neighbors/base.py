"""What all predictors on a metric share: a fitted metric, embedded reference graphs, saving and loading."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._core.registry import Registry
from ..graphs import Graphs, as_graphs
from ..metrics.base import METRICS, BaseGraphMetric
from ..objectives.classes import check_classes
from ..persistence.models import load_model, save_model, strip_prefix
from ..transport import Curves, Embedded, Vectors, pairwise_distances

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
        Their labels.
    names_ : ndarray of str [R] or None
        Their names, where the graphs have some (see :func:`as_graphs`).
    """

    metric: Any
    metric_: BaseGraphMetric
    embedded_: Embedded
    y_: np.ndarray
    names_: np.ndarray | None = None

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

    def _fit_metric(self, graphs: Any, y: Any) -> None:
        """Fits a copy of the metric; a frozen one (`sklearn.frozen.FrozenEstimator`) is used as it is."""
        chosen = self.metric
        if chosen is None:
            from ..metrics.automatic import GraphMetric

            chosen = GraphMetric()
        if not isinstance(unfrozen(chosen), BaseGraphMetric):  # bad input is a ValueError throughout
            raise ValueError(  # noqa: TRY004
                f"metric must be an SGML, a GraphMetric or another BaseGraphMetric, or None, got {chosen!r}"
            )
        self.metric_ = unfrozen(clone(chosen).fit(graphs, y))

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
        if hasattr(self.metric_, "to"):  # a GraphMetric makes its vectors on the CPU
            self.metric_.to(device)
            self.embedded_ = self.embedded_.to(device)
        return self

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_is_fitted(self, "embedded_")
        metric, tensors = self.metric_.state()
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "metric"}
        config = {"params": params, "metric_kind": type(self.metric_).__name__, "metric": metric}
        config |= {"y": self.y_.tolist(), "embedded": self.embedded_.kind}
        if self.names_ is not None:
            config["names"] = self.names_.tolist()
        tensors = {f"metric.{name}": value for name, value in tensors.items()}
        return config, tensors | {f"reference.{name}": value for name, value in self.embedded_.arrays().items()}

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes metric, embedded reference graphs and labels to a folder: JSON and safetensors, no pickle."""
        return save_model(path, type(self).__name__, *self._state(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, *, encoder: torch.nn.Module | None = None) -> Self:
        """What was saved in a folder; `encoder` as in :meth:`SGML.load`."""
        from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known

        _, config, tensors = load_model(path, cls.__name__)
        home = METRICS[config.get("metric_kind", "SGML")]
        options: dict[str, Any] = {"encoder": encoder} if home.takes_encoder else {}
        metric = home.from_state(config["metric"], strip_prefix(tensors, "metric."), **options)
        loaded = cls(metric=clone(metric), **config["params"])
        loaded.metric_ = metric
        kind = config.get("embedded", metric.embedding_type.kind)  # earlier versions did not say
        loaded.embedded_ = EMBEDDED[kind].from_arrays(strip_prefix(tensors, "reference."))
        loaded.y_ = np.array(config["y"])
        loaded.names_ = None if config.get("names") is None else np.array(config["names"], dtype=object)
        loaded._complete()
        return loaded

    def _complete(self) -> None:
        """Computes what follows from the reference graphs: after `fit`, after loading, after they have grown."""


PREDICTORS: Registry[type[MetricPredictor]] = Registry("predictor")
EMBEDDED: dict[str, type[Embedded]] = {kind.kind: kind for kind in (Curves, Vectors)}


class ClassesFromGraphs(ClassifierMixin):
    """`score` that finds the classes in the graphs, as `fit` does."""

    metric_: BaseGraphMetric

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; classes from the graphs (`Data.y`) when y is None."""
        check_is_fitted(self, "embedded_")
        given = self.metric_.read(graphs)
        if y is None and given.y is None:
            raise ValueError("no class labels: pass y, or graphs that carry them (Data.y)")
        return super().score(given, given.y if y is None else y, sample_weight)


def labelled_graphs(metric: Any, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
    """Graphs converted once, by the metric's names for their parts, and their classes [N]."""
    chosen = unfrozen(metric)
    given = chosen.read(graphs) if isinstance(chosen, BaseGraphMetric) else as_graphs(graphs)
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
