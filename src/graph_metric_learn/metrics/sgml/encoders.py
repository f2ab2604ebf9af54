"""Encoders: graphs in, node features out. The paper's SGCN, and the seam for any other `nn.Module`."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...features.propagation import propagate
from ...graphs import Graphs

ACTIVATIONS = ("relu", "none")


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
