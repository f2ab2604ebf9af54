"""What settings of predictors may be: one check of each, for `fit` and for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core.fields import Check, FieldError, choice, label, number, optional, shown, whole

MANY = 10**9
_LEAST, _MOST = 1e-12, 1e12  # within which an SVM and a regression stay finite
POSITIVE = number(_LEAST, _MOST)
SEED = optional(whole(0, 2**128))


def _or_auto(check: Check, what: str) -> Check:
    """What a check takes, or "auto"; `what` is it in words, for the error."""

    def checked(value: Any, name: str) -> Any:
        if isinstance(value, str) and value == "auto":
            return value
        try:
            return check(value, name)
        except FieldError:
            raise FieldError(name, f'must be {what} or "auto", got {shown(value)}') from None

    return checked


def _class_weight(value: Any, name: str) -> Any:
    """None, "balanced", or a dictionary from classes to positive numbers."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value
    if not isinstance(value, dict):
        raise FieldError(name, f'must be None, "balanced" or a dictionary with a weight per class, got {shown(value)}')
    for one, weight in value.items():
        label(one.item() if isinstance(one, np.generic) else one, f"a class in {name}")
        POSITIVE(weight, f"{name}[{one!r}]")
    return value


NEIGHBORS: dict[str, Check] = {
    "n_neighbors": _or_auto(whole(1, MANY), f"a whole number from 1 to {MANY:,}"),
    "weights": choice(["uniform", "distance"]),
}
SVC: dict[str, Check] = {
    "gamma": _or_auto(POSITIVE, f"a number from {_LEAST:g} to {_MOST:g}"),
    "C": _or_auto(POSITIVE, f"a number from {_LEAST:g} to {_MOST:g}"),
    "class_weight": _class_weight,
}
CLUSTERS: dict[str, Check] = {name: whole(1, MANY) for name in ("n_clusters", "n_init", "max_iter")}


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


def check_settings(predictor: Any, checks: Mapping[str, Check]) -> None:
    """A `ValueError` for the first setting of a predictor that its check does not take."""
    for name, check in checks.items():
        check_setting(name, getattr(predictor, name), check)


def check_setting(name: str, value: Any, check: Check) -> None:
    """A `ValueError` if a check does not take a value.

    >>> check_setting("C", 1e13, SVC["C"])
    Traceback (most recent call last):
    ValueError: C must be a number from 1e-12 to 1e+12 or "auto", got 10000000000000.0
    """
    try:
        check(value, name)
    except FieldError as error:
        raise ValueError(str(error)) from None
