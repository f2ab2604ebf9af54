"""Descriptions of saved state: what each field of a file may be, checked by name before anything is made of it.

A check is a function (value, name) → value that raises a :class:`FieldError` with the name of the field. Checks are put
together to descriptions, `record({"depth": whole(0, 1000), "names": list_of(text)})`. Arrays are taken out of a
:class:`Arrays` one by one, each with the shape and the kind of numbers that it must have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

Check = Callable[[Any, str], Any]

LARGEST = 1e30  # numbers beyond it are damage: their squares are no float32


class FieldError(ValueError):
    """A field that is not what its description says; the name is its path in the file."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.name, self.problem = name, problem


@contextmanager
def within(where: str) -> Iterator[None]:
    """Names of fields in errors raised inside begin with `where`.

    >>> with within("terms.0"):
    ...     number(0)("heavy", "weight")
    Traceback (most recent call last):
    graph_metric_learn._core.fields.FieldError: terms.0.weight must be a number from 0 to 1e+30, got 'heavy'
    """
    try:
        yield
    except FieldError as error:
        raise FieldError(f"{where}.{error.name}", error.problem) from None


def text(value: Any, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise FieldError(name, f"must be a string, got {shown(value)}")
    return value


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise FieldError(name, f"must be true or false, got {shown(value)}")
    return bool(value)


def label(value: Any, name: str) -> Any:
    """A string or a finite number: what a class or a node may be called."""
    if not isinstance(value, (str, bool, int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        raise FieldError(name, f"must be a string or a number, got {shown(value)}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise FieldError(name, f"must fit into 64 bits, got {shown(value)}")
    return value


def anything(value: Any, name: str) -> Any:
    """What earlier versions wrote and nobody reads."""
    return value


def whole(least: int, most: int) -> Check:
    """A whole number between two bounds."""

    def check(value: Any, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
            raise FieldError(name, f"must be a whole number from {least} to {most}, got {shown(value)}")
        return int(value)

    return check


def number(least: float = -LARGEST, most: float = LARGEST, *, above: bool = False) -> Check:
    """A finite number between two bounds; `above`: more than the lower one."""

    def check(value: Any, name: str) -> Any:
        real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        huge = isinstance(value, int) and abs(value) >= 2**63  # NumPy would keep it as an object
        good = real and not huge and least <= value <= most
        if not good or (above and value <= least):
            what = f"above {least:g}, up to {most:g}" if above else f"from {least:g} to {most:g}"
            raise FieldError(name, f"must be a number {what}, got {shown(value)}")
        return value

    return check


def choice(known: Iterable[Any]) -> Check:
    """One of a few values, of the same type."""
    names = list(known)

    def check(value: Any, name: str) -> Any:
        if not any(type(value) is type(one) and value == one for one in names):
            raise FieldError(name, f"must be one of {', '.join(map(repr, names))}, got {shown(value)}")
        return value

    return check


def optional(check: Check) -> Check:
    """The same, or null."""
    return lambda value, name: None if value is None else check(value, name)


def either(first: Check, second: Check) -> Check:
    """What one of two checks takes; errors are those of the second."""

    def check(value: Any, name: str) -> Any:
        try:
            return first(value, name)
        except FieldError:
            return second(value, name)

    return check


def list_of(check: Check, least: int = 0, most: int | None = None) -> Check:
    """A list, with so many entries at least and at most."""

    def check_list(value: Any, name: str) -> list[Any]:
        if not isinstance(value, (list, tuple)) or len(value) < least or (most is not None and len(value) > most):
            wanted = f"a list of {least} entries" if least == most else f"a list of at least {least} entries"
            found = f"{len(value)} of them" if isinstance(value, (list, tuple)) else shown(value)
            raise FieldError(name, f"must be {wanted}, got {found}")
        return [check(one, f"{name}.{place}") for place, one in enumerate(value)]

    return check_list


def unique(check: Check) -> Check:
    """A list whose entries differ."""

    def check_list(value: Any, name: str) -> list[Any]:
        found = check(value, name)
        if len(set(found)) != len(found):
            raise FieldError(name, "holds an entry twice")
        return found

    return check_list


def labels(least: int = 0) -> Check:
    """A list of strings alone or of numbers alone."""

    def check(value: Any, name: str) -> list[Any]:
        found = list_of(label, least)(value, name)
        if len({isinstance(one, str) for one in found}) > 1:
            raise FieldError(name, "mixes strings and numbers")
        return found

    return check


def mapping_of(check: Check) -> Check:
    """A dictionary with any names."""

    def check_mapping(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FieldError(name, f"must be a dictionary, got {shown(value)}")
        return {key: check(one, f"{name}.{key}") for key, one in value.items()}

    return check_mapping


def record(needed: Mapping[str, Check], extra: Mapping[str, Check] | None = None) -> Check:
    """A dictionary with exactly these names; those of `extra` may be missing.

    >>> record({"depth": whole(0, 9)})({"depth": 3, "width": 1}, "params")
    Traceback (most recent call last):
    graph_metric_learn._core.fields.FieldError: params.width is not known
    """
    known = {**needed, **(extra or {})}

    def check(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FieldError(name, f"must be a dictionary, got {shown(value)}")
        for key in needed:
            if key not in value:
                raise FieldError(f"{name}.{key}", "is missing")
        for key in value:
            if key not in known:
                raise FieldError(f"{name}.{key}", "is not known")
        return {key: known[key](one, f"{name}.{key}") for key, one in value.items()}

    return check


class Arrays:
    """Arrays of a file, to be taken by name, each with the shape that it must have; none may be left over.

    Examples
    --------
    >>> arrays = Arrays({"theta": np.ones((3, 2), dtype=np.float32)})
    >>> arrays.take("theta", (4, None))
    Traceback (most recent call last):
    graph_metric_learn._core.fields.FieldError: theta has shape (3, 2), expected (4, any)
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def take(self, name: str, shape: tuple[int | None, ...], kinds: str = "f", *, least: float = -LARGEST) -> Any:
        """An array of this shape (None: any length) whose numbers are of these kinds (of `dtype.kind`) and finite."""
        if name not in self._arrays:
            raise FieldError(name, "is missing")
        found = self._arrays.pop(name)
        if found.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, found.shape, strict=True)):
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise FieldError(name, f"has shape {found.shape}, expected ({wanted})")
        if found.dtype.kind not in kinds or found.dtype.itemsize not in (1, 4, 8):
            raise FieldError(name, f"holds numbers of type {found.dtype}, which it cannot")
        if found.dtype.kind == "f" and not (np.isfinite(found).all() and np.abs(found).max(initial=0.0) <= LARGEST):
            raise FieldError(name, "holds numbers that are NaN, infinite or too large")
        if least > -LARGEST and found.size and found.min() < least:
            raise FieldError(name, f"holds {found.min()}, less than {least:g}")
        return found

    def ndim(self, name: str) -> int:
        """How many dimensions an array has that is there."""
        return self._arrays[name].ndim

    def part(self, prefix: str) -> Arrays:
        """Those whose names begin with a prefix, without it; they are then no longer here."""
        names = [name for name in self._arrays if name.startswith(prefix)]
        return Arrays({name.removeprefix(prefix): self._arrays.pop(name) for name in names})

    def part_with_suffix(self, suffix: str) -> dict[str, np.ndarray]:
        """Those whose names end with a suffix, without it; they are then no longer here."""
        names = [name for name in self._arrays if name.endswith(suffix)]
        return {name.removesuffix(suffix): self._arrays.pop(name) for name in names}

    def rest(self) -> dict[str, np.ndarray]:
        """All that were not taken; they are then no longer here."""
        found, self._arrays = self._arrays, {}
        return found

    def done(self) -> None:
        """A :class:`FieldError` for the first array that nobody took."""
        for name in self._arrays:
            raise FieldError(name, "is not known")

    def __len__(self) -> int:
        return len(self._arrays)


def shown(value: Any) -> str:
    """A value, shortened, for a message."""
    try:
        found = repr(value)
    except ValueError:  # whole numbers of thousands of digits
        return "a number of thousands of digits"
    return found if len(found) <= 40 else f"{found[:37]}…"
