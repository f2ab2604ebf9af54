"""Vectors of whole graphs: numbers and categories by name, read from one graph, joined, and put into another order.

A category is a one-hot column "name=value" for each value that occurs. NaN says that a number or category was not
measured; it then stands in all columns of the category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import first_few
from .sources.raw_graph import Names, as_numpy, attribute_names

GRAPH_ATTRIBUTE, GRAPH_COLUMNS = "graph_attribute", "graph_columns"  # what graphs themselves say of their vectors
_MOST_CATEGORIES = 1000  # of one attribute; more are rather names of graphs
_MOST_LISTED = 5  # names in an error message


class GraphVectors(NamedTuple):
    """Vectors of some graphs.

    Attributes
    ----------
    values : ndarray [G, q]
        Float64, NaN where something was not measured.
    columns : tuple of str
        Names of the columns, those of a category "name=value".
    """

    values: np.ndarray
    columns: tuple[str, ...]

    @property
    def attributes(self) -> dict[str, list[int]]:
        """Columns of each number or category, by its name, in their order."""
        return columns_by_attribute(self.columns)


def columns_by_attribute(columns: Sequence[str]) -> dict[str, list[int]]:
    """Columns of each number or category, by its name, in their order.

    >>> columns_by_attribute(["age", "site=A", "site=B"])
    {'age': [0], 'site': [1, 2]}
    """
    found: dict[str, list[int]] = {}
    for i, column in enumerate(columns):
        found.setdefault(column.partition("=")[0], []).append(i)
    return found


def vector_of(stored: Mapping[str, Any], name: str, names: Names) -> tuple[GraphVectors | None, tuple[str, ...]]:
    """The vector [1, q] of a graph that stores these attributes, under the names of the caller; and which it stores.

    Where the caller names none, the graph may: `graph_attribute` is one name or a list. The names of its columns may
    stand in `graph_columns`.
    """
    if names.graph_attribute is None and stored.get(GRAPH_ATTRIBUTE) is None:
        return None, ()
    own = attribute_names(f"{name}: graph_attribute", as_list(stored.get(GRAPH_ATTRIBUTE)))
    wanted = attribute_names("graph_attribute", names.graph_attribute) or own
    columns = as_list(stored.get(GRAPH_COLUMNS)) if wanted and wanted == (own or wanted) else None
    if columns is not None and not (isinstance(columns, (list, tuple)) and all(isinstance(c, str) for c in columns)):
        raise ValueError(f"{name}: {GRAPH_COLUMNS} must be a list of strings, got {columns!r}")
    there = {key: stored[key] for key in wanted if key in stored}
    return read_vector(there, name, columns), tuple(there)


def attach(graphs: Sequence[Any], *parts: GraphVectors | None) -> None:
    """Gives each `Data` its row of vectors [G, q] as `u` [1, q], declared as what `as_graphs` is to read."""
    import torch

    there = [part for part in parts if part is not None]
    if not there:
        return
    values = torch.from_numpy(np.concatenate([part.values for part in there], axis=1))
    columns = [name for part in there for name in part.columns]
    _check_names(tuple(columns))
    for graph, row in zip(graphs, values.split(1), strict=True):
        graph.u = row.clone()  # a pickled view contains all rows
        setattr(graph, GRAPH_ATTRIBUTE, "u")
        setattr(graph, GRAPH_COLUMNS, columns)


def declare(graphs: Sequence[Any], names: Sequence[str] | None) -> None:
    """Writes into graphs, of NetworkX or `Data`, which of their attributes `as_graphs` is to read as their vectors."""
    for graph in graphs if names else ():
        if hasattr(graph, "graph"):
            graph.graph[GRAPH_ATTRIBUTE] = list(names or ())
        else:
            setattr(graph, GRAPH_ATTRIBUTE, list(names or ()))


def as_list(names: Any) -> Any:
    """An array of names as a list, all else as it is."""
    return names.tolist() if isinstance(names, np.ndarray) else names


def read_vector(attributes: Mapping[str, Any], name: str, columns: Sequence[str] | None = None) -> GraphVectors | None:
    """What one graph says of itself, a row [1, q]; None where it has none of these attributes.

    Parameters
    ----------
    attributes : dict
        By name, each a number, a text (a category), several of them ([q], [1, q], or a dict with names of their own),
        or None where it is not known.
    name : str
        What messages call the graph.
    columns : sequence of str, optional
        Names of the columns of all attributes together; by default those of the attributes, "u[0]", "u[1]", … for
        those with several.

    Examples
    --------
    >>> read_vector({"age": 61, "site": "A", "u": [0.5, 2.0]}, "graph 0")
    GraphVectors(values=array([[61. ,  1. ,  0.5,  2. ]]), columns=('age', 'site=A', 'u[0]', 'u[1]'))
    """
    names: list[str] = []
    values: list[Any] = []
    named = (value.items() if isinstance(value, Mapping) else [(key, value)] for key, value in attributes.items())
    for key, value in chain.from_iterable(named):
        if not isinstance(key, str) or "=" in key:
            raise ValueError(f"{name}: {key!r} is no name of a graph attribute: use text without '='")
        entries = [np.nan] if value is None else _entries(value, f"{name}: {key!r}")
        names += [key] if len(entries) == 1 else [f"{key}[{i}]" for i in range(len(entries))]
        values += entries
    if not names:
        return None
    if columns is not None:
        if len(columns) != len(values):
            raise ValueError(f"{name} has {len(columns)} names (graph_columns) for a vector of {len(values)} numbers")
        names = list(columns)
    if not any(isinstance(value, str) for value in values):
        return GraphVectors(np.array([values], dtype=np.float64), tuple(names))
    for i, value in enumerate(values):
        if isinstance(value, str):
            text = value.strip()
            names[i], values[i] = (f"{names[i]}={text}", 1.0) if text else (names[i], np.nan)
    return GraphVectors(np.array([values], dtype=np.float64), tuple(names))


def _entries(value: Any, what: str) -> list[Any]:
    """Numbers and texts of one attribute, or a `ValueError`."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and any(isinstance(one, str) or one is None for one in value):
        return [one for part in value for one in ([np.nan] if part is None else _entries(part, what))]
    try:
        array = as_numpy(value)
    except ValueError:
        raise ValueError(f"{what} has rows of different lengths, a vector of the graph is [q] or [1, q]") from None
    array = array[0] if array.ndim == 2 and len(array) == 1 else array
    if array.ndim > 1:
        raise ValueError(f"{what} has the shape {list(array.shape)}, a vector of the graph is [q] or [1, q]")
    if array.dtype.kind in "US":
        return [str(one) for one in array.reshape(-1)]
    try:
        numbers = array.astype(np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{what} is neither numbers nor text, but {type(value).__name__}") from None
    if array.dtype.kind not in "fiubO" or np.isinf(numbers).any():
        raise ValueError(f"{what} holds what is no finite number: NaN says that a number was not measured")
    return numbers.tolist()


def joined(parts: Sequence[GraphVectors | None], counts: Sequence[int]) -> GraphVectors | None:
    """Vectors of all graphs together [G, q], of parts of these numbers of graphs; None where no part has any.

    Attributes are in the order in which they first occur, the values of a category sorted. What a part lacks is NaN.
    """
    rows_of: dict[tuple[str, ...], list[int]] = {}
    for i, part in enumerate(parts):
        if part is not None:
            rows_of.setdefault(part.columns, []).append(i)
    if not rows_of:
        return None
    groups = {}
    for columns, which in rows_of.items():
        _check_names(columns)
        groups[columns] = GraphVectors(np.concatenate([parts[i].values for i in which]), columns)  # type: ignore[union-attr]
    together = _union([*groups.values()])
    starts = np.concatenate([[0], np.cumsum(counts)])
    values = np.full((int(starts[-1]), len(together)), np.nan)
    for columns, which in rows_of.items():
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in which])
        values[rows] = ordered(groups[columns], together).values
    return GraphVectors(values, together)


