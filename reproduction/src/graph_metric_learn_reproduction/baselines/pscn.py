"""PATCHY-SAN: a convolutional network over sequences of neighbourhoods."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from graph_metric_learn._core.validation import whole_number
from graph_metric_learn.graphs import Graphs

from .base import System, positive
from .reproducible import local_seed, one_thread
from .structure import adjacencies, hops, node_features, per_graph


class PSCN(System):
    """PATCHY-SAN [1]_: nodes ranked by betweenness, the K nodes around each, a 1-D convolutional network.

    Nodes are ranked by betweenness, then degree, then features; nodes that agree in all of these keep their given
    order, where the authors use a canonical one (nauty). Each of the first w nodes (w the mean size of the training
    graphs) has a receptive field: the K nearest nodes of its component by hops, equally near ones by rank. Missing
    fields and nodes are zeros. The network has 16 filters on each field, 8 filters on 10 consecutive fields, 128 dense
    units with dropout 0.5, and softmax.

    Parameters
    ----------
    fields : int
        K, the number of nodes of a receptive field.
    epochs, batch_size : int
        Of the training.
    learning_rate : float
        Of Adam.
    seed : int
        For initial weights, batches and dropout; PyTorch's global generator is left as it was.

    Attributes
    ----------
    classes_ : ndarray [C]
        The labels seen in `fit`.
    length_, width_ : int
        w, and the number of node features.
    module_ : torch.nn.Module
        The trained network, on the CPU.

    References
    ----------
    .. [1] M. Niepert, M. Ahmed, K. Kutzkov. Learning Convolutional Neural Networks for Graphs. ICML 2016.
    """

    name = "pscn"

    def __init__(
        self, *, fields: int = 10, epochs: int = 100, batch_size: int = 32, learning_rate: float = 1e-3, seed: int = 0
    ) -> None:
        self.fields, self.epochs, self.batch_size = fields, epochs, batch_size
        self.learning_rate, self.seed = learning_rate, seed

    def fit(self, graphs: Any, y: Any) -> PSCN:
        """Trains the network on graphs (anything `as_graphs` takes) and their classes y [N]."""
        graphs = self.read(graphs)
        if np.shape(y) != (len(graphs),):
            raise ValueError(f"{len(graphs)} graphs and labels of shape {np.shape(y)}: give one label per graph")
        for option in ("fields", "epochs", "batch_size"):
            whole_number(option, getattr(self, option), 1)
        positive(learning_rate=self.learning_rate)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.width_ = node_features(graphs).shape[1]
        self.length_ = max(1, round(float(graphs.sizes.mean())))
        inputs, targets = torch.from_numpy(self._inputs(graphs)), torch.from_numpy(codes)
        with local_seed(self.seed, torch.device("cpu")), one_thread():
            self.module_ = _Network(inputs.shape[2], self.length_, len(self.classes_))
            optimizer = torch.optim.Adam(self.module_.parameters(), lr=self.learning_rate, fused=True)
            for _ in range(self.epochs):
                for batch in torch.randperm(len(inputs)).split(self.batch_size):
                    optimizer.zero_grad(set_to_none=True)
                    loss = nn.functional.cross_entropy(self.module_(inputs[batch]), targets[batch])
                    loss.backward()
                    optimizer.step()
        self.module_.eval()
        return self

    def predict(self, graphs: Any) -> np.ndarray:
        """Classes [N]."""
        if not hasattr(self, "module_"):
            raise ValueError("PSCN is not fitted: call fit first")
        graphs = self.read(graphs)
        if (width := node_features(graphs).shape[1]) != self.width_:
            raise ValueError(f"graphs have {width} node features, the network was trained with {self.width_}")
        with torch.no_grad():
            parts = torch.from_numpy(self._inputs(graphs)).split(1024)
            best = torch.cat([self.module_(part).argmax(1) for part in parts])
        return self.classes_[best.numpy()]

    def _inputs(self, graphs: Graphs) -> np.ndarray:
        """The concatenated features of the K nodes of each field [N, w, K q], float32."""
        features = per_graph(graphs, node_features(graphs))
        inputs = np.zeros((len(graphs), self.length_, self.fields, features[0].shape[1]), dtype=np.float32)
        with threadpool_limits(1):  # threads slow down products of small matrices
            for g, (adjacency, x) in enumerate(zip(adjacencies(graphs), features, strict=True)):
                nodes = receptive_fields(adjacency, x, self.length_, self.fields)
                inputs[g, : nodes.shape[0], : nodes.shape[1]] = np.where(nodes[..., None] >= 0, x[nodes], 0.0)
        return inputs.reshape(len(graphs), self.length_, -1)


def receptive_fields(adjacency: np.ndarray, x: np.ndarray, length: int, size: int) -> np.ndarray:
    """The nodes of the fields of the first `length` nodes, nearest first [≤ length, ≤ size]; −1 where one is missing.

    Examples
    --------
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> receptive_fields(path, np.array([[0.0], [1.0], [2.0], [3.0]]), 2, 3)
    array([[2, 1, 3],
           [1, 2, 0]])
    """
    lengths = hops(adjacency)
    central = betweenness(adjacency, lengths).round(9)  # otherwise rounding errors rank equal nodes
    order = np.lexsort((*-x.T[::-1], -adjacency.sum(1), -central))
    far = lengths[np.ix_(order[:length], order)]
    near = np.argsort(far, axis=1, kind="stable")[:, :size]
    return np.where(np.isfinite(np.take_along_axis(far, near, axis=1)), order[near], -1)


def betweenness(adjacency: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Betweenness centrality [n], not normalised: over all pairs, the share of shortest paths through each node.

    From adjacency [n, n] and hops [n, n], infinite between components.

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> betweenness(path, hops(path))
    array([0., 1., 0.])
    """
    longest = int(lengths[np.isfinite(lengths)].max())
    counts = walks = np.eye(len(adjacency))  # counts[s, t]: shortest paths from s to t
    for length in range(1, longest + 1):
        walks = np.where(lengths == length, walks @ adjacency, 0.0)  # prefixes of shortest paths are shortest paths
        counts = counts + walks
    inverse = np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)
    # Brandes' sums, for all starts s at once: through[s, v] = Σ over t of the share of the paths from s to t through v.
    through = np.zeros_like(counts)
    for length in range(longest, 1, -1):
        onwards = np.where(lengths == length, (1.0 + through) * inverse, 0.0) @ adjacency
        through += np.where(lengths == length - 1, counts * onwards, 0.0)
    return through.sum(0) / 2  # each pair was counted from both ends


class _Network(nn.Module):
    """Logits of the classes [B, C] from receptive fields [B, w, K q]."""

    def __init__(self, width: int, length: int, classes: int) -> None:
        super().__init__()
        window = min(10, length)
        self.fields = nn.Linear(width, 16)  # equal to a convolution over nodes with length and stride K
        self.rows = nn.Conv1d(16, 8, window)
        self.dense = nn.Linear(8 * (length - window + 1), 128)
        self.dropout = nn.Dropout(0.5)
        self.scores = nn.Linear(128, classes)

    def forward(self, fields: Tensor) -> Tensor:
        rows = self.rows(self.fields(fields).relu().transpose(1, 2)).relu()
        return self.scores(self.dropout(self.dense(rows.flatten(1)).relu()))
