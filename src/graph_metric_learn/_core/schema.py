"""Files of models are checked here: a class says what each saved field may be; reading, checking, writing follow.

A description is a subclass of :class:`Saved`, a `msgspec.Struct`: numbers with ranges, strings, lists, other
descriptions, and arrays, whose shapes are given by symbols that must agree within the class:

>>> class Machine(Saved):
...     penalty: Positive
...     weights: Annotated[np.ndarray, array("M T")]
...     mean: Annotated[np.ndarray, array("T")]
>>> machine = Machine(0.5, np.ones((3, 2)), np.zeros(2))

In files, values are JSON and arrays lie beside it, by their path; `split` and `join` are the way there and back:

>>> config, arrays = split({"machine": machine, "names": ["a", "b"]})
>>> config, list(arrays)
({'machine': {'penalty': 0.5}, 'names': ['a', 'b']}, ['machine.weights', 'machine.mean'])
>>> read(Machine, join(config, arrays)["machine"]).penalty
0.5

What does not fit is a :class:`FieldError` that names the field:

>>> read(Machine, {"penalty": -1, "weights": np.ones((3, 2)), "mean": np.zeros(2)}, "machine")
Traceback (most recent call last):
graph_metric_learn._core.schema.FieldError: machine.penalty must be a number >= 1e-300, got -1
>>> read(Machine, {"penalty": 1, "weights": np.ones((3, 2)), "mean": np.zeros(4)})
Traceback (most recent call last):
graph_metric_learn._core.schema.FieldError: mean has shape (4,), expected (T = 2)
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints, overload

import msgspec
import numpy as np
from msgspec import Meta
from scipy import sparse

Kind = TypeVar("Kind")

_WORDS = {
    "float": "a number", "int": "a whole number", "str": "a string", "bool": "true or false", "array": "a list",
    "object": "a dictionary",
}  # fmt: skip

LARGEST = 1e30  # numbers beyond it are damage: their squares are no float32
MANY = 10**9
_INT64 = 2**63

Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]  # bounds refuse NaN and infinity, too
NonNegative = Annotated[float, Meta(ge=0.0, le=LARGEST)]
Positive = Annotated[float, Meta(ge=1e-300, le=LARGEST)]
Natural = Annotated[int, Meta(ge=0, le=MANY)]
Count = Annotated[int, Meta(ge=1, le=MANY)]
Seed = Annotated[int, Meta(ge=0)]
Finite = Annotated[float, Meta(ge=-1e308, le=1e308)]
Label = str | bool | Annotated[int, Meta(ge=-_INT64, le=_INT64 - 1)] | Finite  # of a class or a node
Labels = list[Label]


class FieldError(ValueError):
    """A field that is not what its description says; the name is its path in the file."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} {problem}".strip().replace(" : ", ": "))
        self.name, self.problem = name, problem


@contextmanager
def within(where: str) -> Iterator[None]:
    """Names of fields in errors raised inside begin with `where`.

    >>> with within("terms.0"):
    ...     raise FieldError("weight", "is heavy")
    Traceback (most recent call last):
    graph_metric_learn._core.schema.FieldError: terms.0.weight is heavy
    """
    try:
        yield
    except FieldError as error:
        raise FieldError(_joined(where, error.name), error.problem) from None


# --- arrays ----------------------------------------------------------------------------------------------------------