def _check_names(columns: tuple[str, ...]) -> None:
    for name, at in columns_by_attribute(columns).items():
        own = {columns[i] for i in at}
        if len(own) < len(at) or (len(own) > 1 and name in own):
            raise ValueError(f"vectors of whole graphs have two columns {name!r}: give each its own name")


def _union(groups: list[GraphVectors]) -> tuple[str, ...]:
    """The columns of all groups; an attribute must be a number in all of them, or a category in all."""
    categories: dict[str, set[str]] = {}
    numbers: set[str] = set()
    for group in groups:
        for name, at in group.attributes.items():
            values = categories.setdefault(name, set())
            values.update(column for i in at if (column := group.columns[i]) != name)
            if group.columns[at[0]] == name and not np.isnan(group.values[:, at[0]]).all():
                numbers.add(name)
    columns: list[str] = []
    for name, values in categories.items():
        if values and name in numbers:
            raise ValueError(f"graph attribute {name!r} is a number in some graphs and text in others: use one kind")
        if not values and f"{name}[0]" in categories:
            continue  # None in place of several numbers
        if len(values) > _MOST_CATEGORIES:
            raise ValueError(
                f"graph attribute {name!r} is text with {len(values)} different values, a category may have "
                f"{_MOST_CATEGORIES}: leave it out if it is a name"
            )
        columns += sorted(values) or [name]
    return tuple(columns)


