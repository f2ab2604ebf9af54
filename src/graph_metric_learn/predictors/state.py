"""What files of predictors may hold, class by class, and predictors made of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
import torch
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict
from sklearn.base import clone

from .._core.schema import (
    MANY,
    Count,
    FieldError,
    Label,
    Labels,
    Natural,
    Number,
    OwnState,
    Saved,
    Seed,
    array,
    check_choice,
    check_labels,
    dims_of,
    join,
    read,
    within,
)
from .._core.schema import Positive as AnyPositive
from ..metrics.base import METRICS, BaseGraphMetric
from ..transport import Curves, Embedded, Vectors
from .settings import CLUSTERS, NEIGHBORS, SEED, SVC, Positive, Setting, check_setting

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
    chosen: dict[str, Any]


class Chosen(Saved, kw_only=True):
    """What "auto" turned out to be, and how good it was on graphs held out."""

    held_out_score: Number | UnsetType = UNSET
    held_out_error: Number | UnsetType = UNSET


class ChosenNeighbors(Chosen, kw_only=True):
    """Of k-nearest neighbours."""

    n_neighbors: Count
    vote_limit: Annotated[float, Meta(ge=1.0, le=1e30)]


class Calibrator(Saved):
    """A logistic regression from scores to classes."""

    centre: list[Number]
    scale: list[AnyPositive]
    coefficients: list[list[Number]]
    offsets: list[Number]
    scores: Literal["pairs"] | UnsetType = UNSET  # of a support vector machine of many classes


class ChosenSVC(Chosen, kw_only=True):
    """Of a support vector machine."""

    gamma: Positive
    C: Positive
    calibrator: Calibrator


class ChosenRidge(Chosen, kw_only=True):
    """Of a ridge regression: the metric's own, or one with a scale and a penalty of its own."""

    own: bool
    scale: AnyPositive | UnsetType = UNSET
    penalty: Positive | UnsetType = UNSET
    calibrator: Calibrator | UnsetType = UNSET  # of classes

    def __post_init__(self) -> None:
        for name in ("scale", "penalty"):
            if (getattr(self, name) is UNSET) != self.own:
                raise FieldError(name, "is not known" if self.own else "is missing")


class ChosenClusters(Saved):
    """Of k-means."""

    n_iter: Natural
    seed: Seed | None


class ChosenHead(Saved):
    """Of a predictor that chooses its head."""

    head: str
    settings: dict[str, Any]
    scores: dict[str, Number]


_SETTINGS: dict[str, dict[str, Setting]] = {
    "GraphKNNClassifier": NEIGHBORS,
    "GraphKNNRegressor": NEIGHBORS,
    "GraphRidge": {},
    "GraphRidgeClassifier": {},
    "GraphSVC": SVC,
    "NearestClassMean": {},
    "GraphKMeans": {**CLUSTERS, "random_state": SEED},
    "GraphClassifier": {
        "head": Setting(Literal["auto", "knn", "ridge", "svc"], "one of 'auto', 'knn', 'ridge', 'svc'")
    },
    "GraphRegressor": {"head": Setting(Literal["auto", "knn", "ridge"], "one of 'auto', 'knn', 'ridge'")},
}
_CHOSEN: dict[str, type[Saved]] = {
    "GraphKNNClassifier": ChosenNeighbors, "GraphKNNRegressor": ChosenNeighbors, "GraphRidge": ChosenRidge,
    "GraphRidgeClassifier": ChosenRidge, "GraphSVC": ChosenSVC, "NearestClassMean": Saved,
    "GraphKMeans": ChosenClusters, "GraphClassifier": ChosenHead, "GraphRegressor": ChosenHead,
}  # fmt: skip
_OF_NUMBERS = ("GraphKNNRegressor", "GraphRidge", "GraphRegressor")
_HEADS = {
    "GraphClassifier": {"knn": "GraphKNNClassifier", "ridge": "GraphRidgeClassifier", "svc": "GraphSVC"},
    "GraphRegressor": {"knn": "GraphKNNRegressor", "ridge": "GraphRidge"},
}
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
    loaded._check_options()
    loaded.metric_, loaded.embedded_ = metric, embedded
    loaded.y_ = _targets(home.__name__, saved.y, loaded)
    fixed = params.get("n_neighbors") if home.__name__ in _SETTINGS else None
    if isinstance(fixed, int) and fixed > len(saved.y):
        raise FieldError("params.n_neighbors", f"is {fixed}, but there are {len(saved.y)} reference graphs")
    loaded.names_ = None if saved.names is None else np.array(saved.names, dtype=object)
    _check_chosen(home.__name__, saved.chosen, loaded, "chosen")
    loaded.chosen_ = saved.chosen
    loaded._complete()
    return loaded


