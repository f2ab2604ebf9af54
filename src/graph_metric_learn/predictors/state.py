"""What files of predictors may hold, class by class, and predictors made of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
import torch
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict
from sklearn.base import clone

from .._core.schema import (
    Count,
    FieldError,
    Label,
    Labels,
    Natural,
    NonNegative,
    Number,
    OwnState,
    Saved,
    Seed,
    array,
    check_labels,
    dims_of,
    join,
    read,
    within,
)
from .._core.schema import Positive as AnyPositive
from .._core.threads import one_thread_for_products
from ..metrics.base import METRICS, BaseGraphMetric
from ..transport import Curves, Embedded, Vectors
from .settings import Positive

if TYPE_CHECKING:
    from .predictor import MetricPredictor

Kind = TypeVar("Kind", bound="MetricPredictor")


# --- what files hold -------------------------------------------------------------------------------------------------


class SavedCurves(Saved, tag="curves", tag_field="kind"):
    """Reference graphs as :class:`Curves`."""

    values: Annotated[np.ndarray, array("S M c")]
    sizes: Annotated[np.ndarray, array("G", "i", least=1)]
    steps: Annotated[np.ndarray, array("S M", least=0.0)] | None = None


class SavedVectors(Saved, tag="vectors", tag_field="kind"):
    """Reference graphs as :class:`Vectors`."""

    values: Annotated[np.ndarray, array("G d")]


class PredictorState(Saved, kw_only=True):
    """What files hold of a predictor."""

    params: dict[str, Any]
    metric_kind: str
    metric: OwnState
    reference: SavedCurves | SavedVectors
    y: Annotated[list[Any], Meta(min_length=1)]
    names: list[str] | None = None
    target_names: list[str] | None = None
    chosen: dict[str, Any]


class Chosen(Saved, kw_only=True):
    """What "auto" turned out to be, and how good it was on graphs held out, by the score that is named."""

    held_out_score: Number | UnsetType = UNSET
    held_out_error: NonNegative | UnsetType = UNSET
    scored_by: str | UnsetType = UNSET


class ChosenNeighbors(Chosen, kw_only=True):
    """Of k-nearest neighbours."""

    n_neighbors: Count
    vote_limit: Annotated[float, Meta(ge=1.0, le=1e30)]


class Calibrator(Saved):
    """Slopes and offsets of logistic regressions: one slope for all classes, or one for each label."""

    slopes: Annotated[list[NonNegative], array("S")]
    offsets: Annotated[list[Number], array("C")]

    def check(self, n_slopes: int, n_outputs: int) -> None:
        """A :class:`FieldError` unless it has so many slopes, for so many classes or labels."""
        with within("calibrator"):
            dims_of(self, S=n_slopes, C=n_outputs)


class ChosenVotes(ChosenNeighbors, kw_only=True):
    """Of k-nearest neighbours that vote for classes, or for several labels."""

    calibrator: Calibrator
    classes: Labels | UnsetType = UNSET  # that were there when it was calibrated; more may have been added


class ChosenSVC(Chosen, kw_only=True):
    """Of a support vector machine."""

    gamma: Positive
    C: Positive
    balanced: bool
    calibrator: Calibrator


class ChosenRidge(Chosen, kw_only=True):
    """Of a ridge regression: the metric's own, or one with a scale and a penalty of its own."""

    own: bool
    scale: AnyPositive | UnsetType = UNSET
    penalty: Positive | UnsetType = UNSET

    def __post_init__(self) -> None:
        for name in ("scale", "penalty"):
            if (getattr(self, name) is UNSET) != self.own:
                raise FieldError(name, "is not known" if self.own else "is missing")


class ChosenRidgeClasses(ChosenRidge, kw_only=True):
    """Of a ridge regression on classes."""

    calibrator: Calibrator


class ChosenClusters(Saved):
    """Of k-means."""

    n_iter: Natural
    seed: Seed | None


class ChosenHead(Saved):
    """Of a predictor that chooses its head."""

    head: str
    settings: dict[str, Any]
    scores: dict[str, Number]
    scored_by: str


_OneOrZero = Annotated[float, Meta(ge=0.0, le=1.0)]
_Target = Annotated[float, Meta(ge=-1e100, le=1e100)]  # as in `objectives.numbers`


# --- from files to predictors ----------------------------------------------------------------------------------------


def restored(home: type[Kind], config: Any, tensors: dict[str, np.ndarray], encoder: torch.nn.Module | None) -> Kind:
    """The predictor that `MetricPredictor._state` came from, or a :class:`FieldError`; `encoder` as in `SGML.load`."""
    from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known

    saved = read(PredictorState, join(config, tensors))
    kind = METRICS[saved.metric_kind]
    options: dict[str, Any] = {"encoder": encoder} if kind.takes_encoder else {}
    with within("metric"):
        metric = kind.from_state(saved.metric.config, saved.metric.arrays, **options)
    params = checked_params(home, saved.params)
    embedded = _embedded(saved, metric)
    loaded = home(metric=clone(metric), **params)
    try:
        loaded._check_options()
    except ValueError as error:
        raise FieldError("params", f": {error}") from None
    loaded.metric_, loaded.embedded_ = metric, embedded
    loaded.y_ = loaded._saved_targets(saved.y)
    fixed = params.get("n_neighbors") if "n_neighbors" in home._settings else None
    if isinstance(fixed, int) and fixed > len(saved.y):
        raise FieldError("params.n_neighbors", f"is {fixed}, but there are {len(saved.y)} reference graphs")
    _check_target_names(saved.target_names, loaded.y_)
    loaded.target_names_ = saved.target_names
    loaded.names_ = None if saved.names is None else np.array(saved.names, dtype=object)
    with within("chosen"):
        loaded._check_chosen(saved.chosen)
    loaded.chosen_ = saved.chosen
    with one_thread_for_products():  # as in `fit`: the same to the last digit
        loaded._complete()
    return loaded


