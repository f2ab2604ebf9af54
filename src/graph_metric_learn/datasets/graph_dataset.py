"""The type that every loader returns, and how arrays that hold all graphs become one `Data` per graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.validation import first_few
from ..graphs import as_graphs
from ..graphs.depiction import depictions, graph_svg

if TYPE_CHECKING:
    from torch_geometric.data import Data

_EDGE_PARTS = {"edge_type": "labels", "edge_attr": "vectors", "edge_weight": "weights"}


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """Labelled graphs.

    Attributes
    ----------
    graphs : list of torch_geometric.data.Data
        One per graph, with `edge_index` (both directions of every edge, unless edges are directed), `y` [1] and, where
        there are features, `x`; `edge_type` and `edge_attr` hold labels and vectors of edges, where there are any.
    y : ndarray [G]
        The class of each graph, as the source writes it.
    name : str
        What the dataset is called.
    dropped : int
        How many graphs of the source were left out because they have too few nodes.
    rows : ndarray [G] or None
        The index of each graph in the source: all of them, unless some were left out. None where unknown.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> edge = Data(x=torch.zeros(2, 3), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> GraphDataset([edge, edge], np.array([0, 1]), "edges")
    GraphDataset(edges: 2 graphs, 2 classes, on average 2.0 nodes and 1.0 edges, 3-dimensional features)
    """

    graphs: list[Data]
    y: np.ndarray
    name: str
    dropped: int = 0
    rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        for what, values in (("label", self.y), ("row", range(len(self)) if self.rows is None else self.rows)):
            if np.shape(values) != (len(self),):
                shape = np.shape(values)
                raise ValueError(f"{len(self)} graphs and {what}s of shape {shape}: give one {what} per graph")

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels, sorted [C]."""
        return np.unique(self.y)

    def __repr__(self) -> str:
        parts = [f"{len(self)} graphs", f"{len(self.classes)} classes"]
        if self.graphs:
            nodes = np.mean([graph.num_nodes for graph in self.graphs])
            edges = np.mean([_joined_pairs(graph) for graph in self.graphs])
            x = self.graphs[0].x
            parts.append(f"on average {nodes:.1f} nodes and {edges:.1f} edges")
            parts.append("no features" if x is None else f"{x.shape[1]}-dimensional features")
            parts += [f"edge {what}" for key, what in _EDGE_PARTS.items() if key in self.graphs[0]]
        if self.dropped:
            parts.append(f"{self.dropped} too small and left out")
        return f"GraphDataset({self.name}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        return dataset_html(repr(self), self.graphs, self.y)


def _joined_pairs(graph: Data) -> int:
    """How many pairs of nodes are joined, in whatever direction and by however many edges."""
    ends = np.sort(graph.edge_index.numpy(), axis=0)
    return len(np.unique(ends[0] * graph.num_nodes + ends[1]))


def build_graphs(
    sizes: np.ndarray,
    edge_index: np.ndarray,
    edge_counts: np.ndarray,
    y: np.ndarray,
    edge_arrays: Mapping[str, np.ndarray | None] | None = None,
    graph_arrays: Mapping[str, np.ndarray | None] | None = None,
    **node_arrays: np.ndarray | None,
) -> list[Data]:
    """Splits arrays that hold all graphs one after the other into one `Data` per graph.

    There are `sizes` [G] nodes and `edge_counts` [G] edges in each graph, nodes counted from 0 in `edge_index` [2, E],
    and a class `y` [G]. Attributes of edges [E, …], in the order of `edge_index`, and of nodes [S, …], S = sum of the
    sizes, have names; those that are None are left out. So have `graph_arrays` [G, d] of whole graphs, rows [1, d].

    Examples
    --------
    >>> build_graphs(np.array([2, 1]), np.array([[0, 1], [1, 0]]), np.array([2, 0]), np.array([7, 8]))
    [Data(edge_index=[2, 2], y=[1], num_nodes=2), Data(edge_index=[2, 0], y=[1], num_nodes=1)]
    """
    import torch
    from torch_geometric.data import Data

    counts = sizes.tolist()
    edges = torch.from_numpy(edge_index).split(edge_counts.tolist(), dim=1)
    labels = torch.from_numpy(y).split(1)
    pieces = {}
    all_arrays = ((node_arrays, counts), (edge_arrays or {}, edge_counts.tolist()), (graph_arrays or {}, [1] * len(y)))
    for arrays, lengths in all_arrays:
        for key, array in arrays.items():
            if array is not None:
                pieces[key] = torch.from_numpy(array).split(lengths)
    graphs = []
    for g, n in enumerate(counts):  # copies, because a pickled view contains the whole dataset
        own = {key: piece[g].clone() for key, piece in pieces.items()}
        ends = edges[g].clone(memory_format=torch.contiguous_format)
        graphs.append(Data(edge_index=ends, y=labels[g].clone(), num_nodes=n, **own))
    return graphs


_N_DRAWN = 6
_N_CLASSES = 12  # listed


def dataset_html(summary: str, graphs: Sequence[Any], y: np.ndarray | None, names: Sequence[str] | None = None) -> str:
    """A dataset with targets y [G] as a piece of HTML, on white paper whatever the notebook."""
    parts = [f"<p style='margin:0 0 .4em'><b>{escape(summary)}</b></p>"]
    if y is not None and y.dtype.kind != "f":
        values, counts = np.unique(y, return_counts=True)
        listed = [f"{value}: {count}" for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
        parts.append(f"<p style='margin:0 0 .4em'>{escape(first_few(listed, _N_CLASSES))}</p>")
    elif y is not None:
        parts.append(f"<p style='margin:0 0 .4em'>from {np.nanmin(y):.3g} to {np.nanmax(y):.3g}</p>")
    few = list(graphs[:_N_DRAWN])
    if few:
        looks = depictions(few, as_graphs(few, directed=False))
        for i, look in enumerate(looks):
            title = str(i) if names is None else names[i]
            title = title if y is None else f"{title} ({y[i]})"
            drawing = graph_svg(look, side=110, alt=f"graph of {len(look.names)} nodes")
            caption = f"<figcaption style='max-width:110px;overflow:hidden'>{escape(title)}</figcaption>"
            parts.append(f"<figure style='display:inline-block;margin:0 .6em 0 0'>{drawing}{caption}</figure>")
    return f"<div style='background:#fff;color:#222;padding:.8em'>{''.join(parts)}</div>"
