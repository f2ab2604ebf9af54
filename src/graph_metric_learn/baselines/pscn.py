"""PATCHY-SAN: a convolutional network over sequences of neighbourhoods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from ..graphs import Graphs, as_graphs
from .base import System, positive
from .structure import adjacencies, hops, node_features, per_graph


class PSCN(System):
    """PATCHY-SAN [1]_: nodes in order of betweenness, the K nodes around each, a 1-D convolutional network.

    The first w nodes by betweenness (then degree, then features; w the average size of the training graphs) each give a
    receptive field: the K nearest nodes of its component, by hops, equally near ones in the order above. Nodes that
    agree in all of this stand as they are numbered, where the authors look for a canonical order (nauty). Fields and
    nodes that are not there are zeros. The network: 16 filters on each field, 8 filters on 10 fields in a row, 128
    dense units with dropout 0.5, softmax.

    Parameters
    ----------
    fields : int
        K, the nodes of a receptive field.
    epochs, batch_size : int
        Of Adam.
    learning_rate : float
        Of Adam.
    seed : int
        For the start, the batches and the dropout; PyTorch's own generator is left as it was.

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
        self,
        *,
        fields: int = 10,
        epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        seed: int = 0,
    ) -> None:
        self.fields, self.epochs, self.batch_size = fields, epochs, batch_size
        self.learning_rate, self.seed = learning_rate, seed

    def fit(self, graphs: Any, y: Any) -> PSCN:
        """Trains the network on graphs (anything `as_graphs` takes) and their classes y [N]."""
        graphs = as_graphs(graphs)
        if np.shape(y) != (len(graphs),):
            raise ValueError(f"{len(graphs)} graphs and labels of shape {np.shape(y)}: give one label per graph")
        positive(fields=self.fields, epochs=self.epochs, batch_size=self.batch_size, learning_rate=self.learning_rate)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.width_ = node_features(graphs).shape[1]
        self.length_ = max(1, round(float(graphs.sizes.mean())))
        inputs, targets = torch.from_numpy(self._inputs(graphs)), torch.from_numpy(codes)
        with torch.random.fork_rng(devices=[]), _one_thread():
            torch.manual_seed(self.seed)
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
        graphs = as_graphs(graphs)
        if (width := node_features(graphs).shape[1]) != self.width_:
            raise ValueError(f"graphs have {width} node features, the network was trained with {self.width_}")
        with torch.no_grad():
            parts = torch.from_numpy(self._inputs(graphs)).split(1024)
            best = torch.cat([self.module_(part).argmax(1) for part in parts])
        return self.classes_[best.numpy()]

    def _inputs(self, graphs: Graphs) -> np.ndarray:
        """Features of the K nodes of each field, side by side [N, w, K q], float32."""
        features = per_graph(graphs, node_features(graphs))
        inputs = np.zeros((len(graphs), self.length_, self.fields, features[0].shape[1]), dtype=np.float32)
        with threadpool_limits(1):  # for products of small matrices
            for g, (adjacency, x) in enumerate(zip(adjacencies(graphs), features, strict=True)):
                nodes = receptive_fields(adjacency, x, self.length_, self.fields)
                inputs[g, : nodes.shape[0], : nodes.shape[1]] = np.where(nodes[..., None] >= 0, x[nodes], 0.0)
        return inputs.reshape(len(graphs), self.length_, -1)


def receptive_fields(adjacency: np.ndarray, x: np.ndarray, length: int, size: int) -> np.ndarray:
    """The nodes of the fields of the first `length` nodes, nearest first; −1 where its component has no more of them.

    Examples
    --------
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> receptive_fields(path, np.array([[0.0], [1.0], [2.0], [3.0]]), 2, 3)
    array([[2, 1, 3],
           [1, 2, 0]])
    """
    between = hops(adjacency)
    central = betweenness(adjacency, between).round(9)  # else rounding errors would order equal nodes
    order = np.lexsort((*-x.T[::-1], -adjacency.sum(1), -central))
    far = between[np.ix_(order[:length], order)]
    near = np.argsort(far, axis=1, kind="stable")[:, :size]
    return np.where(np.isfinite(np.take_along_axis(far, near, axis=1)), order[near], -1)


def betweenness(adjacency: np.ndarray, between: np.ndarray) -> np.ndarray:
    """How many shortest paths of other nodes run through each node, as shares of each pair's paths [n].

    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> betweenness(path, hops(path))
    array([0., 1., 0.])
    """
    longest = int(between[np.isfinite(between)].max())
    paths = walks = np.eye(len(adjacency))
    for length in range(1, longest + 1):
        walks = np.where(between == length, walks @ adjacency, 0.0)  # a shortest path's beginnings are shortest paths
        paths = paths + walks
    inverse = np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0)
    # Brandes' sums, for all starts s at once: passing[s, v] = Σ over t of the share of the paths from s to t through v.
    passing = np.zeros_like(paths)
    for length in range(longest, 1, -1):
        onwards = np.where(between == length, (1.0 + passing) * inverse, 0.0) @ adjacency
        passing += np.where(between == length - 1, paths * onwards, 0.0)
    return passing.sum(0) / 2  # each pair was counted from both ends


@contextmanager
def _one_thread() -> Iterator[None]:
    """The network is too small to share: with two threads on a busy machine it was seen to train 50 times slower."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Network(nn.Module):
    """Scores of the classes [B, C] from fields [B, w, K q]."""

    def __init__(self, width: int, length: int, classes: int) -> None:
        super().__init__()
        window = min(10, length)
        self.fields = nn.Linear(width, 16)  # a convolution of length and stride K over nodes is a product per field
        self.rows = nn.Conv1d(16, 8, window)
        self.dense = nn.Linear(8 * (length - window + 1), 128)
        self.dropout = nn.Dropout(0.5)
        self.scores = nn.Linear(128, classes)

    def forward(self, fields: Tensor) -> Tensor:
        rows = self.rows(self.fields(fields).relu().transpose(1, 2)).relu()
        return self.scores(self.dropout(self.dense(rows.flatten(1)).relu()))