def ordered(vectors: GraphVectors, columns: tuple[str, ...]) -> GraphVectors:
    """The same graphs with these columns; attributes that they do not name are left out.

    A value of a category that has no column is a row of zeros. Numbers stand for categories of the same digits; an
    attribute that is not there is NaN.

    >>> new = GraphVectors(np.array([[1.0, 0.0, 7.0], [0.0, 1.0, np.nan]]), ("site=A", "site=C", "age"))
    >>> ordered(new, ("age", "site=A", "site=B")).values
    array([[ 7.,  1.,  0.],
           [nan,  0.,  0.]])
    """
    if vectors.columns == columns:
        return vectors
    place, here = {name: i for i, name in enumerate(vectors.columns)}, vectors.attributes
    values = np.full((len(vectors.values), len(columns)), np.nan)
    for i, column in enumerate(columns):
        name, is_category, text = column.partition("=")
        if column in place:
            values[:, i] = vectors.values[:, place[column]]
        elif name in here and is_category:
            own = vectors.values[:, here[name]]
            missing = np.isnan(own).any(1)
            same = [_as_text(number) == text for number in own[:, 0]] if name in place else np.zeros(len(own))
            values[:, i] = np.where(missing, np.nan, same)
    return GraphVectors(values, columns)


def _as_text(number: float) -> str:
    """A number as files write it.

    >>> _as_text(3.0), _as_text(0.5)
    ('3', '0.5')
    """
    return str(int(number)) if number == np.floor(number) else str(number)


def fitted_order(vectors: GraphVectors | None, columns: tuple[str, ...]) -> GraphVectors:
    """Vectors of new graphs in the columns of those that were fitted, or a `ValueError` that names what is missing."""
    here = {} if vectors is None else vectors.attributes
    wanted = columns_by_attribute(columns)
    missing = [name for name in wanted if name not in here]
    if missing or vectors is None:
        listed = first_few([*map(repr, missing)], _MOST_LISTED)
        raise ValueError(
            f"the graphs lack vectors of whole graphs that those that were fitted have, missing: {listed} "
            "(graph_attribute= names where they are; NaN says that something was not measured)"
        )
    for name, at in wanted.items():
        own = here[name]
        if columns[at[0]] == name and vectors.columns[own[0]] != name:
            raise ValueError(f"graph attribute {name!r} is text in the graphs, a number in those that were fitted")
    return ordered(vectors, columns)
