"""Encoders: graphs in, node features out. The paper's SGCN, and what any other `nn.Module` must do to be one.

An encoder returns node features [S, p], one row per node. It is called in one of three ways:

- It may have a method ``prepare(graphs) -> Tensor [S, q]`` for the part of its work that holds no parameter. That part
  is computed once, not in every training step, and `forward` gets its rows: those of all nodes, or of a batch.
- Else, if its `forward` begins with the arguments `x` and `edge_index`, as the models of `torch_geometric.nn` do, it
  gets these two.
- Else it gets a PyG batch.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..._core.validation import one_of, whole_number
from ...features.propagation import PROPAGATIONS, propagate
from ...graphs import Graphs

ACTIVATIONS = ("relu", "none")
DIRECTED = ("in", "out")  # propagations that follow the directions of edges
MASSES = ("uniform", "learned")
_REDRAWS = 20
_FINEST = 2.0**-40  # masses are multiples of it: sums of up to 8192 of them are exact in float64, in any order


class SGCN(nn.Module):
    r"""Simple graph convolution with one trainable matrix, :math:`Y = \mathrm{ReLU}(\tilde A^r X \Theta)`.

    Ã^r X holds no parameter: :meth:`prepare` computes it once, and `forward` is a product with Θ.

    Parameters
    ----------
    in_features, out_features : int
        q and p.
    depth : int
        Hops r.
    propagation : {"symmetric", "sum", "in", "out"}
        Ã, see :func:`propagate`; "in" and "out" follow the directions of edges, see :func:`propagate_directed`.
    activation : {"relu", "none"}
        What follows the product.
    seed : int, numpy.random.Generator or None
        For the start of Θ.
    learned_masses : bool
        Whether node i has a mass proportional to exp(<s_i / σ, u>), with s_i its row of Ã^r X, σ the scale of each
        column (:meth:`set_scale`) and one trainable vector u, the parameter `attention`, that starts at 0. Otherwise
        all nodes of a graph have the same mass.

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
        learned_masses: bool = False,
    ) -> None:
        super().__init__()
        self.depth = depth
        self.propagation = one_of("propagation", propagation, (*PROPAGATIONS, *DIRECTED))
        self.activation = one_of("activation", activation, ACTIVATIONS)
        self.theta = nn.Parameter(torch.empty(in_features, out_features, dtype=torch.float32))
        self._draw(np.random.default_rng(seed))
        self.attention: nn.Parameter | None
        self.scale: Tensor | None
        self.register_parameter("attention", nn.Parameter(torch.zeros(in_features)) if learned_masses else None)
        self.register_buffer("scale", torch.ones(in_features) if learned_masses else None)

    @torch.no_grad()
    def _draw(self, rng: np.random.Generator) -> None:
        """Draws Θ, Glorot-uniform: U(±sqrt(6 / (q + p)))."""
        bound = math.sqrt(6.0 / sum(self.theta.shape))
        self.theta.copy_(torch.from_numpy(rng.uniform(-bound, bound, size=tuple(self.theta.shape)).astype(np.float32)))

    def prepare(self, graphs: Graphs) -> Tensor:
        """Propagated features Ã^r X of all nodes [S, q]."""
        step = propagate_directed if self.propagation in DIRECTED else propagate
        return torch.from_numpy(step(graphs, self.depth, self.propagation)).to(self.theta.device)

    def forward(self, propagated: Tensor) -> Tensor:
        """Node features [S, p]."""
        product = propagated @ self.theta
        return product.relu() if self.activation == "relu" else product

    def set_scale(self, propagated: Tensor) -> None:
        """Takes σ, by which masses see the columns, from propagated features [S, q]: their standard deviations.

        Masses are exponential in the features: steps of one length in u suit columns of any unit only if these are
        scaled. Columns that do not vary keep their scale of 1.
        """
        if self.scale is not None:
            spread = propagated.double().std(0, correction=0)
            varies = spread > 1e-6 * propagated.double().abs().amax(0)
            self.scale.copy_(torch.where(varies, spread, torch.ones_like(spread)))

    def masses(self, propagated: Tensor, sizes: np.ndarray) -> Tensor | None:
        """Masses of the nodes [S], float64, adding up to 1 in each graph; None where they are not learned."""
        if self.attention is None or self.scale is None:
            return None
        return softmax_within((propagated.double() * (self.attention.double() / self.scale)).sum(1), sizes)


@torch.no_grad()
def redraw_dead(module: SGCN, prepared: Tensor, rng: np.random.Generator) -> None:
    """Draws Θ anew, up to 20 times, while it makes nothing but zeros of these nodes [S, q]: such a Θ cannot learn."""
    for _ in range(_REDRAWS):
        if not len(prepared) or bool(module(prepared).any()):
            return
        module._draw(rng)


def takes_batch(module: nn.Module) -> bool:
    """Whether the encoder has no `prepare`, and gets a PyG batch or parts of one: nodes and edges, no edge data."""
    return not callable(getattr(type(module), "prepare", None))  # of the class: a layer may happen to have this name


def prepare(module: nn.Module, graphs: Graphs) -> Tensor | None:
    """What the encoder's own `prepare` computes for these graphs [S, q]; None if it has no such method."""
    return None if takes_batch(module) else module.prepare(graphs)  # type: ignore[operator]