class ArrayType(NamedTuple):
    """What an array may be: its shape, in symbols or digits, the kinds of its numbers (`dtype.kind`), their range."""

    shape: tuple[str, ...]
    kinds: str
    least: float
    most: float

    def check(self, name: str, value: Any, dims: dict[str, int]) -> None:
        """A :class:`FieldError` unless it is; symbols that are new get their length in `dims`."""
        if isinstance(value, list):
            if len(self.shape) == 2 and len(set(map(len, value))) > 1:
                raise FieldError(name, "has rows of different lengths")
            value = np.array(value)
        wanted = [int(one) if one.isdigit() else dims.setdefault(one, length)
                  for one, length in zip(self.shape, value.shape, strict=False)]  # fmt: skip
        if value.shape != tuple(wanted) or len(self.shape) != len(wanted):
            raise FieldError(name, f"has shape {value.shape}, expected ({', '.join(_shown_dims(self.shape, dims))})")
        numbers = value.data if sparse.issparse(value) else value
        if numbers.dtype.kind not in self.kinds or numbers.dtype.itemsize not in (1, 4, 8):
            raise FieldError(name, f"holds numbers of type {numbers.dtype}, which it cannot")
        if numbers.dtype.kind == "f" and not np.abs(numbers).max(initial=0.0) <= LARGEST:  # NaN is not
            raise FieldError(name, "holds numbers that are NaN, infinite or too large")
        if self.least > -LARGEST and numbers.size and numbers.min() < self.least:
            raise FieldError(name, f"holds {numbers.min()}, less than {self.least:g}")
        if self.most < LARGEST and numbers.size and numbers.max() > self.most:
            raise FieldError(name, f"holds {numbers.max()}, more than {self.most:g}")


def array(shape: str, kinds: str = "f", *, least: float = -LARGEST, most: float = LARGEST) -> Meta:
    """An array of this shape, as ``Annotated[np.ndarray, array("N 3")]``: finite, with numbers of these kinds.

    A few numbers may stay in the JSON file, as ``Annotated[list[Number], array("N")]``.
    """
    return Meta(extra={"array": ArrayType(tuple(shape.split()), kinds, least, most)})


if TYPE_CHECKING:
    Rows = Any
else:

    class Rows(ABC):  # noqa: B024
        """A type for fields that are arrays or sparse rows."""

    Rows.register(np.ndarray)
    Rows.register(sparse.csr_array)


class _SparseRows(msgspec.Struct, forbid_unknown_fields=True):
    """A sparse array in files."""

    data: Annotated[np.ndarray, array("E")]
    columns: Annotated[np.ndarray, array("E", "i", least=0)]
    starts: Annotated[np.ndarray, array("R", "i", least=0)]
    width: Annotated[int, Meta(ge=0, le=_INT64 - 1)]

    def __post_init__(self) -> None:
        dims_of(self)
        starts, columns = self.starts, self.columns
        if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(self.data) or (np.diff(starts) < 0).any():
            raise FieldError("starts", "do not ascend from 0 to the number of entries")
        if columns.max(initial=-1) >= self.width:
            raise FieldError("columns", f"holds {columns.max()}, but there are {self.width} columns")
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if (np.diff(columns)[np.diff(row) == 0] <= 0).any():
            raise FieldError("columns", "do not ascend within each row")


# --- descriptions ----------------------------------------------------------------------------------------------------


class Saved(msgspec.Struct, forbid_unknown_fields=True):
    """What all descriptions derive from. Fields that are None by default may be missing in a file.

    Arrays are checked whenever one is made. A subclass with checks of its own defines `__post_init__`, calls that of
    `super()`, and raises a :class:`FieldError`.
    """

    def __post_init__(self) -> None:
        dims_of(self)


class OwnState(Saved):
    """What the `state` of a class returned that describes itself: a configuration and arrays of its own."""

    config: dict[str, Any]
    arrays: dict[str, np.ndarray]


def dims_of(saved: Any, **lengths: int | None) -> dict[str, int]:
    """Lengths of the arrays by their symbols; a :class:`FieldError` where they differ, also from those given."""
    dims = {symbol: length for symbol, length in lengths.items() if length is not None}
    for name, kind in _array_types(type(saved)).items():  # type: ignore[arg-type]
        value = getattr(saved, name)
        if value is not None:
            kind.check(name, value, dims)
    return dims


@cache
def _array_types(home: Any) -> dict[str, ArrayType]:
    """Fields of a description that are arrays."""
    types: dict[str, ArrayType] = {}
    for name, hint in get_type_hints(home, include_extras=True).items():
        for part in [hint, *get_args(hint)]:
            for meta in get_args(part)[1:] if get_origin(part) is Annotated else ():
                if isinstance(meta, Meta) and meta.extra and "array" in meta.extra:
                    types[name] = meta.extra["array"]
    return types