def checked_params(home: type[MetricPredictor], params: dict[str, Any]) -> dict[str, Any]:
    """Options of a predictor in a file, or a :class:`FieldError`; weights of classes are pairs there."""
    params, names = dict(params), set(inspect.signature(home).parameters) - {"metric", "memory"}
    for name, value in params.items():
        if name not in names:
            raise FieldError(f"params.{name}", "is not known")
        if name == "class_weight" and isinstance(value, list):
            params[name] = dict(read(list[tuple[Label, Positive]], value, f"params.{name}"))
        elif name == "class_weight":
            read(str | None, value, f"params.{name}")
    return params


def _embedded(saved: PredictorState, metric: BaseGraphMetric) -> Embedded:
    """The embedded reference graphs, of the kind and width that the metric makes."""
    reference, shape = saved.reference, metric.embedded_shape()
    home: type[Embedded] = Curves if isinstance(reference, SavedCurves) else Vectors
    if shape is not None and metric.embedding_type is not home:
        raise FieldError("reference", f"is of {home.kind}, but the metric makes {metric.embedding_type.kind}")
    lengths: dict[str, int | None] = dict(zip(("M", "c") if home is Curves else ("d",), shape or (), strict=False))
    with within("reference"):
        dims_of(reference, G=len(saved.y), **lengths)
    if saved.names is not None and len(saved.names) != len(saved.y):
        raise FieldError("names", f"are {len(saved.names)} for {len(saved.y)} reference graphs")
    try:
        return home.from_arrays({name: value for name, value in asdict(reference).items() if value is not None})
    except ValueError as error:
        raise FieldError("reference", f"does not fit together: {error}") from None


def saved_classes(y: list[Any]) -> np.ndarray:
    """Classes of the reference graphs [R]: two or more, all strings or all numbers."""
    check_labels("y", read(Labels, y, "y"), ascending=False)
    if len(set(y)) < 2:
        raise FieldError("y", "holds one class only")
    return np.array(y)


def saved_table(y: list[Any]) -> np.ndarray:
    """Several labels of the reference graphs [R, T], each 0 for some and 1 for others, None (NaN) where not known."""
    table = with_nan(read(list[list[_OneOrZero | None]], y, "y")).astype(float)
    if table.ndim != 2 or table.shape[1] == 0 or not all({0.0, 1.0} <= set(column) for column in table.T.tolist()):
        raise FieldError("y", "has a label that is the same for all graphs")
    if (np.isfinite(table) & (table != 0) & (table != 1)).any():
        raise FieldError("y", "has labels that are not 0 or 1")
    return table


def _check_target_names(names: list[str] | None, y: np.ndarray) -> None:
    if names is not None and (y.ndim != 2 or len(names) != y.shape[1]):
        raise FieldError("target_names", f"are {len(names)} for targets of shape {y.shape}")


def saved_numbers(y: list[Any]) -> np.ndarray:
    """Numbers of the reference graphs [R], or several [R, T], of which some are missing (None is NaN)."""
    several = isinstance(y[0], list)
    numbers = with_nan(read(list[list[_Target | None]] if several else list[_Target], y, "y"))
    if several and (numbers.ndim != 2 or numbers.shape[1] == 0 or np.isnan(numbers).all(0).any()):
        raise FieldError("y", "has a column without numbers")
    return numbers


def saved_clusters(y: list[Any], count: int) -> np.ndarray:
    """Clusters of the reference graphs [R], 0 … count − 1, each with a graph or more."""
    clusters = np.array(read(list[Natural], y, "y"))
    if clusters.max() >= count:
        raise FieldError(f"y.{clusters.argmax()}", f"is {clusters.max()}, but there are {count} clusters")
    if len(np.unique(clusters)) != count:
        raise FieldError("y", f"leaves some of {count} clusters empty")
    return clusters


def without_nan(y: np.ndarray) -> list[Any]:
    """Targets as JSON can hold them: None where a number is missing."""
    if y.dtype.kind != "f":
        return y.tolist()
    return np.where(np.isnan(y), None, y.astype(object)).tolist()  # type: ignore[call-overload]


def with_nan(y: list[Any]) -> np.ndarray:
    """What `without_nan` was given."""
    try:
        targets = np.array(y)
        return targets.astype(float) if targets.dtype.kind == "O" else targets
    except (ValueError, TypeError):
        raise FieldError("y", "must be one label or number per graph, or rows of the same length") from None
