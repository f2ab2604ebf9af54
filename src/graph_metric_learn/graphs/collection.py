"""Many graphs in a few flat arrays: what every later step works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._core.ragged import concatenated_ranges, offsets
from .graph_vectors import GraphVectors, joined


@dataclass(frozen=True)
class Graphs:
    """G graphs, stored one after the other.

    Attributes
    ----------
    sizes : ndarray [G]
        How many nodes each graph has.
    edges : ndarray [2, E]
        Edges between rows of all graphs together. Simple and undirected: each edge stands in both directions, once;
        no node is its own neighbour.
    x : ndarray [S, q] or None
        Node features, float32 or float64, S = sum of the sizes.
    labels : ndarray [S, L] or None
        Discrete node labels, whole numbers or strings, L of them per node.
    y : ndarray [G] or [G, T], or None
        Targets of the graphs: classes or numbers, several columns for several numbers. Where only some graphs have
        one, objects with None for the others; `objectives.targets.given_targets` refuses them.
    edge_data : EdgeData or None
        Labels, vectors, weights and directions of edges; None where they carry nothing.
    unused : tuple of str
        What the graphs came with that was not read, in words.
    names : ndarray of str [G] or None
        What each graph is called; several may have the same name. Any sequence of strings is taken.
    columns : tuple of str or None
        Names of the columns of x; None where they have none. Fitted metrics match columns by name, see
        :class:`Columns`. Those of edge vectors are `edge_data.columns`.
    graph_x : ndarray [G, q] or None
        Vectors of whole graphs, float64, NaN where something was not measured.
    graph_columns : tuple of str or None
        Names of the columns of graph_x, if there is one. A category has a one-hot column "name=value" for each value.
    stereo : ndarray [S] or None
        Handedness of atoms and sides of double bonds, uint8, 0 without one, as :func:`from_smiles` numbers them; None
        where no atom has any.
    coarse : ndarray [S] or None
        What atoms are to other molecules, uint8, as :func:`from_smiles` numbers it.
    """

    sizes: np.ndarray
    edges: np.ndarray
    x: np.ndarray | None = None
    labels: np.ndarray | None = None
    y: np.ndarray | None = None
    edge_data: EdgeData | None = None
    unused: tuple[str, ...] = ()
    names: np.ndarray | None = None
    columns: tuple[str, ...] | None = None
    graph_x: np.ndarray | None = None
    graph_columns: tuple[str, ...] | None = None
    stereo: np.ndarray | None = None
    coarse: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.sizes.ndim != 1 or self.sizes.dtype.kind not in "iu":
            raise ValueError("sizes must be a one-dimensional array of whole numbers")
        if len(self.sizes) and self.sizes.min() < 1:
            raise ValueError(f"graph {int(self.sizes.argmin())} has no nodes: drop it or give it one")
        nodes = int(self.sizes.sum())
        _check_ends("edges", "[2, E]", self.edges, self.owner)
        for name, array in (("x", self.x), ("labels", self.labels)):
            if array is not None and (array.ndim != 2 or len(array) != nodes):
                shape = list(array.shape)
                raise ValueError(
                    f"{name} must have one row for each of the {nodes} nodes, and columns; its shape is {shape}"
                )
        if self.y is not None and len(self.y) != len(self.sizes):
            raise ValueError(f"y has {len(self.y)} entries for {len(self.sizes)} graphs")
        if self.edge_data is not None:
            self.edge_data.check(self.sizes)
        if self.names is not None:
            object.__setattr__(self, "names", self._checked_names(self.names))
        self._check_graph_vectors()
        for name, array in (("stereo", self.stereo), ("coarse", self.coarse)):
            if array is not None and (array.shape != (nodes,) or array.dtype != np.uint8):
                raise ValueError(f"{name} must be one uint8 for each of the {nodes} nodes")

    def _check_graph_vectors(self) -> None:
        if (self.graph_x is None) != (self.graph_columns is None):
            raise ValueError("give graph_x and graph_columns, or neither")
        if self.graph_x is not None and self.graph_x.shape != (len(self), len(self.graph_columns or ())):
            shape = list(self.graph_x.shape)
            raise ValueError(
                f"graph_x must have a row for each of the {len(self)} graphs and one of graph_columns for each column; "
                f"its shape is {shape}"
            )

    @property
    def graph_vectors(self) -> GraphVectors | None:
        """The vectors of whole graphs with the names of their columns, None where there are none."""
        return None if self.graph_x is None else GraphVectors(self.graph_x, self.graph_columns or ())

    def with_graph_vectors(self, vectors: GraphVectors | None) -> Graphs:
        """The same graphs with these vectors of whole graphs [G, q]."""
        values, columns = (None, None) if vectors is None else vectors
        return replace(self, graph_x=values, graph_columns=columns)

    def _checked_names(self, names: Any) -> np.ndarray:
        """Names as an array of str objects: one long name must not widen all others."""
        checked = [str(name) if isinstance(name, str) else name for name in names]
        if len(checked) != len(self):
            raise ValueError(f"{len(checked)} names for {len(self)} graphs: give one name per graph")
        for i, name in enumerate(checked):
            if not isinstance(name, str):
                raise ValueError(f"the name of graph {i} is a {type(name).__name__}, expected a string")  # noqa: TRY004
        return np.array(checked, dtype=object)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each graph's nodes start, and the end of the last [G + 1]."""
        return offsets(self.sizes)

    @cached_property
    def owner(self) -> np.ndarray:
        """Which graph each node belongs to [S]."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each node [S]."""
        return np.bincount(self.edges[0], minlength=int(self.sizes.sum()))

    @cached_property
    def adjacency(self) -> Any:
        """Block-diagonal 0/1 adjacency of all graphs, a scipy sparse array [S, S]."""
        n = int(self.sizes.sum())
        ones = np.ones(self.edges.shape[1], dtype=np.float32)
        return sparse.csr_array((ones, (self.edges[0], self.edges[1])), shape=(n, n))

    @cached_property
    def weights(self) -> Any:
        """Block-diagonal matrix of edge weights, a scipy sparse array [S, S], float64; None without weights.

        Weights of parallel edges, and of both directions of a directed edge, add up. The mean absolute weight of each
        graph is 1, so that weights compare with the edges of a graph that has none.
        """
        if self.edge_data is None or self.edge_data.weights is None:
            return None
        n, (tails, heads), values = int(self.sizes.sum()), self.edge_data.ends, self.edge_data.weights
        owner = self.owner[tails]
        sums = np.bincount(owner, np.abs(values), minlength=len(self))
        mean = sums / np.maximum(np.bincount(owner, minlength=len(self)), 1)
        values = values / np.where(mean > 0, mean, 1.0)[owner]
        matrix = sparse.csr_array((values, (tails, heads)), shape=(n, n))
        return (matrix + matrix.T).tocsr() if self.edge_data.directed else matrix

    @cached_property
    def _edges_by_graph(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Edges in the order of their graphs [E], None where they are; and where each graph's start [G + 1]."""
        owner = self.owner[self.edges[0]]
        ordered = bool((np.diff(owner) >= 0).all())
        return None if ordered else np.argsort(owner, kind="stable"), offsets(np.bincount(owner, minlength=len(self)))

    def __getitem__(self, which: Any) -> Graphs:
        """The chosen graphs, by slice or array of indices; one may be chosen several times."""
        which = np.atleast_1d(np.arange(len(self))[which])
        rows = concatenated_ranges(self.offsets[which], self.sizes[which])
        order, starts = self._edges_by_graph
        counts = starts[which + 1] - starts[which]
        chosen = concatenated_ranges(starts[which], counts)
        chosen = chosen if order is None else order[chosen]
        shift = np.repeat(offsets(self.sizes[which])[:-1] - self.offsets[which], counts)
        edges = self.edges[:, chosen] + shift
        edges = edges[:, np.lexsort(edges[::-1])]
        parts = (self.x, self.labels, self.stereo, self.coarse)
        x, labels, stereo, coarse = (None if part is None else part[rows] for part in parts)
        y, names = (None if part is None else part[which] for part in (self.y, self.names))
        edge_data = None if self.edge_data is None else self.edge_data.part(which, self.sizes)
        graph_x = None if self.graph_x is None else self.graph_x[which]
        return replace(
            self, sizes=self.sizes[which], edges=edges, x=x, labels=labels, y=y, edge_data=edge_data, names=names,
            graph_x=graph_x, stereo=stereo, coarse=coarse,
        )  # fmt: skip

    @staticmethod
    def concatenate(parts: Sequence[Graphs]) -> Graphs:
        """One collection of several, which must carry the same things.

        Vectors of whole graphs are joined by name; what a collection lacks of them is NaN.
        """
        if len(parts) == 1:
            return parts[0]
        if len({part.columns for part in parts}) > 1:
            raise ValueError("collections differ in the names of their columns")
        starts = offsets(np.array([len(part.owner) for part in parts]))
        sizes = np.concatenate([part.sizes for part in parts])
        edges = np.concatenate([part.edges + start for part, start in zip(parts, starts, strict=False)], axis=1)
        x, labels, y, names = (_joined(parts, name) for name in ("x", "labels", "y", "names"))
        all_data = _all_or_none(parts, "edge_data")
        edge_data = None if all_data is None else EdgeData.concatenate(all_data, starts)
        unused = tuple(dict.fromkeys(what for part in parts for what in part.unused))
        together = Graphs(
            sizes, edges, x, labels, y, edge_data, unused, names, parts[0].columns,
            stereo=_codes_or_none(parts, "stereo"), coarse=_codes_or_none(parts, "coarse"),
        )  # fmt: skip
        vectors = joined([part.graph_vectors for part in parts], [*map(len, parts)])
        return together if vectors is None else together.with_graph_vectors(vectors)

    def pieces(self, nodes: int) -> Iterator[Graphs]:
        """Consecutive graphs, of at most so many nodes together: one, where it has more.

        >>> graphs = Graphs(np.array([3, 1, 5, 2]), np.zeros((2, 0), dtype=int))
        >>> [piece.sizes.tolist() for piece in graphs.pieces(4)]
        [[3, 1], [5], [2]]
        """
        start, total = 0, 0
        for stop, size in enumerate(self.sizes):
            total += int(size)
            if total > nodes and stop > start:
                yield self[start:stop]
                start, total = stop, int(size)
        yield self if start == 0 else self[start:]

    def check_numbers(self, missing: str = "error") -> None:
        """A `ValueError` unless node features are finite, or NaN with missing="mean"; looked at once per object."""
        if self.x is not None and self.__dict__.get("_checked") not in ("error", missing):
            if self.x.dtype.kind not in "fiub":
                raise ValueError(f"node features have dtype {self.x.dtype}, expected numbers")
            good = np.isfinite(self.x) if missing == "error" else ~np.isinf(self.x)
            if not good.all():
                bad = ~good.all(1)
                raise ValueError(not_finite(int(self.owner[bad][0]), self.x[bad], "node feature"))
            self.__dict__["_checked"] = missing

    def without_edge_data(self) -> Graphs:
        """The same graphs with edges that are there or not, both ways."""
        return self if self.edge_data is None else replace(self, edge_data=None)

    def to_batch(self, device: Any = "cpu") -> Any:
        """The same graphs as one `torch_geometric.data.Batch`, for encoders that work on it."""
        import torch
        from torch_geometric.data import Batch

        x = None if self.x is None else torch.from_numpy(self.x.astype(np.float32, copy=False))
        edges, owner, starts = map(torch.from_numpy, (self.edges, self.owner, self.offsets))
        batch = Batch(x=x, edge_index=edges, batch=owner, ptr=starts)
        batch.num_nodes = int(self.sizes.sum())
        batch._num_graphs = len(self)
        return batch.to(device)


@dataclass(frozen=True)
class EdgeData:
    """What the edges of many graphs carry, beside being there.

    Attributes
    ----------
    ends : ndarray [2, A]
        Tail and head of each arc, as rows of all nodes together, in the order of graphs. Without directions every edge
        stands there in both orientations, with the same data. Parallel edges are several arcs. No arc is a loop.
    directed : bool
        Whether the orientation means something.
    labels : ndarray [A, L] or None
        Discrete labels, whole numbers or strings, L of them per edge.
    x : ndarray [A, q] or None
        Vectors, float32 or float64, as they came.
    weights : ndarray [A] or None
        Weights, float64, of any sign; None where all are 1.
    columns : tuple of str or None
        Names of the columns of x; None where they have none.
    """

    ends: np.ndarray
    directed: bool = False
    labels: np.ndarray | None = None
    x: np.ndarray | None = None
    weights: np.ndarray | None = None
    columns: tuple[str, ...] | None = None

    def check(self, sizes: np.ndarray) -> None:
        """A `ValueError` unless the arrays fit together and to graphs of these sizes [G]."""
        count, owner = self.ends.shape[-1], np.repeat(np.arange(len(sizes)), sizes)
        _check_ends("ends of edges", "[2, A]", self.ends, owner)
        if (np.diff(owner[self.ends[0]]) < 0).any():
            raise ValueError("edges must come in the order of their graphs")
        for name, array, ndim in (("labels", self.labels, 2), ("x", self.x, 2), ("weights", self.weights, 1)):
            if array is not None and (array.ndim != ndim or len(array) != count):
                raise ValueError(f"{name} of {count} edges have the shape {list(array.shape)}")
        for name, array in (("x", self.x), ("weights", self.weights)):
            if array is not None and not np.isfinite(array).all():
                raise ValueError(f"{name} of edges must be finite")

    @property
    def carries(self) -> list[str]:
        """What there is, in words."""
        arrays = {"labels": self.labels, "vectors": self.x, "weights": self.weights}
        return [name for name, value in arrays.items() if value is not None] + ["directions"] * self.directed

    @staticmethod
    def concatenate(parts: Sequence[EdgeData], starts: np.ndarray) -> EdgeData:
        """That of P collections, whose nodes start at these rows [P + 1] of all nodes."""
        first = parts[0]
        for name in ("directed", "columns"):
            if any(getattr(part, name) != getattr(first, name) for part in parts):
                raise ValueError(f"edges of collections differ in what is {name}")
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([np.ones(p.ends.shape[1]) if p.weights is None else p.weights for p in parts])
        ends = np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=False)], axis=1)
        labels, x = _joined(parts, "labels", "edge "), _joined(parts, "x", "edge ")
        return replace(first, ends=ends, labels=labels, x=x, weights=weights)

    def starts(self, sizes: np.ndarray) -> np.ndarray:
        """Where the arcs of each graph start, and the end of the last [G + 1]; computed once."""
        starts = self.__dict__.get("_starts")
        if starts is None or len(starts) != len(sizes) + 1:
            owner = np.repeat(np.arange(len(sizes)), sizes)[self.ends[0]]
            starts = offsets(np.bincount(owner, minlength=len(sizes)))
            object.__setattr__(self, "_starts", starts)
        return starts

    def part(self, which: np.ndarray, sizes: np.ndarray) -> EdgeData:
        """Those of chosen graphs [G'], of graphs of these sizes [G]; one may be chosen several times."""
        starts = self.starts(sizes)
        counts = starts[which + 1] - starts[which]
        rows = concatenated_ranges(starts[which], counts)
        shift = np.repeat(offsets(sizes[which])[:-1] - offsets(sizes)[which], counts)
        labels, x, weights = (None if part is None else part[rows] for part in (self.labels, self.x, self.weights))
        return replace(self, ends=self.ends[:, rows] + shift, labels=labels, x=x, weights=weights)


