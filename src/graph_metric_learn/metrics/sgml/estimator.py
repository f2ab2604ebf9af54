"""SGML: learns a distance between graphs, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from ..._core.validation import draw_seed
from ...features import NodeFeatures
from ...features.edge_sums import EdgeSums
from ...graphs import Columns, Graphs
from ...io.models import opened_model
from ...objectives import Objective
from ...transport import Curves, curve_vectors
from ...transport.curves import resolve
from ...transport.devices import resolve_device
from ..base import BaseGraphMetric
from ..explanation import Explanation
from ..unused import warn_unused
from . import inputs
from .encoders import SGCN, encode, redraw_dead
from .matching import explain_pair
from .state import fitted_state, restored
from .training import History, TrainingOptions, train
from .training.batch_distances import CurveRule

_SOME = 200  # graphs by which it is seen whether the encoder makes nothing but zeros
_LARGE_BATCH = 64  # from which device="auto" takes the GPU: the measured crossover


class SGML(BaseGraphMetric):
    """Simple Graph Metric Learning: a trainable distance between attributed graphs.

    A graph's nodes go through a simple graph convolution with one small matrix Θ; its distance to another graph is the
    Restricted Projected Wasserstein distance between the two clouds of node features; Θ is trained so that graphs of
    one class, or of like numbers, are near each other [1]_. New graphs need no retraining.

    Parameters
    ----------
    depth : int
        Hops r of the convolution.
    n_components : int
        Output features p; at most as many as input features.
    distance : {"rpw", "pw", "sw"}
        What compares two clouds.
    loss : {"nccml", "nccml-paper", "nca", "nca-paper", "mlkr"}, callable or pytorch-metric-learning loss
        "mlkr" learns from numbers, the others from classes. A callable takes (squared distances [B, B], targets):
        classes [B], or standardised numbers [B, T], NaN where one is missing.
    n_epochs, batch_size, learning_rate
        Of the training. n_epochs=0 leaves Θ as it was drawn.
    features : {"auto", "x", "attributes", "labels", "degree", "fuse"}
        Node features, see :class:`NodeFeatures`. "auto" with a name for `label` is "fuse" where nodes have vectors too.
    propagation : {"symmetric", "sum", "in", "out"}
        How features go along edges, see :class:`SGCN`; "in" and "out" follow directions. All use weights of edges.
    activation : {"relu", "none"}
        See :class:`SGCN`.
    ties : {"canonical", "first"}
        See :func:`rpw_distance`.
    n_projections : int
        Directions for "pw" and "sw", drawn once.
    encoder : torch.nn.Module, optional
        Takes a PyG batch, returns node features [S, p]; stands in place of the SGCN. It is copied, then trained.
    restart_optimizer : bool
        Whether Adam starts anew at every epoch, as in the authors' code.
    batching : {"covered", "shuffled"}
        Whether batches of a single class are avoided. For numbers, batches are always shuffled.
    n_cells : int
        Cells per curve of the vectors that `transform` gives.
    warm_start : bool
        Whether `fit` goes on from the present encoder and features.
    device : {"auto", "cpu", "cuda", …}
        Where to train and compute. "auto" trains on a GPU, if there is one, in batches of 64 and more: a step with 8
        graphs of 30 nodes takes 0.5 ms on a CPU and 6 ms on an H200, with 32 graphs 4 and 7 ms, with 64 graphs 22 and
        9 ms, with 512 graphs 760 and 15 ms. Many distances at once take the GPU too. `to` moves a fitted metric.
    random_state : int, numpy.random.Generator or None
        One seed gives one result, bit by bit, on one machine.
    attribute, label, edge_attribute, edge_label, edge_weight : str
        Names of what nodes and edges carry, see :func:`as_graphs`.
    progress : bool, optional
        Progress bar; by default on a terminal, for training that takes more than a second.
    edges : {"auto", False}
        False ignores what edges carry: the paper's reading.
    directed : {"auto", True, False}
        Whether edges have directions, see :func:`as_graphs`. "auto" decides in `fit`; new graphs are read likewise.
    edge_sums : bool
        Whether nodes also get the sums and means of the labels, vectors, weights and squared weights of their edges,
        standardised; see :class:`EdgeSums`. Without it SGML uses weights only, and `fit` warns of what it leaves out.
    task : {"auto", "classes", "numbers"}
        What y holds. "auto": classes for strings and whole numbers; numbers for others, and for several columns.
    masses : {"uniform", "learned"}
        Whether nodes of a graph count alike or, "learned", by attention: the mass of a node is proportional to
        exp(<s, u>), s being its propagated features, scaled, and u a vector that is learned beside Θ, from 0. Training
        is then slower: pairs of curves with unequal steps share no grid, and autograd walks along each.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained encoder.
    features_ : NodeFeatures
        The fitted features.
    edge_sums_ : EdgeSums or None
        The fitted sums over edges, beside them.
    directed_ : bool
        Whether the graphs of `fit` had directions.
    objective_ : Classes or Numbers
        What the targets were: `classes_`, or the mean and scale of numbers.
    classes_ : ndarray
        Class labels seen, where the targets were classes.
    history_ : History
        Loss and seconds per epoch.

    References
    ----------
    .. [1] Y. Kaloga, P. Borgnat, A. Habrard, "A Simple Way to Learn Metrics Between Attributed Graphs", LoG 2022.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> metric = gml.SGML(random_state=0).fit(graphs, y)
    >>> distances = metric.pairwise_distances([nx.cycle_graph(20), nx.star_graph(20)], graphs)
    >>> [y[i] for i in distances.argmin(1)]
    ['ring', 'star']
    """

    def __init__(
        self,
        depth: int = 2,
        n_components: int = 5,
        distance: str = "rpw",
        loss: Any = "nccml",
        n_epochs: int = 10,
        batch_size: int = 8,
        learning_rate: float = 0.999e-2,
        features: str = "auto",
        propagation: str = "symmetric",
        activation: str = "relu",
        ties: str = "canonical",
        n_projections: int = 50,
        encoder: torch.nn.Module | None = None,
        restart_optimizer: bool = True,
        batching: str = "covered",
        n_cells: int = 16,
        warm_start: bool = False,
        device: str = "auto",
        random_state: Any = None,
        attribute: str = "x",
        label: str | None = None,
        progress: bool | None = None,
        edge_attribute: str | None = None,
        edge_label: str | None = None,
        edge_weight: str | None = "weight",
        edges: Any = "auto",
        directed: Any = "auto",
        edge_sums: bool = False,
        task: str = "auto",
        masses: str = "uniform",
    ) -> None:
        self.depth = depth
        self.n_components = n_components
        self.distance = distance
        self.loss = loss
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.features = features
        self.propagation = propagation
        self.activation = activation
        self.ties = ties
        self.n_projections = n_projections
        self.encoder = encoder
        self.restart_optimizer = restart_optimizer
        self.batching = batching
        self.n_cells = n_cells
        self.warm_start = warm_start
        self.device = device
        self.random_state = random_state
        self.attribute = attribute
        self.label = label
        self.progress = progress
        self.edge_attribute = edge_attribute
        self.edge_label = edge_label
        self.edge_weight = edge_weight
        self.edges = edges
        self.directed = directed
        self.edge_sums = edge_sums
        self.task = task
        self.masses = masses

    # --- learning ------------------------------------------------------------------------------------------------

    objective_: Objective

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> SGML:
        """Learns the metric.

        Parameters
        ----------
        graphs : list of graphs, PyG dataset or Batch
            See :func:`as_graphs`.
        y : array [N] or [N, T], optional
            Classes (whole numbers or strings) or, with ``loss="mlkr"``, numbers: one per graph, or several, where NaN
            means missing. Taken from the graphs (`Data.y`) when None.
        groups : ignored
            SGML makes no folds. The argument is there for predictors, which pass it to any metric.
        """
        graphs = self.read_new(graphs)
        warn_unused(graphs, inputs.used_of_edges(self), hint=inputs.HINT)
        return self.fit_read(graphs, y)

    def fit_read(self, given: Graphs, y: Any, task: str | None = None) -> SGML:
        """`fit` on graphs that were read already, for a `task`, without a word on what SGML does not use of them."""
        target, rng = self.begin(given, y, task)
        return self._train(given, target, rng, self._training_options())

    def begin(self, given: Graphs, y: Any, task: str | None = None) -> tuple[np.ndarray, np.random.Generator]:
        """All of `fit` that comes before training: checks, features, encoder.

        Returns encoded targets, classes [N] or numbers [N, T], and a source of randomness for the batches.
        """
        inputs.check_options(self)
        _, objective, target = inputs.encode_targets(self.task if task is None else task, self.loss, given, y)
        self.seed_ = draw_seed(self.random_state)
        rng = np.random.default_rng(self.seed_)
        if not (self.warm_start and hasattr(self, "module_")):
            self._start(given, rng)
        self.objective_ = objective
        return target, rng

    def partial_fit(self, graphs: Any, y: Any = None, n_epochs: int | None = None) -> SGML:
        """Trains on from the present encoder, on these graphs; `n_epochs` more epochs. Classes may be new."""
        if not hasattr(self, "module_"):
            return self.fit(graphs, y)
        inputs.check_options(self)
        graphs = self.read(graphs)
        warn_unused(graphs, inputs.used_of_edges(self), hint=inputs.HINT)
        inputs.check_loss_fits(self.loss, inputs.task_of_objective(self.objective_))
        target = inputs.encode_more(self.objective_, graphs, y)
        rng = np.random.default_rng([self.seed_ or 0, len(self.history_.loss)])
        options = self._training_options()
        return self._train(graphs, target, rng, options if n_epochs is None else replace(options, n_epochs=n_epochs))

    def _start(self, graphs: Graphs, rng: np.random.Generator) -> None:
        """Fits the features, makes the encoder and draws the directions."""
        self.module_: torch.nn.Module
        both = self.label is not None and graphs.x is not None  # labels that were asked for by name are not left out
        self.features_ = NodeFeatures("fuse" if self.features == "auto" and both else self.features).fit(graphs)
        if graphs.x is not None and self.features_.kind_ == "x":
            inputs.warn_of_offsets(graphs.x)
        data = graphs.edge_data
        self.directed_, self.weighted_ = (False, False) if data is None else (data.directed, data.weights is not None)
        self.edge_sums_ = EdgeSums().fit(graphs) if self.edge_sums and data is not None else None
        uses_vectors = "edge vectors" in inputs.used_of_edges(self)  # columns that are not used may differ
        self.columns_ = Columns.of(graphs, nodes=hasattr(self.features_, "n_attributes_"), edges=uses_vectors)
        if self.encoder is None:
            width = self.features_.width_ + (0 if self.edge_sums_ is None else self.edge_sums_.width)
            p = min(self.n_components, width)
            self.module_ = SGCN(
                width, p,
                depth=self.depth, propagation=self.propagation, activation=self.activation, seed=rng,
                learned_masses=self.masses == "learned",
            )  # fmt: skip
            prepared = self.module_.prepare(self.node_features(graphs if self.masses == "learned" else graphs[:_SOME]))
            self.module_.set_scale(prepared)
            redraw_dead(self.module_, prepared, rng)
        else:
            self.module_ = deepcopy(self.encoder)
            with torch.no_grad():
                p = encode(self.module_.eval(), self.node_features(graphs[:1])).shape[1]
        self.module_.to(self.training_device())
        directions, carry = resolve(self.distance, p, self.n_projections, None, rng, torch.empty(0))
        self.rule_ = CurveRule(directions, carry, self.ties)
        self.history_ = History()

    def _training_options(self) -> TrainingOptions:
        return TrainingOptions(
            self.loss, self.n_epochs, self.batch_size, self.learning_rate, self.restart_optimizer, self.batching,
            self.n_cells,
        )  # fmt: skip

    def _train(self, graphs: Graphs, target: np.ndarray, rng: np.random.Generator, options: TrainingOptions) -> SGML:
        features = self.node_features(graphs)
        train(
            self.module_, features, target, self.rule_, options, rng=rng, history=self.history_, progress=self.progress
        )
        inputs.warn_of_zeros(self.module_.eval(), features[:_SOME])
        return self

    # --- reading graphs ------------------------------------------------------------------------------------------

    def read(self, graphs: Any) -> Graphs:
        """Graphs of any supported kind as one collection, with directions and weights only if those in `fit` had."""
        graphs = super().read(graphs)
        data = graphs.edge_data
        if data is None or data.weights is None or getattr(self, "weighted_", True):
            return graphs
        return replace(graphs, edge_data=replace(data, weights=None))

    def read_new(self, graphs: Any) -> Graphs:
        """The same for `fit`, which decides anew on directions, weights and columns, unless it goes on."""
        return self.read(graphs) if self.warm_start and hasattr(self, "module_") else super().read_new(graphs)

    def node_features(self, given: Graphs) -> Graphs:
        """Graphs that were read, with the matrix that the encoder takes as their `x`."""
        ready = self.features_.transform(given)
        if self.edge_sums_ is None:
            return ready
        assert ready.x is not None
        return replace(ready, x=np.concatenate([ready.x, self.edge_sums_.transform(given)], axis=1), columns=None)

    # --- using the metric ----------------------------------------------------------------------------------------

    embedding_type = Curves

    def embed(self, graphs: Any) -> Curves:
        """The graphs as curves: sorted once, to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        check_is_fitted(self, "module_")
        parts = list(self.by_chunks(inputs.curves_of, graphs))
        return parts[0] if len(parts) == 1 else Curves.concatenate(parts)

    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32, whose Euclidean distance is never more than the distance of the graphs."""
        return curve_vectors(self.embed(graphs), self.n_cells)

    def explain(self, graph: Any, other: Any) -> Explanation:
        return next(self.explain_pairs([graph, other], [(0, 1)])).drawn_as([graph, other])

    def explain_pairs(self, graphs: Any, pairs: Any) -> Iterator[Explanation]:
        check_is_fitted(self, "module_")
        ready = self.node_features(self.read(graphs))
        return (explain_pair(self.module_, ready[list(pair)], self.rule_) for pair in pairs)

    # --- keeping it ----------------------------------------------------------------------------------------------

    def to(self, device: Any) -> SGML:
        """Moves the fitted metric to a device, where it is used and trained from then on."""
        check_is_fitted(self, "module_")
        self.module_.to(resolve_device(device))
        self.device = str(device)
        return self

    takes_encoder = True

    @classmethod
    def load(cls, path: str | Path, *, encoder: torch.nn.Module | None = None) -> SGML:
        """The metric saved in a folder, on the CPU; for one with an `encoder` of its own, with this module."""
        with opened_model(path, cls.__name__) as (_, config, tensors):
            return cls.from_state(config, tensors, encoder=encoder)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        check_is_fitted(self, "module_")
        return fitted_state(self)

    @classmethod
    def from_state(
        cls, config: dict[str, Any], tensors: dict[str, np.ndarray], *, encoder: torch.nn.Module | None = None
    ) -> SGML:
        return restored(cls, config, tensors, encoder)

    def embedded_shape(self) -> tuple[int | None, ...]:
        width = self.module_.theta.shape[1] if isinstance(self.module_, SGCN) else None
        directions = self.rule_.directions
        return width if directions is None else directions.shape[1], 1 if self.distance == "sw" else width

    @property
    def classes_(self) -> np.ndarray:
        """Class labels seen [C], where the targets were classes."""
        check_is_fitted(self, "objective_")
        return self.objective_.classes_  # type: ignore[attr-defined]  # of objectives that have classes

    # --- what follows from the options -----------------------------------------------------------------------------

    def training_device(self) -> torch.device:
        """Where `fit` trains."""
        large = self.batch_size >= _LARGE_BATCH and torch.cuda.is_available()
        return resolve_device(self.device, auto="cuda" if large else "cpu")