@overload
def read(kind: type[Kind], value: Any, where: str = "", **dims: int | None) -> Kind: ...
@overload
def read(kind: Any, value: Any, where: str = "", **dims: int | None) -> Any: ...
def read(kind: Any, value: Any, where: str = "", **dims: int | None) -> Any:
    """A value of a type, a :class:`Saved` or any other that msgspec knows, or a :class:`FieldError`.

    Parameters
    ----------
    where : str
        The path that names of fields in errors begin with.
    dims
        Lengths that symbols of its arrays must have; None for any.
    """
    if isinstance(value, Saved) and type(value) is kind:
        return value
    try:
        converted = msgspec.convert(value, kind, dec_hook=_made)
    except msgspec.ValidationError as error:
        raise _field_error(error, kind, value, where) from None
    if dims:
        with within(where):
            dims_of(converted, **dims)
    return converted


def _made(kind: type, value: Any) -> Any:
    """An array, or sparse rows, from what stands in a tree."""
    if isinstance(value, kind):
        return value
    if issubclass(sparse.csr_array, kind) and isinstance(value, dict):
        parts = read(_SparseRows, value)
        shape = (len(parts.starts) - 1, parts.width)
        return sparse.csr_array((parts.data, parts.columns, parts.starts), shape=shape)
    raise FieldError("", "must be an array")


def _field_error(error: msgspec.ValidationError, kind: Any, value: Any, where: str) -> FieldError:
    """What msgspec found wrong, by the name of the field."""
    problem, names = _taken_apart(error)
    names = _with_keys(kind, value, names)
    name, cause = _joined(where, *names), error.__cause__
    if cause is not None:  # of a check of our own
        own, problem = (cause.name, cause.problem) if isinstance(cause, FieldError) else ("", f": {cause}")
        return FieldError(_joined(name, own), problem)
    field = re.fullmatch(r"Object (missing required|contains unknown) field `(.*)`", problem, re.DOTALL)
    if field:
        return FieldError(_joined(name, field[2]), "is missing" if field[1] == "missing required" else "is not known")
    problem = re.sub(r"^Expected (.*?)(, got .*)?$", r"must be \1", problem)
    problem = re.sub(
        "`([a-z |]+)`", lambda kinds: " or ".join(_WORDS.get(one, one) for one in kinds[1].split(" | ")), problem
    )
    if problem.startswith("Invalid enum value"):
        problem = "is none of the values that are known"
    return FieldError(name, f"{problem}, got {shown(_at(value, names))}")


def _taken_apart(error: msgspec.ValidationError) -> tuple[str, list[str]]:
    """The problem, and the path to it; msgspec does not say keys of dictionaries, which are "..." there."""
    problem, separator, path = str(error).rpartition(" - at `")
    names = re.findall(r"[^.\[\]`$]+|\.\.\.", path) if path.startswith("$") else []  # not so: of a key
    return (problem, names) if separator else (path, [])


def _with_keys(kind: Any, value: Any, names: list[str]) -> list[str]:
    """The path with keys of dictionaries: those whose entries are wrong also when they are the only ones."""
    tree, path = _copied(value), list(names)
    for depth, name in enumerate(names):
        holder = _at(tree, path[:depth])
        for key, one in list(holder.items()) if name == "..." else ():
            holder.clear()
            holder[key] = one
            try:
                msgspec.convert(tree, kind, dec_hook=_made)
            except msgspec.ValidationError as error:
                if _taken_apart(error)[1][: depth + 1] == names[: depth + 1]:
                    path[depth] = key
                    break
    return path


def _at(tree: Any, names: list[str]) -> Any:
    for name in names:
        tree = tree[int(name)] if isinstance(tree, (list, tuple)) else tree[name]
    return tree


