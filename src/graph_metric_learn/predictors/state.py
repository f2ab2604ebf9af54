"""What files of predictors may hold, class by class, and predictors made of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from sklearn.base import clone

from .._core.fields import (
    Arrays,
    Check,
    FieldError,
    anything,
    choice,
    flag,
    label,
    labels,
    list_of,
    mapping_of,
    number,
    optional,
    record,
    text,
    whole,
    within,
)
from ..metrics.base import METRICS, BaseGraphMetric
from ..transport import Curves, Embedded, Vectors
from .settings import CLUSTERS, MANY, NEIGHBORS, POSITIVE, SEED, SVC

if TYPE_CHECKING:
    from .predictor import MetricPredictor

Kind = TypeVar("Kind", bound="MetricPredictor")

EMBEDDED: dict[str, type[Embedded]] = {kind.kind: kind for kind in (Curves, Vectors)}

_LARGEST = 1e100  # of targets, as in `objectives.numbers`
_SCORES = {"held_out_score": number(), "held_out_error": number()}
_STATE = record(
    {"params": mapping_of(anything), "metric": anything, "y": list_of(anything, 1)},
    {
        "metric_kind": text, "embedded": choice(EMBEDDED), "chosen": mapping_of(anything),
        "names": optional(list_of(text)),
    },
)  # fmt: skip


def _weights(value: Any, name: str) -> Any:
    """Weights of classes as they are in files: pairs, since keys of JSON are strings."""
    if value is not None and not isinstance(value, str):
        value = {label(one, name): weight for one, weight in list_of(list_of(anything, 2, 2))(value, name)}
    return SVC["class_weight"](value, name)


_PARAMS: dict[str, dict[str, Check]] = {
    "GraphKNNClassifier": NEIGHBORS,
    "GraphKNNRegressor": NEIGHBORS,
    "GraphRidge": {},
    "GraphRidgeClassifier": {},
    "GraphSVC": {**SVC, "class_weight": _weights},
    "NearestClassMean": {},
    "GraphKMeans": {**CLUSTERS, "random_state": SEED},
    "GraphClassifier": {"head": choice(["auto", "knn", "ridge", "svc"])},
    "GraphRegressor": {"head": choice(["auto", "knn", "ridge"])},
}  # fmt: skip

_NUMBERS = ("GraphKNNRegressor", "GraphRidge", "GraphRegressor")
_HEADS = {
    "GraphClassifier": {"knn": "GraphKNNClassifier", "ridge": "GraphRidgeClassifier", "svc": "GraphSVC"},
    "GraphRegressor": {"knn": "GraphKNNRegressor", "ridge": "GraphRidge"},
}


def restored(home: type[Kind], config: Any, tensors: dict[str, np.ndarray], encoder: torch.nn.Module | None) -> Kind:
    """The predictor that `MetricPredictor._state` came from, or a :class:`FieldError`; `encoder` as in `SGML.load`."""
    from ..metrics import automatic, sgml  # noqa: F401  # so that their names are known

    config, held = _STATE(config, "config"), Arrays(tensors)
    kind = METRICS[config.get("metric_kind", "SGML")]
    options: dict[str, Any] = {"encoder": encoder} if kind.takes_encoder else {}
    with within("metric"):
        metric = kind.from_state(config["metric"], held.part("metric.").rest(), **options)
    params = checked_params(home, config["params"])
    embedded = _reference(config, held.part("reference."), metric)
    held.done()
    loaded = home(metric=clone(metric), **params)
    loaded._check_options()
    loaded.metric_, loaded.embedded_ = metric, embedded
    loaded.y_ = _targets(home.__name__, config["y"], len(embedded), loaded)
    names = config.get("names")
    if names is not None and len(names) != len(embedded):
        raise FieldError("names", f"are {len(names)} for {len(embedded)} reference graphs")
    loaded.names_ = None if names is None else np.array(names, dtype=object)
    loaded.chosen_ = _checked_choice(home.__name__, config.get("chosen", {}), loaded)
    loaded._complete()
    return loaded


def checked_params(home: type, params: dict[str, Any]) -> dict[str, Any]:
    """Options of a predictor in a file, or a :class:`FieldError`."""
    known = {name for name in inspect.signature(home).parameters if name not in ("metric", "memory")}
    return record({}, {name: _PARAMS.get(home.__name__, {}).get(name, anything) for name in known})(params, "params")


def _reference(config: dict[str, Any], held: Arrays, metric: BaseGraphMetric) -> Embedded:
    """The embedded reference graphs, of the kind and width that the metric makes."""
    kind = config.get("embedded", metric.embedding_type.kind)  # earlier versions did not say
    known = metric.embedded_shape()
    if known is not None and kind != metric.embedding_type.kind:
        raise FieldError("embedded", f"is {kind!r}, but the metric makes {metric.embedding_type.kind!r}")
    shape = known or (None,) * (1 if kind == Vectors.kind else 2)
    count = len(config["y"])
    with within("reference"):
        if kind == Vectors.kind:
            old = "values" in held and held.ndim("values") == 3  # earlier versions kept them as [N, 1, d]
            arrays = {"values": held.take("values", (count, 1, *shape) if old else (count, *shape))}
            if old and (held.take("sizes", (count,), "i") != 1).any():
                raise FieldError("sizes", "of vectors must be 1")
        else:
            arrays = {"values": held.take("values", (None, *shape))}
            arrays["sizes"] = held.take("sizes", (count,), "i", least=1)
            if "steps" in held:
                arrays["steps"] = held.take("steps", arrays["values"].shape[:2], least=0.0)
        held.done()
        try:
            return EMBEDDED[kind].from_arrays(arrays)
        except FieldError:
            raise
        except ValueError as error:
            raise FieldError(kind, f"do not fit together: {error}") from None


def _targets(kind: str, y: list[Any], count: int, loaded: Any) -> np.ndarray:
    """Targets of the reference graphs: classes, numbers [R] or [R, T] (None is NaN), or clusters."""
    if len(y) != count:
        raise FieldError("y", f"has {len(y)} entries for {count} reference graphs")
    if kind == "GraphKMeans":
        found = np.array(list_of(whole(0, loaded.n_clusters - 1))(y, "y"))
        if len(np.unique(found)) != loaded.n_clusters:
            raise FieldError("y", f"leaves some of {loaded.n_clusters} clusters empty")
        return found
    if kind in _NUMBERS:
        return _numbers(y)
    if kind in _PARAMS:
        if len(set(labels(2)(y, "y"))) < 2:
            raise FieldError("y", "holds one class only")
        return np.array(y)
    return with_nan(y)


def _numbers(y: list[Any]) -> np.ndarray:
    """Numbers [R] or [R, T], float64 where one is missing."""
    one = number(-_LARGEST, _LARGEST)
    if isinstance(y[0], list):
        width = len(y[0])
        list_of(list_of(optional(one), max(width, 1), width))(y, "y")
        found = with_nan(y)
        if np.isnan(found.astype(float)).all(0).any():
            raise FieldError("y", "has a column without numbers")
        return found
    list_of(one)(y, "y")
    return np.array(y)


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


def _checked_choice(kind: str, chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    """What "auto" turned out to be, by the class of the predictor."""
    if kind in _HEADS:
        head = {"head": choice(_HEADS[kind]), "settings": mapping_of(anything), "scores": mapping_of(number())}
        found = record(head)(chosen, "chosen")
        with within("chosen"):
            found["settings"] = _checked_choice(_HEADS[kind][found["head"]], found["settings"], loaded)
        return found
    checks: dict[str, Callable[[dict[str, Any], Any], dict[str, Any]]] = {
        "GraphKNNClassifier": _of_neighbors, "GraphKNNRegressor": _of_neighbors, "GraphSVC": _of_svc,
        "GraphRidge": _of_ridge, "GraphRidgeClassifier": _of_ridge, "NearestClassMean": _of_means,
        "GraphKMeans": _of_clusters,
    }  # fmt: skip
    return checks[kind](chosen, loaded) if kind in checks else chosen


def _of_neighbors(chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    count = len(loaded.y_)
    if isinstance(getattr(loaded, "n_neighbors", "auto"), int) and loaded.n_neighbors > count:
        raise FieldError("params.n_neighbors", f"is {loaded.n_neighbors}, but there are {count} reference graphs")
    return record({}, {"n_neighbors": whole(1, count), "vote_limit": number(1), **_SCORES})(chosen, "chosen")


def _of_svc(chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    needed = {} if chosen == {} else {"gamma": POSITIVE, "C": POSITIVE}  # earlier versions chose nothing
    found = record(needed, {"calibrator": anything, **_SCORES})(chosen, "chosen")
    for name in ("gamma", "C"):
        if isinstance(getattr(loaded, name, None), str) and name not in found:
            raise FieldError(f"chosen.{name}", "is missing")
    count = len(np.unique(loaded.y_))
    if "calibrator" in found:
        found["calibrator"] = _calibrator(found["calibrator"], count, 1 if count == 2 else count)
    return found


def _of_ridge(chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    own = flag(chosen.get("own"), "chosen.own")
    of_classes = loaded.task == "classes"
    count = len(np.unique(loaded.y_)) if of_classes else 1 if loaded.y_.ndim == 1 else loaded.y_.shape[1]
    needed: dict[str, Check] = {"own": flag}
    needed |= {} if own else {"scale": number(0, above=True), "penalty": POSITIVE}
    needed |= {"calibrator": anything} if of_classes else {}
    found = record(needed, _SCORES)(chosen, "chosen")
    if own:
        learned = getattr(loaded.metric_, "learned_", None)
        seen = getattr(loaded.metric_, "classes_", None) if of_classes else None
        fits = learned is not None and (
            np.isin(seen, loaded.y_).all() if seen is not None else learned.machine.weights.shape[1] == count
        )
        if not fits or getattr(loaded.metric_, "task_", loaded.task) != loaded.task:
            raise FieldError("chosen.own", "is true, but the metric has no regression for these targets")
    if of_classes:
        found["calibrator"] = _calibrator(found["calibrator"], count, count)
    return found


def _of_means(chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    return record({})(chosen, "chosen")


def _of_clusters(chosen: dict[str, Any], loaded: Any) -> dict[str, Any]:
    return record({"n_iter": whole(0, MANY), "seed": SEED})(chosen, "chosen")


def _calibrator(value: Any, n_classes: int, n_scores: int) -> dict[str, Any]:
    """A logistic regression from so many scores to so many classes; "scores" says which, see `svc.PAIRS`."""
    row = list_of(number(), n_scores, n_scores)
    fields = {
        "centre": row, "scale": list_of(number(0, above=True), n_scores, n_scores),
        "coefficients": list_of(row, n_classes, n_classes), "offsets": list_of(number(), n_classes, n_classes),
    }  # fmt: skip
    return record(fields, {"scores": choice(["pairs"])} if n_scores > 2 else {})(value, "chosen.calibrator")