def encode(module: nn.Module, graphs: Graphs) -> Tensor:
    """Node features of all graphs [S, p], by an encoder of any of the three kinds (see the top of this file)."""
    return encode_measures(module, graphs)[0]


def encode_measures(module: nn.Module, graphs: Graphs) -> tuple[Tensor, Tensor | None]:
    """Node features of all graphs [S, p], and the masses of the nodes [S]; None where they are uniform."""
    prepared = prepare(module, graphs)
    features = _encode_batch(module, graphs) if prepared is None else module(prepared)
    if not isinstance(features, Tensor) or features.ndim != 2 or len(features) != int(graphs.sizes.sum()):
        shape = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise ValueError(f"the encoder returned {shape}, expected one row per node: ({int(graphs.sizes.sum())}, p)")
    return features, node_masses(module, prepared, graphs.sizes)


def node_masses(module: nn.Module, prepared: Tensor | None, sizes: np.ndarray) -> Tensor | None:
    """Masses of nodes [S] by what `prepare` returned for them; None where they are uniform."""
    return module.masses(prepared, sizes) if isinstance(module, SGCN) and prepared is not None else None


def _encode_batch(module: nn.Module, graphs: Graphs) -> Any:
    """What an encoder without `prepare` returns; its failures become a `ValueError` that names the encoder."""
    device = next((parameter.device for parameter in module.parameters()), torch.device("cpu"))
    batch = graphs.to_batch(device)
    arguments = list(inspect.signature(module.forward).parameters)[:2]
    try:
        return module(batch.x, batch.edge_index) if arguments == ["x", "edge_index"] else module(batch)
    except (RuntimeError, TypeError, AttributeError) as error:
        width = None if graphs.x is None else graphs.x.shape[1]
        raise ValueError(f"the encoder failed on a batch with {width} node features: {error}") from error


# --- what SGCN is made of: propagation along directions, and masses that add up to 1 ---------------------------------


def propagate_directed(graphs: Graphs, depth: int, along: str = "in") -> np.ndarray:
    """Features mixed along the directions of edges: Ã^r X of all graphs [S, q], float32, with Ã = D^-1 (W + I).

    Means over a node and those on one side of its edges. Computed in float64 and rounded once, as :func:`propagate`.

    along : {"in", "out"}
        "in": W_ij is the weight of the edge j -> i, features go along the arrows; "out": of i -> j, against them. Edges
        without weights have weight 1 (parallel ones once), those without directions count both ways; weights of
        parallel edges add up, and the mean absolute weight of each graph is 1. D holds the row sums of |W| + I.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> arrow = as_graphs([(np.array([[0, 1], [0, 0]]), np.array([[1.0], [3.0]]))], directed=True)
    >>> propagate_directed(arrow, 1, "in").ravel(), propagate_directed(arrow, 1, "out").ravel()
    (array([1., 2.], dtype=float32), array([2., 3.], dtype=float32))
    """
    one_of("propagation", along, DIRECTED)
    assert graphs.x is not None
    weights = _neighbour_weights(graphs, along)
    total = 1.0 + np.asarray(abs(weights).sum(1), dtype=np.float64)[:, None]
    mixed = graphs.x.astype(np.float64)
    for _ in range(whole_number("depth", depth, 0)):
        mixed = (mixed + weights @ mixed) / total
    return mixed.astype(np.float32)


def _neighbour_weights(graphs: Graphs, along: str) -> Any:
    """W, a scipy sparse array [S, S], float64."""
    data = graphs.edge_data
    if data is None or not data.directed:
        return graphs.adjacency.astype(np.float64) if graphs.weights is None else graphs.weights
    weights = np.ones(data.ends.shape[1]) if data.weights is None else data.weights
    ends = data.ends[::-1] if along == "in" else data.ends
    one_way = replace(graphs, edge_data=replace(data, ends=ends, weights=weights, directed=False)).weights
    one_way.sum_duplicates()
    if data.weights is None:
        one_way.data[:] = 1.0
    return one_way


def softmax_within(scores: Tensor, sizes: np.ndarray) -> Tensor:
    """Masses [S], float64, proportional to exp(score) of scores [S], that add up to 1 in each graph; differentiable.

    sizes [G]: nodes of each graph. Masses are rounded to multiples of 2^-40, and are no smaller than that: sums are
    then the same in any order of the nodes, so that a graph and its renumbering are at distance 0. The gradient is that
    of the softmax.

    Examples
    --------
    >>> softmax_within(torch.tensor([0.0, 0.0, 5.0, 5.0, 5.0, 5.0]), np.array([2, 4]))
    tensor([0.5000, 0.5000, 0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """
    scores, count = scores.double(), len(sizes)
    nodes = torch.as_tensor(sizes, device=scores.device)
    owner = torch.repeat_interleave(torch.arange(count, device=scores.device), nodes, output_size=len(scores))
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    weights = _rounded((scores - largest[owner]).exp())
    totals = weights.new_zeros(count).index_add(0, owner, weights)
    return _rounded(weights / totals[owner])


def _rounded(values: Tensor) -> Tensor:
    """Values as positive multiples of `_FINEST`; the gradient is that of the values as they are."""
    nearest = (values.detach() / _FINEST).round().clamp(min=1.0) * _FINEST
    return values + (nearest - values.detach())