def _all_or_none(parts: Sequence[Any], name: str, of: str = "") -> list[Any] | None:
    """What several collections call `name`, None where no one has it; a `ValueError` where only some have."""
    values = [getattr(part, name) for part in parts]
    lacking = [i for i, value in enumerate(values) if value is None]
    if lacking and len(lacking) < len(parts):
        raise ValueError(f"collection {lacking[0]} has no {of}{name}, others have")
    return None if lacking else values


def _joined(parts: Sequence[Any], name: str, of: str = "") -> np.ndarray | None:
    """The same of arrays, one after the other, with as many columns each."""
    arrays = _all_or_none(parts, name, of)
    if arrays and len(widths := {array.shape[1:] for array in arrays}) > 1:
        raise ValueError(f"collections differ in the columns of {of}{name}: {sorted(sum(widths, ()))}")
    return None if arrays is None else np.concatenate(arrays)


def _codes_or_none(parts: Sequence[Graphs], name: str) -> np.ndarray | None:
    """Codes of all nodes, 0 where a collection has none; None where none has."""
    codes = [getattr(part, name) for part in parts]
    if all(own is None for own in codes):
        return None
    zeros = [np.zeros(len(part.owner), np.uint8) for part in parts]
    return np.concatenate([zero if own is None else own for own, zero in zip(codes, zeros, strict=True)])


def not_finite(graph: int, values: np.ndarray, what: str) -> str:
    """What to say of a graph with such values, the first of which is not finite."""
    advice = ", or say missing='mean' if NaN stands for what was not measured" if what == "node feature" else ""
    return f"graph {graph} has a NaN or infinite {what}: clean or drop it{advice if np.isnan(values[0]).any() else ''}"


def _check_ends(name: str, shape: str, ends: np.ndarray, owner: np.ndarray) -> None:
    """A `ValueError` unless ends [2, E] are nodes, and the two of each edge nodes of one graph; owner [S] of nodes."""
    if ends.ndim != 2 or len(ends) != 2:
        raise ValueError(f"{name} must have the shape {shape}, got {list(ends.shape)}")
    if ends.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, got {ends.dtype}")
    if ends.size and not 0 <= ends.min() <= ends.max() < len(owner):
        raise ValueError(f"{name} must lie between 0 and {len(owner) - 1}, the last of the nodes")
    if (owner[ends[0]] != owner[ends[1]]).any():
        raise ValueError("edges must join nodes of the same graph")
