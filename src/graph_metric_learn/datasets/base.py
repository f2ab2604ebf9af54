"""The type that every loader returns, and how arrays that hold all graphs become one `Data` per graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """Labelled graphs.

    Attributes
    ----------
    graphs : list of torch_geometric.data.Data
        One per graph, with `edge_index` (both directions of every edge), `y` [1] and, where there are features, `x`.
    y : ndarray [G]
        The class of each graph, as the source writes it.
    name : str
        What the dataset is called.
    dropped : int
        How many graphs of the source were left out because they have fewer than 2 nodes.

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

    def __post_init__(self) -> None:
        if np.shape(self.y) != (len(self.graphs),):
            raise ValueError(
                f"{len(self.graphs)} graphs and labels of shape {np.shape(self.y)}: give one label per graph"
            )

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
            edges = np.mean([graph.num_edges / 2 for graph in self.graphs])
            x = self.graphs[0].x
            parts.append(f"on average {nodes:.1f} nodes and {edges:.1f} edges")
            parts.append("no features" if x is None else f"{x.shape[1]}-dimensional features")
        if self.dropped:
            parts.append(f"{self.dropped} too small and left out")
        return f"GraphDataset({self.name}: {', '.join(parts)})"


def build_graphs(
    sizes: np.ndarray, edge_index: np.ndarray, edge_counts: np.ndarray, y: np.ndarray, **node_arrays: np.ndarray
) -> list[Data]:
    """Splits arrays that hold all graphs one after the other into one `Data` per graph.

    Parameters
    ----------
    sizes : ndarray [G]
        Nodes of each graph.
    edge_index : ndarray [2, E]
        Edges; nodes are numbered from 0 within each graph.
    edge_counts : ndarray [G]
        Columns of `edge_index` of each graph.
    y : ndarray [G]
        Class labels.
    **node_arrays : ndarray [S, ...]
        Attributes of the nodes by name, S = sum of the sizes.

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
    pieces = {key: torch.from_numpy(array).split(counts) for key, array in node_arrays.items()}
    # Copies, because a pickled view contains the whole dataset.
    return [
        Data(
            edge_index=edges[g].clone(memory_format=torch.contiguous_format),
            y=labels[g].clone(),
            num_nodes=n,
            **{key: piece[g].clone() for key, piece in pieces.items()},
        )
        for g, n in enumerate(counts)
    ]
