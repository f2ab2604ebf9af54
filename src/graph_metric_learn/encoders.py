"""Encoders: graphs in, node features out. The paper's SGCN, and the seam for any other `nn.Module`."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from .graphs import Graphs

PROPAGATIONS = ("symmetric", "sum")
ACTIVATIONS = ("relu", "none")


def propagate(graphs: Graphs, depth: int, propagation: str = "symmetric") -> np.ndarray:
    """S = Ã^r X of all graphs [S, q], float32: each node's features mixed with those of its r-hop surroundings.

    Parameters
    ----------
    graphs : Graphs
        With features x [S, q].
    depth : int
        The number of hops r >= 0.
    propagation : {"symmetric", "sum"}
        Ã = D^-1/2 (A + I) D^-1/2 with D the degrees of A + I; or plain A + I.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> edge = as_graphs([(np.array([[0, 1], [1, 0]]), np.array([[1.0], [3.0]]))])
    >>> propagate(edge, 1, "sum").ravel(), propagate(edge, 1, "symmetric").ravel().round(3)
    (array([4., 4.], dtype=float32), array([2., 2.], dtype=float32))
    """
    if propagation not in PROPAGATIONS:
        raise ValueError(f"unknown propagation={propagation!r}: use one of {', '.join(map(repr, PROPAGATIONS))}")
    if depth != int(depth) or depth < 0:
        raise ValueError(f"depth must be a whole number >= 0, got {depth!r}")
    assert graphs.x is not None
    n = len(graphs.x)
    mixing = graphs.adjacency + sparse.identity(n, dtype=np.float32, format="csr")
    if propagation == "symmetric":
        root = sparse.diags_array((1.0 / np.sqrt(graphs.degrees + 1.0)).astype(np.float32))
        mixing = root @ mixing @ root
    mixed = graphs.x
    for _ in range(int(depth)):
        mixed = mixing @ mixed
    return np.ascontiguousarray(mixed, dtype=np.float32)


class SGCN(nn.Module):
    r"""Simple graph convolution with one trainable matrix, :math:`Y = \mathrm{ReLU}(\tilde A^r X \Theta)`.

    Ã^r X holds no parameter: :meth:`prepare` computes it once, and `forward` is a product with Θ.

    Parameters
    ----------
    in_features, out_features : int
        q and p.
    depth, propagation
        See :func:`propagate`.
    activation : {"relu", "none"}
        What follows the product.
    seed : int, numpy.random.Generator or None
        For the Glorot-uniform start of Θ, U(±sqrt(6 / (q + p))).

    References
    ----------
    F. Wu et al., "Simplifying Graph Convolutional Networks", ICML 2019.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        depth: int = 2,
        propagation: str = "symmetric",
        activation: str = "relu",
        seed: Any = None,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation={activation!r}: use one of {', '.join(map(repr, ACTIVATIONS))}")
        self.depth, self.propagation, self.activation = depth, propagation, activation
        bound = math.sqrt(6.0 / (in_features + out_features))
        start = np.random.default_rng(seed).uniform(-bound, bound, size=(in_features, out_features))
        self.theta = nn.Parameter(torch.from_numpy(start.astype(np.float32)))

    def prepare(self, graphs: Graphs) -> Tensor:
        """Ã^r X of all nodes [S, q]."""
        return torch.from_numpy(propagate(graphs, self.depth, self.propagation)).to(self.theta.device)

    def forward(self, mixed: Tensor) -> Tensor:
        """Node features [S, p]."""
        product = mixed @ self.theta
        return product.relu() if self.activation == "relu" else product


def encode(module: nn.Module, graphs: Graphs) -> Tensor:
    """Node features of all graphs [S, p].

    The encoder gets what it asks for: Ã^r X (SGCN); x and edge_index, if its `forward` begins with these two, as the
    models of `torch_geometric.nn` do; else a PyG batch.
    """
    device = next((parameter.device for parameter in module.parameters()), torch.device("cpu"))
    if isinstance(module, SGCN):
        features = module(module.prepare(graphs))
    else:
        batch = graphs.to_batch(device)
        wants = list(inspect.signature(module.forward).parameters)[:2]
        try:
            features = module(batch.x, batch.edge_index) if wants == ["x", "edge_index"] else module(batch)
        except (RuntimeError, TypeError, AttributeError) as error:
            width = None if graphs.x is None else graphs.x.shape[1]
            raise ValueError(f"the encoder failed on a batch with {width} node features: {error}") from error
    if not isinstance(features, Tensor) or features.ndim != 2 or len(features) != int(graphs.sizes.sum()):
        shape = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise ValueError(f"the encoder returned {shape}, expected one row per node: ({int(graphs.sizes.sum())}, p)")
    return features