def check_labels(name: str, labels: Labels, *, ascending: bool = True) -> None:
    """A :class:`FieldError` unless labels are strings alone or numbers alone and, if wanted, ascend."""
    if len({isinstance(one, str) for one in labels}) > 1:
        raise FieldError(name, "mixes strings and numbers")
    if ascending and sorted(set(labels)) != labels:
        raise FieldError(name, "must ascend, each label once")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> Any:
    """The value, if it is one of the choices, which are known by now only; or a :class:`FieldError`."""
    options = list(choices)
    if value not in options:
        raise FieldError(name, f"must be one of {', '.join(map(repr, options))}, got {shown(value)}")
    return value


def or_none(numbers: np.ndarray) -> list[float | None]:
    """Numbers [N] as JSON can hold them: None for infinity.

    >>> or_none(np.array([1.5, np.inf])), or_infinite([1.5, None])
    ([1.5, None], array([1.5, inf]))
    """
    return [one if np.isfinite(one) else None for one in numbers.tolist()]


def or_infinite(numbers: Iterable[float | None]) -> np.ndarray:
    """What `or_none` was given [N], float64."""
    return np.array([np.inf if one is None else one for one in numbers], dtype=float)


# --- files -----------------------------------------------------------------------------------------------------------


def split(tree: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """A tree of dictionaries, lists, descriptions and arrays: what JSON can hold, and the arrays by their paths."""
    arrays: dict[str, np.ndarray] = {}

    def plain(value: Any, path: str) -> Any:
        if sparse.issparse(value):
            starts, columns = value.indptr.astype(np.int64), value.indices.astype(np.int64)
            value = {"data": value.data, "columns": columns, "starts": starts, "width": value.shape[1]}
        if isinstance(value, msgspec.Struct):
            tag = value.__struct_config__
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            value = {} if tag.tag is None else {tag.tag_field: tag.tag}
            value |= {name: one for name, one in fields.items() if one is not None and one is not msgspec.UNSET}
        if isinstance(value, Mapping):
            config = {}
            for key, one in value.items():
                if isinstance(one, np.ndarray):
                    arrays[_joined(path, str(key))] = one
                else:
                    config[key] = plain(one, _joined(path, str(key)))
            return config
        if isinstance(value, (list, tuple)):
            return [plain(one, _joined(path, str(index))) for index, one in enumerate(value)]
        if isinstance(value, np.ndarray):
            raise TypeError(f"{path}: arrays are entries of dictionaries or fields")
        return value.item() if isinstance(value, np.generic) else value

    return plain(tree, ""), arrays


def join(config: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The tree that `split` took apart: each array in the innermost dictionary on its path, by the rest of the path."""
    tree = _copied(config)
    for name, value in arrays.items():
        holder, rest = _holder(tree, name)
        if not isinstance(holder, dict) or rest in holder:
            raise FieldError(name, "is not known")
        holder[rest] = value
    return tree


def _holder(holder: Any, path: str) -> tuple[Any, str]:
    """The innermost dictionary or list on a path, and the rest of the path."""
    entries = holder.items() if isinstance(holder, dict) else ((str(index), one) for index, one in enumerate(holder))
    inside = [(key, one) for key, one in entries if isinstance(one, (dict, list)) and path.startswith(f"{key}.")]
    if not inside:
        return holder, path
    key, inner = max(inside, key=lambda entry: len(entry[0]))
    return _holder(inner, path[len(key) + 1 :])


def _copied(value: Any) -> Any:
    """A copy of dictionaries and lists, so that what was read stays as it is."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


# --- words -----------------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value, shortened, for a message."""
    try:
        text = repr(value)
    except ValueError:  # whole numbers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}…"


def _joined(*names: str) -> str:
    return ".".join(name for name in names if name)


def _shown_dims(shape: tuple[str, ...], dims: dict[str, int]) -> Iterator[str]:
    for one in shape:
        yield one if one.isdigit() else f"{one} = {dims[one]}" if one in dims else one
