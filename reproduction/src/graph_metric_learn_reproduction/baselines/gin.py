"""Graph isomorphism networks: GIN, and GINE, which sees what edges carry."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from .network_inputs import Batch
from .networks import GraphNetwork, Setting


class GIN(GraphNetwork):
    """Graph isomorphism network [1]_: h(v) ← MLP((1 + ε) h(v) + Σ over neighbours u of h(u)), ε learned.

    Each layer is PyG's `GINConv` with an MLP of two linear maps, followed by batch normalisation and ReLU. As in the
    paper, the scores are the sum of a linear map of the readout of every level, the input among them, each with
    dropout; the readout is the sum and the mean over the nodes. Training and parameters: see `GraphNetwork`.

    References
    ----------
    .. [1] K. Xu, W. Hu, J. Leskovec, S. Jegelka. How Powerful are Graph Neural Networks? ICLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> ring, path = np.roll(np.eye(5), 1, 0) + np.roll(np.eye(5), -1, 0), np.eye(5, k=1) + np.eye(5, k=-1)
    >>> graphs, y = [(ring, None), (path, None)] * 10, ["ring", "path"] * 10
    >>> GIN(sizes=[(2, 8)], learning_rates=[0.01], epochs=30).fit(graphs, y).predict([(path, None)])
    array(['path'], dtype='<U4')
    """

    name = "gin"

    def build(self, width: int, edge_width: int, classes: int, setting: Setting) -> nn.Module:
        return IsomorphismNetwork(width, edge_width, classes, setting, self.dropout)


class GINE(GIN):
    """GIN with edge features [1]_: messages are ReLU(h(u) + a linear map of the edge's features), PyG's `GINEConv`.

    Labels of edges are one-hot, their vectors and weights standardised, and directed edges carry messages both ways,
    with a column that says which way they point. Edges without data have one feature, 1.

    References
    ----------
    .. [1] W. Hu, B. Liu, J. Gomes, M. Zitnik, P. Liang, V. Pande, J. Leskovec. Strategies for Pre-training Graph Neural
       Networks. ICLR 2020.
    """

    name = "gine"
    edges = True


class IsomorphismNetwork(nn.Module):
    """The network of GIN, and of GINE where arcs have features."""

    def __init__(self, width: int, edge_width: int, classes: int, setting: Setting, dropout: float) -> None:
        super().__init__()
        widths = [width] + [setting.width] * setting.layers
        self.layers = nn.ModuleList(
            IsomorphismLayer(inner, outer, edge_width) for inner, outer in itertools.pairwise(widths)
        )
        self.scores = nn.ModuleList(nn.Linear(2 * level, classes) for level in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Scores of the classes [B, C]."""
        h = batch.x
        sizes = torch.bincount(batch.owner, minlength=batch.n_graphs)[:, None]
        total = self._level(0, h, batch, sizes)
        for i, layer in enumerate(self.layers, start=1):
            h = layer(h, batch)
            total = total + self._level(i, h, batch, sizes)
        return total

    def _level(self, i: int, h: Tensor, batch: Batch, sizes: Tensor) -> Tensor:
        """What level i adds to the scores [B, C]."""
        sums = h.new_zeros(batch.n_graphs, h.shape[1]).index_add(0, batch.owner, h)
        return self.dropout(self.scores[i](torch.cat([sums, sums / sizes], dim=1)))


class IsomorphismLayer(nn.Module):
    """PyG's `GINConv`, or `GINEConv` where arcs have features, with batch normalisation and ReLU."""

    def __init__(self, inner: int, outer: int, edge_width: int = 0) -> None:
        from torch_geometric.nn import GINConv, GINEConv

        super().__init__()
        mlp = nn.Sequential(nn.Linear(inner, outer), nn.BatchNorm1d(outer), nn.ReLU(), nn.Linear(outer, outer))
        self.convolution = (
            GINEConv(mlp, train_eps=True, edge_dim=edge_width) if edge_width else GINConv(mlp, train_eps=True)
        )
        self.norm = nn.BatchNorm1d(outer)

    def forward(self, h: Tensor, batch: Batch) -> Tensor:
        """Features of nodes [S, outer], from those before [S, inner]."""
        edge_x = () if batch.edge_x is None else (batch.edge_x,)
        return self.norm(self.convolution(h, batch.arcs, *edge_x)).relu()
