"""Networks that compare a graph with learned templates by optimal transport: TFGW and TW pooling."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from .gin import IsomorphismLayer
from .network_inputs import Batch
from .networks import GraphNetwork, Setting

TEMPLATES, TEMPLATE_NODES = 8, 6


class TFGW(GraphNetwork):
    """Template-based network [1]_: fused Gromov-Wasserstein distances to learned templates, then a linear map.

    Layers of GIN make the node features; `ot.gnn.TFGWPooling` of POT compares them and the edges with 8 templates of 6
    nodes each, whose features, edges and masses are learned, as is the balance α of features and structure. The
    distances are normalised over the batch, and a linear map with dropout makes scores of them. Every distance of every
    step is a transport problem, solved on the CPU: this is for small datasets. Training and parameters: see
    `GraphNetwork`.

    References
    ----------
    .. [1] C. Vincent-Cuaz, R. Flamary, M. Corneli, T. Vayer, N. Courty. Template based Graph Neural Network with
       Optimal Transport Distances. NeurIPS 2022.
    """

    name = "tfgw"
    needs = ("ot",)
    default_sizes = ((2, 16),)
    default_rates = (1e-2,)
    on_gpu = False  # POT's layer makes its own tensors, on the CPU

    def __init__(self, *, epochs: int = 100, patience: int = 20, device: Any = "cpu", **options: Any) -> None:
        super().__init__(epochs=epochs, patience=patience, device=device, **options)

    def build(self, width: int, edge_width: int, classes: int, setting: Setting) -> nn.Module:
        return TemplateNetwork(width, classes, setting, self.dropout, self._pooling(setting.width))

    def _pooling(self, width: int) -> nn.Module:
        from ot.gnn import TFGWPooling

        return TFGWPooling(width, n_tplt=TEMPLATES, n_tplt_nodes=TEMPLATE_NODES)


class TW(TFGW):
    """The same with Wasserstein distances between node features alone [1]_: `ot.gnn.TWPooling`.

    References
    ----------
    .. [1] G. Bécigneul, O.-E. Ganea, B. Chen, R. Barzilay, T. Jaakkola. Optimal Transport Graph Neural Networks. 2020.
    """

    name = "tw"

    def _pooling(self, width: int) -> nn.Module:
        from ot.gnn import TWPooling

        return TWPooling(width, n_tplt=TEMPLATES, n_tplt_nodes=TEMPLATE_NODES)


class TemplateNetwork(nn.Module):
    """Layers of GIN, distances to templates, and a linear map."""

    def __init__(self, width: int, classes: int, setting: Setting, dropout: float, pooling: nn.Module) -> None:
        super().__init__()
        widths = [width] + [setting.width] * setting.layers
        self.layers = nn.ModuleList(IsomorphismLayer(inner, outer) for inner, outer in itertools.pairwise(widths))
        self.pooling = pooling
        self.pooled = nn.BatchNorm1d(TEMPLATES)
        self.dropout, self.scores = nn.Dropout(dropout), nn.Linear(TEMPLATES, classes)

    def forward(self, batch: Batch) -> Tensor:
        """Scores of the classes [B, C]."""
        h = batch.x
        for layer in self.layers:
            h = layer(h, batch)
        with _quiet():
            distances = self.pooling(h, batch.arcs, batch.owner)
        return self.scores(self.dropout(self.pooled(distances)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without POT's warnings that a solver reached its last iteration: the layer's own limit is low on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
