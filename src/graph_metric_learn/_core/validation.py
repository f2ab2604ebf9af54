"""Checks of options that several rooms share, and what messages list: one wording, and the option is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np


def one_of(name: str, value: Any, choices: Iterable[str]) -> Any:
    """The value, if it is one of the choices.

    >>> one_of("ties", "last", ["canonical", "first"])
    Traceback (most recent call last):
    ValueError: unknown ties='last': use one of 'canonical', 'first'
    """
    options = list(choices)
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"unknown {name}={value!r}: use one of {', '.join(map(repr, options))}")
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


def as_listed(what: str, values: Any) -> Any:
    """Values of which each graph has one, as they are; those of a generator as a list.

    >>> as_listed("groups", (one for one in "abc"))
    ['a', 'b', 'c']
    >>> as_listed("targets", {"a", "b"})
    Traceback (most recent call last):
    ValueError: targets are a set, which has no order: give a list or an array with one entry per graph
    """
    _check_ordered(what, values)
    return list(values) if isinstance(values, Iterable) and not hasattr(values, "__getitem__") else values


def as_iterated(what: str, values: Any) -> Iterator[Any]:
    """The same, one after the other.

    >>> as_iterated("groups", 7)
    Traceback (most recent call last):
    ValueError: groups must be a list or an array with one entry per graph, got 7
    """
    _check_ordered(what, values)
    try:
        return iter(values)
    except TypeError:  # also of an array without dimensions
        raise ValueError(f"{what} must be a list or an array with one entry per graph, got {values!r}") from None


def _check_ordered(what: str, values: Any) -> None:
    if isinstance(values, (set, frozenset, Mapping)):
        kind = type(values).__name__
        raise ValueError(  # noqa: TRY004
            f"{what} are a {kind}, which has no order: give a list or an array with one entry per graph"
        )


def first_few(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """Texts for a message, at most so many, and how many more there are.

    >>> first_few(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


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
