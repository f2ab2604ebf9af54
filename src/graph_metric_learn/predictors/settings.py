"""What settings of predictors may be: one check of each, for `fit` and for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from msgspec import Meta

from .._core.schema import Count, FieldError, Label, Seed, read, shown

_LEAST, _MOST = 1e-12, 1e12  # within which an SVM and a regression stay finite
Positive = Annotated[float, Meta(ge=_LEAST, le=_MOST)]
_Auto = Literal["auto"]


class Setting(NamedTuple):
    """The type of a setting, and the same in words."""

    kind: Any
    words: str


_MOST_SEEDS = 2**128
SEED = Setting(Seed | None, f"a whole number from 0 to {_MOST_SEEDS}")
NEIGHBORS = {
    "n_neighbors": Setting(_Auto | Count, 'a whole number from 1 to 1,000,000,000 or "auto"'),
    "weights": Setting(Literal["uniform", "distance"], "one of 'uniform', 'distance'"),
}
_CLASS = Setting(Label, "a string or a number")
_WEIGHT = Setting(Positive, f"a number from {_LEAST:g} to {_MOST:g}")
_SCALE = Setting(_Auto | Positive, f'a number from {_LEAST:g} to {_MOST:g} or "auto"')
SVC = {
    "gamma": _SCALE,
    "C": _SCALE,
    "class_weight": Setting(
        None | Literal["balanced"] | dict[Label, Positive],
        'None, "balanced" or a dictionary with a weight per class',
    ),
}
CLUSTERS = {
    name: Setting(Count, "a whole number from 1 to 1000000000") for name in ("n_clusters", "n_init", "max_iter")
}


def check_weighted_classes(class_weight: Any, classes: np.ndarray) -> None:
    """A `ValueError` for a weight of a class that no graph has, where another class is left without one.

    Weights of all classes and more are fine: graphs may be a part that one of the classes is missing from.

    >>> check_weighted_classes({"1": 2.0}, np.array([0, 1]))
    Traceback (most recent call last):
    ValueError: class_weight has a weight for the class '1', but no graph is of it; the classes are [0, 1]
    """
    if not isinstance(class_weight, dict):
        return
    names = [{one, _key(one)} for one in classes.tolist()]
    unknown = [one for one in class_weight if not any(one in name for name in names)]
    if unknown and not all(name & class_weight.keys() for name in names):
        raise ValueError(
            f"class_weight has a weight for the class {shown(unknown[0])}, but no graph is of it; the classes are "
            f"{shown(classes.tolist())}"
        )


def weights_of_classes(class_weight: Any, classes: np.ndarray) -> Any:
    """The same weights, if they are a dictionary: of all classes, 1 where none is given, by scikit-learn's keys.

    >>> weights_of_classes({"0": 2.0}, np.array(["0", "b"]))
    {0: 2.0, 'b': 1.0}
    """
    if not isinstance(class_weight, dict):
        return class_weight
    return {_key(one): class_weight.get(one, class_weight.get(_key(one), 1.0)) for one in classes.tolist()}


def _key(one: Any) -> Any:
    """What scikit-learn looks up the weight of a class by: a whole number, also where it is one in quotes."""
    try:
        return int(one)
    except ValueError:
        return one


def check_settings(predictor: Any, settings: Mapping[str, Setting]) -> None:
    """A `ValueError` for the first setting of a predictor that is not of its type."""
    for name, setting in settings.items():
        check_setting(name, getattr(predictor, name), setting)


def check_setting(name: str, value: Any, setting: Setting) -> None:
    """A `ValueError` if a value is not of the type of a setting; NumPy's numbers are numbers.

    >>> check_setting("C", 1e13, SVC["C"])
    Traceback (most recent call last):
    ValueError: C must be a number from 1e-12 to 1e+12 or "auto", got 10000000000000.0
    """
    for one, weight in value.items() if isinstance(value, dict) else ():
        check_setting(f"a class in {name}", one, _CLASS)
        check_setting(f"{name}[{one!r}]", weight, _WEIGHT)
    try:
        read(setting.kind, _plain(value))
        if isinstance(value, int) and value > _MOST_SEEDS:  # beyond what bounds of msgspec can say
            raise FieldError(name, "is too large")
    except FieldError:
        raise ValueError(f"{name} must be {setting.words}, got {shown(value)}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value
