"""What every metric between graphs can do, and what makes d(G, G) = 0: distances below its `rounding` are cleared.

See :attr:`BaseGraphMetric.rounding` and :func:`clear_rounding`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from .._core.parallel import in_parallel
from .._core.progress import progress_bar
from .._core.registry import Registry
from .._core.schema import FieldError, Saved, Seed
from ..graphs import Columns, Graphs, as_graphs
from ..graphs.stream import is_stream, read_chunks
from ..io.models import opened_model, save_model
from ..transport import Embedded, Vectors, pairwise_distances
from ..transport.embedded import LARGEST
from .explanation import Explanation

if TYPE_CHECKING:
    from typing_extensions import Self


_AT_ONCE = 2**22  # distances whose rounding is cleared at once: a matrix on disk need not fit into memory


class FoldView(NamedTuple):
    """A fold: some reference graphs, held out from all that a metric has learned (test), beside the others (train)."""

    train: np.ndarray  # indices of the graphs that the metric knows [M]
    test: np.ndarray  # indices of the graphs held out [H]
    within: np.ndarray  # distances among the training graphs [M, M]
    across: np.ndarray  # distances from the test graphs to the training graphs [H, M]
    scores: np.ndarray | None  # for the test graphs [H, T], by the metric's own regression on the training graphs


FoldViews = Callable[[int], list[FoldView] | None]  # distances by fold, of at most so many graphs in each


class CommonParams(Saved, kw_only=True):
    """Options that the metrics of the library share, in files."""

    random_state: Seed | None = None
    attribute: str
    label: str | None = None
    progress: bool | None = None
    edge_attribute: str | None = None
    edge_label: str | None = None
    edge_weight: str | None = None
    edges: Literal["auto"] | bool
    directed: Literal["auto"] | bool

    def __post_init__(self) -> None:
        if self.edges is True:
            raise FieldError("edges", 'must be "auto" or false, got True')


class BaseGraphMetric(TransformerMixin, BaseEstimator, ABC):
    """A distance between graphs, learned by `fit` and Euclidean between what `embed` returns.

    A subclass stores its options in `__init__`, among them `attribute`, `label` and `progress`, and defines the
    abstract methods. It is then known by the name of its class: classifiers take it, :func:`load` finds it.
    """

    attribute: str
    label: str | None
    progress: bool | None

    embedding_type: ClassVar[type[Embedded]] = Vectors  # what `embed` returns
    takes_encoder: ClassVar[bool] = False  # whether `load` needs the module the metric was made with
    columns_: Columns = Columns()  # of the graphs in `fit`; set there by metrics that match columns by name

    rounding: ClassVar[float] = 0.0
    """Distances below this are nothing but rounding, and count as 0: what makes d(G, G) = 0.

    A graph and itself with its nodes in another order are embedded alike up to the last digits only. Whoever hands out
    distances of the metric (matrices, files, searches, explanations) clears them: :func:`clear_rounding`. It is 0 where
    the embedding does not depend on the order of nodes. Votes measure it anew: `ReferenceGraphs.rounding`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        registered = METRICS.get(cls.__name__)
        if registered is not None and registered.__module__ != cls.__module__:
            raise ValueError(f"there is a metric {cls.__name__!r} already: give yours another name")
        METRICS[cls.__name__] = cls

    @abstractmethod
    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learns the metric from graphs (anything :func:`as_graphs` takes) and their classes [N]."""

    @abstractmethod
    def embed(self, graphs: Any) -> Embedded:
        """The graphs as curves or vectors, to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""

    @abstractmethod
    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32."""

    @abstractmethod
    def explain(self, graph: Any, other: Any) -> Explanation:
        """Which nodes of two graphs are compared with which, and each node's share of the squared distance."""

    def explain_pairs(self, graphs: Any, pairs: Any) -> Iterator[Explanation]:
        """The same for many pairs of graphs, by their indices [P, 2], one after the other."""
        listed = getattr(graphs, "graphs", graphs)
        return (self.explain(listed[i], listed[j]) for i, j in pairs)

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that makes up the fitted metric: what JSON can hold, and arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """The metric that `state` came from."""

    def embedded_shape(self) -> tuple[int | None, ...] | None:
        """Lengths of one row of what `embed` returns, by which saved reference graphs are checked; None if unknown."""
        return None

    def read(self, graphs: Any) -> Graphs:
        """Graphs of any supported kind as one collection, by this metric's names for what nodes and edges carry.

        Whether edges have directions is decided once, by the graphs in `fit`. Columns of node features and edge
        vectors are put in the order that they had there, where both sides have names for them (`Graphs.columns`).
        """
        options = self._reading_options()
        if hasattr(self, "directed_") and options.get("directed") == "auto":
            options["directed"] = self.directed_
        return self.columns_.apply(as_graphs(graphs, **options))

    def read_new(self, graphs: Any) -> Graphs:
        """The same for `fit`, which decides anew on directions and columns."""
        return as_graphs(graphs, **self._reading_options())

    def _reading_options(self) -> dict[str, Any]:
        """Options of :func:`as_graphs` that the metric was made with."""
        names = (
            "attribute", "label", "edge_attribute", "edge_label", "edge_weight", "edges", "directed",
            "graph_attribute", "missing",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def by_chunks(self, function: Callable[[Any, Graphs], Any], graphs: Any) -> Iterator[Any]:
        """function(metric, chunk) for graphs of any kind and number, a thousand at a time, in their order.

        Through joblib: inside `joblib.parallel_config`, chunks go to its workers, and the metric to each of them once.
        """
        total = None if is_stream(graphs) or not hasattr(graphs, "__len__") else len(graphs)
        with progress_bar(self.progress, "embedding", total=total, unit="graph", delay=2.0) as bar:

            def shown() -> Iterator[Graphs]:
                for chunk in read_chunks(graphs, self.read):
                    yield chunk
                    bar.update(len(chunk))

            yield from in_parallel(function, shown(), self.for_workers())

    def for_workers(self) -> Self:
        """What embeds graphs elsewhere: the metric, without what only `fit` needed."""
        return self

    # --- what heads on the metric ask for -------------------------------------------------------------------------

    @property
    def chosen_n_neighbors(self) -> int | None:
        """How many neighbours are to vote, if the metric has chosen that on graphs held out; else None."""
        return None

    @property
    def regression_task(self) -> str | None:
        """Task that a regression of the metric's own is fitted to, whose outputs are its `scores`; None without one."""
        return None

    def fold_views(self, most: int) -> list[FoldView] | None:
        """Distances of the graphs in `fit` by fold, at most `most` graphs in each; for choosing what comes after.

        Of metrics whose vectors know the targets of these graphs and that keep what is needed; else None. Metrics for
        which it is too large to keep hand it over while they are fitted, see :func:`fit_with_folds`.
        """
        return None

    def views_without(self, graphs: Any, folds: np.ndarray) -> list[FoldView] | None:
        """Distances among any graphs, by the fold [N] that each is in, as if nothing had been learned from this fold.

        Of metrics that know whether their vectors know the targets of these graphs, and can do without; else None.
        """
        return None

    def place(self, embedded: Embedded) -> Any:
        """Device for distances of embedded graphs: their own, or "auto" if the metric's `device` is "auto"."""
        return "auto" if getattr(self, "device", "auto") == "auto" else embedded.device

    def pairwise_distances(
        self,
        graphs: Any,
        others: Any = None,
        *,
        squared: bool = False,
        out: np.ndarray | None = None,
        precision: str = "float32",
    ) -> np.ndarray:
        """Exact distances between graphs [N, N], or to other graphs [N, M]; float32. See :func:`pairwise_distances`."""
        u, v = self.embed(graphs), None if others is None else self.embed(others)
        distances = pairwise_distances(
            u, v, squared=squared, out=out, device=self.place(u), precision=precision, progress=self.progress
        )
        return clear_rounding(distances, self.rounding, squared=squared)

    def _repr_html_inner(self) -> str:
        """What notebooks show: the options, as scikit-learn lists them, and what was chosen and learned."""
        html, report = super()._repr_html_inner(), ""
        with suppress(NotFittedError):
            report = str(getattr(self, "report_", ""))
        return f"{html}<p>{escape(report)}</p>" if report else html

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes the metric to a folder: JSON and safetensors, no pickle."""
        return save_model(path, type(self).__name__, *self.state(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The metric saved in a folder, on the CPU."""
        with opened_model(path, cls.__name__) as (_, config, tensors):
            return cls.from_state(config, tensors)


def clear_rounding(distances: np.ndarray, rounding: float, *, squared: bool = False) -> np.ndarray:
    """Sets distances [N, M], or squared ones, to 0 in place below a metric's :attr:`BaseGraphMetric.rounding`.

    >>> clear_rounding(np.array([[1e-6, 0.5]]), 1e-5)
    array([[0. , 0.5]])
    """
    if rounding:
        step = max(1, _AT_ONCE // max(1, distances.shape[1]))
        for start in range(0, len(distances), step):
            rows = distances[start : start + step]
            rows[rows < (rounding**2 if squared else rounding)] = 0.0
    return distances


def fit_with_folds(metric: BaseGraphMetric, graphs: Any, y: Any = None, groups: Any = None) -> FoldViews:
    """Fits a metric; returns its distances by fold, see :meth:`BaseGraphMetric.fold_views`.

    They are matrices of all graphs, so a metric does not keep them: whoever chooses something by them asks here.
    """
    handed: list[FoldViews] = []
    before = _collecting.set((metric, handed))
    try:
        metric.fit(graphs, y) if groups is None else metric.fit(graphs, y, groups)  # type: ignore[call-arg]
    finally:
        _collecting.reset(before)
    return handed[-1] if handed else metric.fold_views


def hand_over_folds(metric: BaseGraphMetric, views: FoldViews) -> None:
    """To whoever fits this metric by `fit_with_folds`: called by `fit`."""
    collecting = _collecting.get()
    if collecting is not None and collecting[0] is metric:
        collecting[1].append(views)


_collecting: ContextVar[tuple[BaseGraphMetric, list[FoldViews]] | None] = ContextVar("_collecting", default=None)


def in_range(vectors: Any) -> Any:
    """Vectors of graphs [N, d], dense or sparse, if all entries can be squared in float32."""
    entries = vectors.data if hasattr(vectors, "tocsr") else vectors
    if entries.size and not np.abs(entries).max() <= LARGEST[torch.float32]:  # NaN is not
        bad = next(i for i in range(vectors.shape[0]) if not np.abs(vectors[[i]]).max() <= LARGEST[torch.float32])
        raise ValueError(
            f"the vector of graph {bad} has numbers that are NaN, infinite or beyond 1e18: what its nodes or edges "
            "carry is too far from what the metric was fitted to"
        )
    return vectors


METRICS: Registry[type[BaseGraphMetric]] = Registry("metric")


def is_same_metric(one: BaseGraphMetric, other: BaseGraphMetric) -> bool:
    """Whether two fitted metrics measure the same distances: all that makes them up is equal but times of `fit`."""
    if type(one) is not type(other):
        return False
    (config, arrays), (other_config, other_arrays) = one.state(), other.state()
    if _without_times(config) != _without_times(other_config) or arrays.keys() != other_arrays.keys():
        return False
    return all(np.array_equal(array, other_arrays[name]) for name, array in arrays.items())


def _without_times(config: Any) -> Any:
    """A `state` without the seconds that anything in it took; options (`params`) may have any name.

    >>> _without_times({"params": {"seconds": 3}, "depth": 2, "seconds": 0.1, "history": {"loss": [1], "seconds": [9]}})
    {'params': {'seconds': 3}, 'depth': 2, 'history': {'loss': [1]}}
    """
    if not isinstance(config, dict):
        return config
    kept = {name: value for name, value in config.items() if name != "seconds"}
    return {name: value if name == "params" else _without_times(value) for name, value in kept.items()}
