"""Checks of options that several rooms share: one wording, and a `ValueError` that names the option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def one_of(name: str, value: Any, choices: Iterable[str]) -> Any:
    """The value, if it is one of the choices.

    >>> one_of("ties", "last", ["canonical", "first"])
    Traceback (most recent call last):
    ValueError: unknown ties='last': use one of 'canonical', 'first'
    """
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"unknown {name}={value!r}: use one of {', '.join(map(repr, known))}")
    return value


def whole_number(name: str, value: Any, least: int) -> int:
    """The value as an int, if it is a whole number of at least `least`; booleans are not numbers.

    >>> whole_number("depth", 2.5, 0)
    Traceback (most recent call last):
    ValueError: depth must be a whole number >= 0, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def draw_seed(random_state: Any) -> int | None:
    """A seed for numpy's `Generator`; a generator or `RandomState` is asked for one.

    >>> draw_seed(3), draw_seed(None)
    (3, None)
    """
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return None if random_state is None else int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise ValueError(f"random_state must be a whole number, a numpy generator or None, got {random_state!r}")
