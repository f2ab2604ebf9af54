"""GraphMetric: a distance between graphs that finds out by itself what to look at."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from ..._core.validation import draw_seed, one_of, whole_number
from ...embeddings import EMBEDDINGS
from ...features.blocks import NodeBlocks
from ...features.edge_cloud import cloud_edges, edge_rows
from ...features.edge_reading import EdgeReading
from ...features.onehot import code_columns, without_codes
from ...graphs import Columns, Graphs
from ...objectives import OBJECTIVES, resolve_objective
from ...persistence.models import strip_prefix
from ...transport import Vectors, pairwise_distances
from ..base import BaseGraphMetric
from ..explanation import Explanation
from ..unused import warn_unused
from .candidates import candidate_blocks
from .learning import Stage
from .reweighting import LowRankMap
from .sample import Blocks, Sample, side_by_side
from .selection import Choice, select_terms
from .stages import Learned, learn_stages
from .terms import Term

_MAX_NODES, _MIN_GRAPHS = 80_000, 100  # the choice is made on at most 80,000 nodes, but at least 100 graphs
_MAX_ARCS = 4_000_000  # the same for edges that carry something, counted in both directions
_SCREENED_ON = 600  # graphs that all candidates are tried on, at most


class GraphMetric(BaseGraphMetric):
    """A distance between graphs, chosen and weighted by the training graphs themselves. No options needed.

    Nodes are described by blocks of features (attributes, labels, degrees, structure at several hops, the trees around
    them); a graph is the cloud of its nodes; a cloud becomes a vector (its mean, transport to a reference cloud,
    projected transport along principal axes, a histogram); the squared distance is a weighted sum over a few such
    vectors. Which ones, and with which weights, is decided by leave-one-out neighbours among the training graphs. Then
    weights of blocks, weights of columns and a map of low rank are learned, in this order, and each is kept only if it
    improves the classification of graphs that it was not learned from.

    Parameters
    ----------
    features : "auto" or list of str
        Blocks of node features, such as ["attributes@0", "wl@1"], see :class:`NodeBlocks`; "auto" chooses, and reads
        one-hot columns of node features as labels.
    embedding : {"auto", "mean", "reference", "axes", "histogram"}
        How a cloud becomes a vector; "auto" chooses. A histogram is for blocks of trees, and for them alone.
    n_steps : int
        Steps in which the sum is built, see :func:`selection.choose`; 1 chooses the best part alone.
    learn : bool
        Whether to try learning, after the choice.
    n_graphs : int
        How many training graphs the choice is made on at most; fewer where graphs are large: at most 80,000 nodes in
        all, but at least 100 graphs.
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine.
    attribute, label : str
        Names of the node features and labels, see :func:`as_graphs`.
    progress : bool, optional
        Progress bars, of the candidates in `fit` and of many distances; by default on a terminal, where it takes long.
    task : {"auto", "classes"}
        What the distance is for, a name in `objectives.OBJECTIVES`; "auto" is classes.
    edge_attribute, edge_label, edge_weight : str, optional
        Names of what edges carry, see :func:`as_graphs`. One-hot vectors are read as labels.
    edges : {"auto", False}
        False reads edges without what they carry.
    directed : {"auto", True, False}
        Whether edges have directions, see :func:`as_graphs`; new graphs are read as those in `fit`.

    Attributes
    ----------
    terms_ : list of Term
        The parts of the distance.
    choice_ : Choice
        Scores of all candidates, and the path to the chosen sum.
    stages_ : list of Stage
        What learning was tried, and what was kept.
    report_ : str
        The same in a sentence.
    classes_ : ndarray
        Class labels seen.
    label_columns_ : ndarray [q]
        Which columns of the node features are a one-hot code: read as labels, or left out where nodes have labels that
        say the same. Empty where node features were named, or nodes have none.
    labelled_ : bool
        Whether nodes have labels of their own.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    >>> distances = metric.pairwise_distances([nx.cycle_graph(20), nx.star_graph(20)], graphs)
    >>> [y[i] for i in distances.argmin(1)]
    ['ring', 'star']
    """

    def __init__(
        self,
        features: Any = "auto",
        embedding: str = "auto",
        n_steps: int = 8,
        learn: bool = True,
        n_graphs: int = 2000,
        random_state: Any = None,
        attribute: str = "x",
        label: str | None = None,
        progress: bool | None = None,
        task: str = "auto",
        edge_attribute: str | None = None,
        edge_label: str | None = None,
        edge_weight: str | None = "weight",
        edges: Any = "auto",
        directed: Any = "auto",
    ) -> None:
        self.features = features
        self.embedding = embedding
        self.n_steps = n_steps
        self.learn = learn
        self.n_graphs = n_graphs
        self.random_state = random_state
        self.attribute = attribute
        self.label = label
        self.progress = progress
        self.task = task
        self.edge_attribute = edge_attribute
        self.edge_label = edge_label
        self.edge_weight = edge_weight
        self.edges = edges
        self.directed = directed

    # --- learning ------------------------------------------------------------------------------------------------

    blocks_: NodeBlocks

    def fit(self, graphs: Any, y: Any = None) -> GraphMetric:
        """Chooses the metric.

        Parameters
        ----------
        graphs : list of graphs, PyG dataset or Batch
            See :func:`as_graphs`.
        y : array [N], optional
            Class labels, numbers or strings; taken from the graphs (`Data.y`) when None.
        """
        began = time.perf_counter()
        self._check_options()
        given = self.read_new(graphs)
        objective = resolve_objective(self.task)
        target = objective.encode(given, y)
        self.objective_ = objective
        self.label_columns_ = code_columns(given) if isinstance(self.features, str) else np.zeros(0, dtype=bool)
        self.labelled_ = given.labels is not None
        self.edge_reading_, self.columns_ = EdgeReading.of(given), Columns.of(given)
        self.directed_ = self.edge_reading_.directed
        warn_unused(given, {"edge labels", "edge vectors", "edge weights", "edge directions"})
        given = self._as_fitted(given)
        self.seed_ = draw_seed(self.random_state)
        rng = np.random.default_rng(self.seed_)
        candidates = candidate_blocks(self.features, self.embedding, given)
        sample = self._sample(given, target, candidates, rng)
        screening = sample.part(self.objective_.subsample(sample.target, _SCREENED_ON, rng))
        terms, self.choice_ = select_terms(
            candidates, self.embedding, self.objective_, sample, screening,
            n_steps=self.n_steps, rng=rng, progress=self.progress,
        )  # fmt: skip
        learned = learn_stages(terms, sample, self.objective_, rng) if self.learn else Learned(terms)
        self.terms_, self.low_rank_, self.stages_ = learned.terms, learned.low_rank, learned.stages
        self.blocks_ = self.blocks_.only(list(dict.fromkeys(name for term in self.terms_ for name in term.names)))
        self.seconds_ = time.perf_counter() - began
        return self

    def _sample(
        self, given: Graphs, target: np.ndarray, candidates: dict[str, list[str]], rng: np.random.Generator
    ) -> Sample:
        """The training graphs that the choice is made on, with the blocks that the candidates need."""
        names = list(dict.fromkeys(name for blocks in candidates.values() for name in blocks))
        most = min(self.n_graphs, max(_MIN_GRAPHS, int(_MAX_NODES / given.sizes.mean())))
        if given.edge_data is not None:
            arcs = given.edge_data.ends.shape[1] / len(given)
            most = min(most, max(_MIN_GRAPHS, int(_MAX_ARCS / max(arcs, 1))))
        some = self.objective_.subsample(target, most, rng)
        self.blocks_ = NodeBlocks().fit(given, names, sample=some)
        here = given[some]
        blocks = dict(zip(names, self.blocks_.transform(here), strict=True))
        return Sample(blocks, self.blocks_.sizes(here), target[some])

    def _check_options(self) -> None:
        whole_number("n_steps", self.n_steps, 1)
        whole_number("n_graphs", self.n_graphs, 4)
        one_of("embedding", self.embedding, ("auto", *EMBEDDINGS))
        one_of("task", self.task, ("auto", *OBJECTIVES))
        given = self.features
        named = isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
        if not (named or (isinstance(given, str) and given == "auto")):
            raise ValueError(f'features must be "auto" or a list of blocks, such as ["wl@1"], got {given!r}')

    @property
    def classes_(self) -> np.ndarray:
        """Class labels seen, where the distance is for classes."""
        check_is_fitted(self, "objective_")
        return self.objective_.classes_  # type: ignore[attr-defined]  # of objectives that have classes

    @property
    def history_(self) -> list[Stage]:
        """The old name of `stages_`."""
        check_is_fitted(self, "stages_")
        warnings.warn("GraphMetric.history_ is now called stages_", FutureWarning, stacklevel=2)
        return self.stages_

    @property
    def report_(self) -> str:
        """What was chosen, in a sentence."""
        check_is_fitted(self, "terms_")
        choice: Choice = self.choice_
        parts = [f"{name} ({100 * weight:.0f} %)" for name, weight in choice.weights.items()]
        text = f"chose {' + '.join(parts) if len(parts) > 1 else next(iter(choice.weights))}"
        text += f" out of {len(choice.scores)} candidates; leave-one-out {self.objective_.score_name} "
        text += f"{100 * choice.accuracy:.1f} % "
        text += f"with k = {choice.n_neighbors} ({self.objective_.summary()}, {self.seconds_:.1f} s)"
        kept = [f"{stage.name} {100 * (stage.learned - stage.unlearned):+.1f}" for stage in self.stages_ if stage.kept]
        if kept:
            return f"{text}; learning kept: {', '.join(kept)} points on graphs held out"
        return f"{text}; learning tried and not kept: it did not help graphs held out" if self.stages_ else text

    # --- using the metric ----------------------------------------------------------------------------------------

    rounding = 3e-6  # distances of graphs that differ by the numbering of their nodes; the mean square is about 1

    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32, whose Euclidean distance is the distance of the graphs."""
        check_is_fitted(self, "terms_")
        given = self._as_fitted(self.read(graphs))
        blocks, sizes = self._blocks(given), self.blocks_.sizes(given)
        vectors = side_by_side([term.vectors(blocks, sizes[term.cloud]) for term in self.terms_])
        return vectors if self.low_rank_ is None else self.low_rank_.apply(vectors)

    def embed(self, graphs: Any) -> Vectors:
        """The vectors of `transform`, to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        return Vectors(torch.from_numpy(self.transform(graphs)), numpy=True)

    def explain(self, graph: Any, other: Any) -> Explanation:
        """Which nodes of two graphs are compared with which, and each node's and edge's share of the squared distance.

        See :meth:`Embedding.compare`, for each term. A map of low rank mixes what the terms say: it counts in the
        distance, but not in the shares.
        """
        check_is_fitted(self, "terms_")
        both = self._as_fitted(self.read([graph, other]))
        blocks, sizes = self._blocks(both), self.blocks_.sizes(both)
        plans = {cloud: np.zeros(tuple(counts)) for cloud, counts in sizes.items()}
        shares = {cloud: [np.zeros(count) for count in counts] for cloud, counts in sizes.items()}
        counts = Counter(term.cloud for term in self.terms_)
        for term in self.terms_:
            cloud = term.cloud
            plan, *adds = term.compare(blocks, int(sizes[cloud][0]))
            plans[cloud] = plans[cloud] + plan / counts[cloud]
            shares[cloud] = [share + added for share, added in zip(shares[cloud], adds, strict=True)]
        whole = max(float(sum(pair[0].sum() for pair in shares.values())), np.finfo(np.float32).tiny)
        distance = float(pairwise_distances(self.embed([graph]), self.embed([other]), progress=False)[0, 0])
        distance = 0.0 if distance < self.rounding else distance
        if not counts["nodes"]:  # edges alone are compared: nothing tells nodes apart
            plans["nodes"][:] = 1.0 / float(both.sizes.prod())
        edges: dict[str, Any] = {}
        if counts["edges"]:
            rows, _ = edge_rows(both)
            source, target = (share / whole for share in shares["edges"])
            edges = {"edge_ends": cloud_edges(both, rows), "edge_source_share": source, "edge_target_share": target}
        source, target = (share / whole for share in shares["nodes"])
        return Explanation(distance, plans["nodes"], source, target, both, **edges)

    def _as_fitted(self, given: Graphs) -> Graphs:
        """Graphs whose labels and edges are read as those in `fit`."""
        return self.edge_reading_.apply(without_codes(given, self.label_columns_, self.labelled_))

    def _blocks(self, given: Graphs) -> Blocks:
        """Blocks of features, by name."""
        return dict(zip(self.blocks_.names_, self.blocks_.transform(given), strict=True))

    # --- keeping it ----------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that makes up the fitted metric: what JSON can hold, and arrays."""
        check_is_fitted(self, "terms_")
        params = {**self.get_params(deep=False), "random_state": self.seed_}
        params["features"] = self.features if isinstance(self.features, str) else list(self.features)
        blocks, centres = self.blocks_.state()
        tensors = {f"blocks.{name}": value for name, value in centres.items()}
        terms = []
        for i, term in enumerate(self.terms_):
            state, arrays = term.state()
            terms.append(state)
            tensors |= {f"term{i}.{name}": value for name, value in arrays.items()}
        if self.low_rank_ is not None:
            tensors |= {f"update.{name}": value for name, value in vars(self.low_rank_).items()}
        config = {
            "params": params, "blocks": blocks, "terms": terms, "objective": self.objective_.state(),
            "label_columns": self.label_columns_.tolist(), "labelled": self.labelled_,
            "edge_reading": self.edge_reading_.state(), "columns": self.columns_.state(), "choice": vars(self.choice_),
            "history": [vars(stage) for stage in self.stages_], "seconds": self.seconds_,
        }  # fmt: skip
        return config, tensors

    @classmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> GraphMetric:
        """The metric that `state` came from."""
        metric = cls(**config["params"])
        metric.seed_ = config["params"]["random_state"]
        metric.blocks_ = NodeBlocks.from_state(config["blocks"], strip_prefix(tensors, "blocks."))
        metric.terms_ = [
            Term.from_state(term, strip_prefix(tensors, f"term{i}.")) for i, term in enumerate(config["terms"])
        ]
        low_rank = strip_prefix(tensors, "update.")
        metric.low_rank_ = LowRankMap(**low_rank) if low_rank else None
        metric.stages_ = [Stage(**stage) for stage in config["history"]]
        metric.objective_ = resolve_objective(metric.task)
        metric.objective_.set_state(config.get("objective", config.get("classes")))  # "classes": the older name
        metric.label_columns_ = np.array(config["label_columns"], dtype=bool)
        metric.labelled_ = config["labelled"]
        metric.edge_reading_ = EdgeReading.from_state(config.get("edge_reading", EdgeReading().state()))
        metric.directed_ = metric.edge_reading_.directed
        metric.columns_ = Columns.from_state(config.get("columns"))
        metric.choice_ = Choice(**config["choice"])
        metric.choice_.trail = [(name, score) for name, score in metric.choice_.trail]
        metric.seconds_ = config["seconds"]
        return metric
