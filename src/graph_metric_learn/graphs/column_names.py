"""Names of the numbers that nodes, edges and whole graphs carry: columns are put in order by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._core.schema import FieldError, Saved
from .._core.validation import first_few
from .collection import Graphs
from .graph_vectors import fitted_order
from .sources.raw_graph import RawGraph

_MOST_LISTED = 5  # names in an error message


class Columns(Saved, frozen=True):  # type: ignore[misc]  # Saved itself is not frozen
    """Names of the columns of the fitted graphs, by which those of new graphs are put in the same order.

    Attributes
    ----------
    nodes, edges : tuple of str or None
        Of `Graphs.x` and `EdgeData.x`; None where columns have no names, and their places count.
    graphs : tuple of str or None
        Of `Graphs.graph_x`; None where vectors of whole graphs do not count.
    """

    nodes: tuple[str, ...] | None = None
    edges: tuple[str, ...] | None = None
    graphs: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, listed in (("nodes", self.nodes), ("edges", self.edges), ("graphs", self.graphs)):
            if listed is not None and len(set(listed)) < len(listed):
                raise FieldError(name, "holds a name twice")

    @classmethod
    def of(cls, graphs: Graphs, *, nodes: bool = True, edges: bool = True, graph_vectors: bool = False) -> Columns:
        """Those of the graphs; without names of nodes, edges or vectors of whole graphs where False."""
        columns = _checked(graphs)
        whole = columns.graphs if graph_vectors else None
        return cls(columns.nodes if nodes else None, columns.edges if edges else None, whole)

    def apply(self, graphs: Graphs) -> Graphs:
        """The graphs with their columns in this order, or a `ValueError` that names what is missing or unknown.

        Columns without names, here or in the graphs, stay as they are. Of vectors of whole graphs, names that are not
        among these are left out, and new values of a category are rows of zeros.
        """
        own, here, there = _checked(graphs), "the graphs", "those that were fitted"
        order = _order(own.nodes, self.nodes, "node", here, there)
        if order is not None:
            graphs = replace(graphs, x=_ordered(graphs.x, order), columns=self.nodes)
        order, data = _order(own.edges, self.edges, "edge", here, there), graphs.edge_data
        if order is not None and data is not None:
            graphs = replace(graphs, edge_data=replace(data, x=_ordered(data.x, order), columns=self.edges))
        if self.graphs is None or graphs.graph_columns == self.graphs:
            return graphs
        return graphs.with_graph_vectors(fitted_order(graphs.graph_vectors, self.graphs))


def in_one_order(raw: Sequence[RawGraph]) -> tuple[list[RawGraph], Columns]:
    """The same graphs, with columns in the order of the first graph that names them; and the names.

    Graphs that name no columns are left as they are. A graph that names others raises a `ValueError`.
    """
    graphs = list(raw)
    first_names: dict[str, tuple[str, ...] | None] = {}
    for what, part, key in (("node", "x", "columns"), ("edge", "edge_x", "edge_columns")):
        named = [i for i, one in enumerate(graphs) if getattr(one, key) is not None and getattr(one, part) is not None]
        first = getattr(graphs[named[0]], key) if named else None
        for i in named:
            values, names = getattr(graphs[i], part), getattr(graphs[i], key)
            _check(names, values, what, f"graph {i}")
            order = _order(names, first, what, f"graph {i}", f"graph {named[0]}")
            if order is not None:
                changed: dict[str, Any] = {part: _ordered(values, order)}
                graphs[i] = graphs[i]._replace(**changed)
        first_names[what] = first
    return graphs, Columns(first_names["node"], first_names["edge"])


def _checked(graphs: Graphs) -> Columns:
    """The names in a collection, which must fit to its columns."""
    data = graphs.edge_data
    edges = None if data is None else data.columns
    _check(graphs.columns, graphs.x, "node", "the collection")
    _check(edges, None if data is None else data.x, "edge", "the collection")
    _check(graphs.graph_columns, graphs.graph_x, "graph", "the collection")
    return Columns(graphs.columns, edges, graphs.graph_columns)


def _check(names: tuple[str, ...] | None, values: Any, what: str, whose: str) -> None:
    """A `ValueError` unless every column has a name of its own, or none has."""
    if names is None:
        return
    width = 0 if values is None else int(np.prod(values.shape[1:]))
    if len(names) != width or len(set(names)) < width:
        names_there = f"{len(names)} names" if len(names) != width else "equal names"
        raise ValueError(f"{whose} has {names_there} for {width} columns of {what} attributes: give each one its own")


def _order(
    names: tuple[str, ...] | None, wanted: tuple[str, ...] | None, what: str, here: str, there: str
) -> list[int] | None:
    """Where each of the wanted columns stands; None where they are in order, or one side has no names."""
    if names is None or wanted is None or names == wanted:
        return None
    differences = {
        "missing": [name for name in wanted if name not in names],
        "unknown": [name for name in names if name not in wanted],
    }
    if any(differences.values()):
        text = "; ".join(
            f"{kind}: {first_few([*map(repr, names)], _MOST_LISTED)}" for kind, names in differences.items() if names
        )
        raise ValueError(f"{what} attributes of {here} differ from {there}, {text}")
    return [names.index(name) for name in wanted]


def _ordered(values: Any, order: list[int]) -> np.ndarray:
    """Columns in another order, as one contiguous array, so that sums over them round as before."""
    return np.take(values, order, axis=1)
