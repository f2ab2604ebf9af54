"""Graphs as networks take them: tensors on a device, and batches of chosen graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graph_metric_learn._core.ragged import concatenated_ranges, offsets
from graph_metric_learn.features.edge_features import EdgeFeatures
from graph_metric_learn.features.edge_reading import EdgeReading
from graph_metric_learn.graphs import Graphs


class Batch(NamedTuple):
    """Some graphs as one."""

    x: Tensor  # features of all nodes [S, q]
    arcs: Tensor  # edges, both ways [2, A]: messages go from the first row to the second
    edge_x: Tensor | None  # features of arcs [A, w]
    owner: Tensor  # which graph each node belongs to [S]
    n_graphs: int  # B


class EdgeInputs:
    """What edges carry as features of arcs, by a rule fitted to the training graphs.

    Labels are one-hot, vectors and weights standardised. A directed edge gives an arc each way, with a column that says
    which way it goes. A column of ones stands where edges carry nothing.
    """

    def fit(self, graphs: Graphs) -> EdgeInputs:
        """Learns columns and statistics."""
        self.reading = EdgeReading.of(graphs)
        self.features = EdgeFeatures().fit(self.reading.apply(graphs))
        return self

    def arcs(self, graphs: Graphs) -> tuple[np.ndarray, np.ndarray]:
        """Arcs [2, A] and their features [A, w], float32, in the order of graphs."""
        graphs = self.reading.apply(graphs)
        if graphs.edge_data is None:
            return graphs.edges, np.ones((graphs.edges.shape[1], 1), dtype=np.float32)
        ends, features = graphs.edge_data.ends, self.features.transform(graphs)
        if graphs.edge_data.directed:
            ends = np.concatenate([ends, ends[::-1]], axis=1)
            forward = np.repeat([[1.0], [0.0]], len(features), axis=0)
            features = np.concatenate([np.concatenate([features, features]), forward], axis=1)
        order = np.argsort(graphs.owner[ends[0]], kind="stable")
        return ends[:, order], features[order].astype(np.float32)


@dataclass(frozen=True)
class NetworkInput:
    """Graphs on a device, from which batches are taken."""

    x: Tensor  # features of all nodes [S, q]
    edge_x: Tensor | None  # features of arcs [A, w]
    arcs: np.ndarray  # [2, A], in the order of graphs
    sizes: np.ndarray  # nodes of each graph [G]
    arc_counts: np.ndarray  # arcs of each graph [G]

    @classmethod
    def of(cls, graphs: Graphs, edge_inputs: EdgeInputs | None, device: torch.device) -> NetworkInput:
        """Graphs with features x, and with features of arcs if a rule for these is given."""
        arcs, edge_x = (graphs.edges, None) if edge_inputs is None else edge_inputs.arcs(graphs)
        if edge_inputs is None:
            arcs = arcs[:, np.argsort(graphs.owner[arcs[0]], kind="stable")]
        assert graphs.x is not None
        return cls(
            torch.from_numpy(graphs.x.astype(np.float32)).to(device),
            None if edge_x is None else torch.from_numpy(edge_x).to(device),
            arcs,
            graphs.sizes,
            np.bincount(graphs.owner[arcs[0]], minlength=len(graphs)),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def width(self) -> int:
        """Number of features of a node."""
        return self.x.shape[1]

    @property
    def edge_width(self) -> int:
        """Number of features of an arc; 0 without any."""
        return 0 if self.edge_x is None else self.edge_x.shape[1]

    def batch(self, which: np.ndarray) -> Batch:
        """The chosen graphs [B]."""
        device, sizes, counts = self.x.device, self.sizes[which], self.arc_counts[which]
        starts = offsets(self.sizes)[which]
        rows = torch.from_numpy(concatenated_ranges(starts, sizes)).to(device)
        chosen = concatenated_ranges(offsets(self.arc_counts)[which], counts)
        arcs = self.arcs[:, chosen] + np.repeat(offsets(sizes)[:-1] - starts, counts)
        return Batch(
            self.x[rows],
            torch.from_numpy(arcs).to(device),
            None if self.edge_x is None else self.edge_x[torch.from_numpy(chosen).to(device)],
            torch.from_numpy(np.repeat(np.arange(len(which)), sizes)).to(device),
            len(which),
        )

    def batches(self, which: np.ndarray, size: int) -> Iterator[Batch]:
        """The chosen graphs in their order, in batches of about equal sizes, at most `size`."""
        for part in _parts(which, size):
            yield self.batch(part)

    def shuffled(self, which: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Batch]]:
        """The chosen graphs in random order: which ones [B], and the batch."""
        for part in _parts(rng.permutation(which), size):
            yield torch.from_numpy(part).to(self.x.device), self.batch(part)


def _parts(which: np.ndarray, size: int) -> list[np.ndarray]:
    """Pieces of about equal lengths: a last batch of one graph would have no variance to normalise by.

    >>> [part.tolist() for part in _parts(np.arange(5), 4)]
    [[0, 1, 2], [3, 4]]
    """
    return np.array_split(which, -(-len(which) // size))