def checked_params(home: type, params: dict[str, Any]) -> dict[str, Any]:
    """Options of a predictor in a file, or a :class:`FieldError`; weights of classes are pairs there."""
    known, settings = set(inspect.signature(home).parameters) - {"metric", "memory"}, _SETTINGS.get(home.__name__, {})
    params = dict(params)
    for name, value in params.items():
        if name not in known:
            raise FieldError(f"params.{name}", "is not known")
        if name == "class_weight" and isinstance(value, list):
            params[name] = value = dict(read(list[tuple[Label, Any]], value, f"params.{name}"))
        elif name == "class_weight":
            read(str | None, value, f"params.{name}")
        if name in settings:
            try:
                check_setting(name, value, settings[name])
            except ValueError as error:
                raise FieldError("", f"params.{error}") from None
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


def _targets(kind: str, y: list[Any], loaded: Any) -> np.ndarray:
    """Targets of the reference graphs: classes, numbers [R] or [R, T] (None is NaN), or clusters."""
    if kind == "GraphKMeans":
        clusters = np.array(read(list[Annotated[int, Meta(ge=0, le=MANY)]], y, "y"))
        if clusters.max() >= loaded.n_clusters:
            raise FieldError(
                f"y.{clusters.argmax()}", f"is {clusters.max()}, but there are {loaded.n_clusters} clusters"
            )
        if len(np.unique(clusters)) != loaded.n_clusters:
            raise FieldError("y", f"leaves some of {loaded.n_clusters} clusters empty")
        return clusters
    if kind in _OF_NUMBERS:
        several = isinstance(y[0], list)
        found = with_nan(read(list[list[_Target | None]] if several else list[_Target], y, "y"))
        if several and (found.ndim != 2 or found.shape[1] == 0 or np.isnan(found.astype(float)).all(0).any()):
            raise FieldError("y", "has a column without numbers")
        return found
    if kind in _SETTINGS:
        check_labels("y", read(Labels, y, "y"), ascending=False)
        if len(set(y)) < 2:
            raise FieldError("y", "holds one class only")
        return np.array(y)
    return with_nan(y)


def without_nan(y: np.ndarray) -> list[Any]:
    """Targets as JSON can hold them: None where a number is missing."""
    if y.dtype.kind != "f":
        return y.tolist()
    found = y.astype(object)
    found[np.isnan(y)] = None
    return found.tolist()


def with_nan(y: list[Any]) -> np.ndarray:
    """What `without_nan` was given."""
    try:
        found = np.array(y)
        return found.astype(float) if found.dtype.kind == "O" else found
    except (ValueError, TypeError):
        raise FieldError("y", "must be one label or number per graph, or rows of the same length") from None


def _check_chosen(kind: str, chosen: dict[str, Any], loaded: Any, where: str) -> None:
    """A :class:`FieldError` unless what "auto" turned out to be goes with the class and its reference graphs."""
    if kind not in _CHOSEN:
        return
    found: Any = read(_CHOSEN[kind], chosen, where)
    n_classes = len(np.unique(loaded.y_)) if kind in ("GraphSVC", "GraphRidgeClassifier") else 0
    with within(where):
        if kind in _HEADS:
            check_choice("head", found.head, _HEADS[kind])
            _check_chosen(_HEADS[kind][found.head], found.settings, loaded, "settings")
        elif isinstance(found, ChosenNeighbors):
            if found.n_neighbors > len(loaded.y_):
                raise FieldError("n_neighbors", f"is {found.n_neighbors} of {len(loaded.y_)} reference graphs")
        elif isinstance(found, ChosenSVC):
            _check_calibrator(found.calibrator, n_classes, 1 if n_classes == 2 else n_classes)
            if (found.calibrator.scores is UNSET) != (n_classes == 2):
                raise FieldError("calibrator.scores", "is missing" if n_classes > 2 else "is not known")
        elif isinstance(found, ChosenRidge):
            if found.own:
                _check_own(loaded)
            if (found.calibrator is UNSET) != (n_classes == 0):
                raise FieldError("calibrator", "is missing" if n_classes else "is not known")
            if isinstance(found.calibrator, Calibrator):
                _check_calibrator(found.calibrator, n_classes, n_classes)


def _check_own(loaded: Any) -> None:
    """A :class:`FieldError` unless the metric has learned a regression for targets such as those here."""
    learned, y = getattr(loaded.metric_, "learned_", None), loaded.y_
    classes = getattr(loaded.metric_, "classes_", None) if loaded.task == "classes" else None
    count = 1 if y.ndim == 1 else y.shape[1]
    fits = learned is not None and (
        np.isin(classes, y).all() if classes is not None else learned.machine.weights.shape[1] == count
    )
    if not fits or getattr(loaded.metric_, "task_", loaded.task) != loaded.task:
        raise FieldError("own", "is true, but the metric has no regression for these targets")


def _check_calibrator(found: Calibrator, n_classes: int, n_scores: int) -> None:
    """A :class:`FieldError` unless it is one from so many scores to so many classes."""
    for name, count in (("centre", n_scores), ("scale", n_scores), ("coefficients", n_classes), ("offsets", n_classes)):
        if len(getattr(found, name)) != count:
            raise FieldError(f"calibrator.{name}", f"has {len(getattr(found, name))} entries, expected {count}")
    if any(len(row) != n_scores for row in found.coefficients):
        raise FieldError("calibrator.coefficients", f"must have {n_scores} columns")
