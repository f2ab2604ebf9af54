"""GraphMetric: a distance between graphs that finds out by itself what to look at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..._core.threads import one_thread_for_products
from ..._core.validation import draw_seed
from ...features.blocks import NodeBlocks
from ...features.copies import copy_groups, graph_hashes
from ...features.edge_reading import EdgeReading
from ...features.onehot import code_columns, without_codes
from ...graphs import Columns, Graphs
from ...graphs.stream import sampled
from ...objectives import OBJECTIVES, Objective, objective_for
from ...objectives.folds import check_groups, groups_among, held_together
from ...transport import Vectors
from ..base import BaseGraphMetric, FoldView, hand_over_folds, in_range
from ..explanation import Explanation
from ..unused import warn_unused
from .balance import balance
from .candidates import candidate_blocks
from .compaction import Projection
from .estimate import Estimate, estimate_score
from .explaining import explained_by_terms
from .forgetting import views_without
from .learning import Learned, learn, plan_kernels, squares_by_known
from .options import check_options
from .report import report
from .sample import Sample, sample_size, squares_without_copies
from .score_weight import HeldOut
from .screening import screen
from .selection import Choice, select_terms
from .state import embedded_width, fitted_state, restored
from .terms import AT_ONCE, Term, embed_anew, stacked
from .width import MOST, Coordinates, Width, choose_width, most_coordinates, score_columns

_SCREENED_ON = 600  # graphs that all candidates are tried on, at most
_LEARNED_FROM = 5000  # graphs that the machine is fitted to, at most
_SEEN = 20_000  # graphs that `fit` looks at, at most


class GraphMetric(BaseGraphMetric):
    """A distance between graphs, chosen and weighted by the training graphs themselves. No options needed.

    Nodes are described by blocks of features (attributes, labels, degrees, structure at several hops, the trees around
    them); a graph is the cloud of its nodes; a cloud becomes a vector (its mean, transport to a reference cloud, its
    density, a histogram); the squared distance is a weighted sum over a few such vectors. Which ones, and with which
    weights, is decided by leave-one-out neighbours among the training graphs. Then a kernel ridge regression is fitted
    to the targets, in closed form, and its scores become further coordinates of the distance, with a weight that graphs
    held out decide, 0 included. Without targets, different views of the graphs have the same weight.

    Parameters
    ----------
    features : "auto" or list of str
        Blocks of node features by name and hop, such as ["attributes@0", "trees@2"]; the names are those of
        `features.blocks.BLOCKS`. "auto" chooses, and reads one-hot columns of node features as labels.
    embedding : "auto" or a name in `embeddings.EMBEDDINGS`
        How a cloud becomes a vector; "auto" chooses. Histograms, counts and assignments are for blocks of trees only.
    n_steps : int
        Steps in which the sum is built, see :func:`selection.choose`; 1 chooses the best part alone.
    learn : bool
        Whether to try learning, after the choice.
    n_graphs : int
        How many training graphs the choice is made on at most; fewer where graphs are large: at most 80,000 nodes.
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine.
    attribute, label : str
        Names of the node features and labels, see :func:`as_graphs`.
    progress : bool, optional
        Progress bars, of the candidates in `fit` and of many distances; by default on a terminal, where it takes long.
    task : {"auto", "classes", "numbers", "none"}
        What the distance is for, a name in `objectives.OBJECTIVES`; "auto" is classes for strings and whole numbers,
        numbers for others (or for several columns), none without targets.
    edge_attribute, edge_label, edge_weight : str, optional
        Names of what edges carry, see :func:`as_graphs`.
    edges : {"auto", False}
        False reads edges without what they carry.
    directed : {"auto", True, False}
        Whether edges have directions, see :func:`as_graphs`; new graphs are read as those in `fit`.
    n_components : "auto", int or None
        How many coordinates the vectors have, at most: learned scores and principal coordinates of the rest. "auto"
        is the fewest, up to 512, with which neighbours of graphs held out score at most half a point lower; None keeps
        everything, as a sparse array where trees were chosen.
    estimate : bool
        Whether `fit` also measures how well neighbours predict new graphs, by five folds in which everything is chosen
        anew: takes about five times as long.

    Attributes
    ----------
    terms_ : list of Term
        The parts of the distance.
    choice_ : Choice
        Scores of all candidates, the path to the chosen sum, and the k of neighbours that are to vote.
    learned_ : Learned or None
        The fitted regression, and what was found on graphs held out; None without targets or with ``learn=False``.
    width_ : Width or None
        How many coordinates were kept and what that costs; None without targets or with ``n_components=None``.
    estimate_ : Estimate or None
        Of ``estimate=True``.
    report_ : str
        All of this in words.
    objective_, task_ : Objective, str
        What the targets were, and its name.
    classes_ : ndarray of labels
    seconds_ : float
        How long `fit` took.
    columns_ : Columns
        Names of attribute columns, by which those of new graphs are matched.
    label_columns_ : ndarray [q]
        Which columns of the node features are a one-hot code: read as labels, or left out where labels say the same.

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
        n_components: Any = "auto",
        estimate: bool = False,
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
        self.n_components = n_components
        self.estimate = estimate

    # --- learning ------------------------------------------------------------------------------------------------

    blocks_: NodeBlocks
    objective_: Objective
    compaction_: Projection | None
    learned_: Learned | None
    width_: Width | None = None
    estimate_: Estimate | None
    choice_: Choice
    terms_: list[Term]
    seed_: int | None
    seconds_: float

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> GraphMetric:
        """Chooses the metric, and learns.

        Of more than 20,000 graphs, and of any iterable of graphs, a random sample of so many is looked at; targets and
        groups of an iterable may be iterables too.

        Parameters
        ----------
        graphs : list of graphs, PyG dataset or Batch, see :func:`as_graphs`
        y : array [N] or [N, T], optional
            Classes (whole numbers or strings) or numbers; several columns are several numbers, where NaN means missing.
            Taken from the graphs (`Data.y`) when None; without any, nothing is learned.
        groups : array [N], optional
            Graphs of one group, such as molecules of one scaffold, are never on both sides of a fold.
        """
        began = time.perf_counter()
        check_options(self)
        self.seed_ = draw_seed(self.random_state)
        graphs, y, groups, numbers = sampled(graphs, y, groups, _SEEN, self.seed_)
        given = self.read_new(graphs)
        objective = objective_for(self.task, given, y)
        target = objective.encode(given, y)
        together = check_groups(groups, len(given))
        self.objective_ = objective
        self.label_columns_ = code_columns(given) if isinstance(self.features, str) else np.zeros(0, dtype=bool)
        self.labelled_ = given.labels is not None
        self.edge_reading_, self.columns_ = EdgeReading.of(given), Columns.of(given)
        self.directed_ = self.edge_reading_.directed
        warn_unused(given, {"edge labels", "edge vectors", "edge weights", "edge directions"})
        read, given, rng = given, self._as_fitted(given), np.random.default_rng(self.seed_)
        candidates = candidate_blocks(self.features, self.embedding, given)
        some = objective.subsample(target, sample_size(given, self.n_graphs), rng)
        names = dict.fromkeys(name for blocks in candidates.values() for name in blocks)
        self.blocks_ = NodeBlocks()
        blocks = dict(zip(names, self.blocks_.fit_transform(given, list(names), sample=some), strict=True))
        sample = Sample(blocks, self.blocks_.sizes(given[some]), target[some], groups_among(together, some))
        screening = sample.part(objective.subsample(sample.target, _SCREENED_ON, rng))
        how: dict[str, Any] = {"supervised": objective.supervised, "progress": self.progress}
        screened = screen(candidates, self.embedding, sample, screening, rng, **how)
        if objective.supervised:
            self.terms_, choice, best = select_terms(screened, objective, sample, screening, n_steps=self.n_steps)
            plan = plan_kernels(screened, objective, sample, screening, rng) if self.learn else None
        else:
            self.terms_, choice = balance(screened, sample)
            plan = None
        del screened, screening, blocks
        used = {term.key: term for term in [*self.terms_, *(plan.terms if plan else [])]}
        self.blocks_ = self.blocks_.only([name for term in used.values() for name in term.names])
        rows = objective.subsample(target, _LEARNED_FROM, rng)
        seen, every = given[rows], len(some) == len(rows) == len(given)
        known, whole = (sample.blocks, sample.sizes) if every else None, self.n_components is None
        del sample
        embedded = embed_anew(used, seen, self.blocks_, rng, whole=whole, known=known)
        del known
        self._reserved = score_columns(objective.outputs(target), self.n_components) if plan else 0
        coordinates = self._coordinates(embedded, rng)
        most = None if self.n_components in (None, "auto") else most_coordinates(self.n_components)
        asked = None if most is None else most - self._reserved
        self.learned_, self.width_ = None, None
        if plan is not None:
            own, wanted = groups_among(together, rows), target[rows]
            bases = [coordinates.first(width) for width in dict.fromkeys((asked, most))]
            tried = [best if every and base is coordinates.whole else {} for base in bases]
            how = {"n_steps": self.n_steps, "groups": own}
            squares = [squares_by_known(*of, objective, wanted, **how) for of in zip(bases, tried, strict=True)]
            joined, how = held_together(own, copy_groups(seen)), {"most": self._reserved, "own_groups": own}
            how["alone"] = squares[1] if len(squares) > 1 else None
            self.learned_, folds = learn(plan, embedded, squares[0], objective, wanted, joined, rng, **how)
            self.learned_.graphs = graph_hashes(seen)
            choice, weight = replace(choice, n_neighbors=self.learned_.gate.n_neighbors), self.learned_.gate.weight
            if self.n_components is not None:
                asked = most if weight == 0 else asked
                self.width_ = choose_width(coordinates, asked, folds, weight, objective, wanted)
            hand_over_folds(self, HeldOut(folds, weight, rows if numbers is None else numbers[rows]).views)
        kept = (asked or MOST) if self.width_ is None else self.width_.kept
        self.choice_, self.compaction_ = choice, coordinates.projection_to(kept)
        self.seconds_ = time.perf_counter() - began
        self.estimate_ = estimate_score(self, read, target, together, rng) if self.estimate else None
        return self

    @one_thread_for_products()
    def _coordinates(self, embedded: dict[str, Any], rng: np.random.Generator) -> Coordinates:
        """Of training graphs without learned scores, of mean squared distance 1."""
        most = None if self.n_components is None else max(MOST, most_coordinates(self.n_components)) - self._reserved
        found = Coordinates.fit(self._side_by_side(embedded), most)
        some = np.sort(rng.permutation(found.whole.shape[0])[:1000])
        mean = max(float(squares_without_copies(found.whole[some]).mean()), 1e-30)
        for term in self.terms_:
            term.weight /= mean
        return found.divided(float(np.sqrt(mean)))

    @property
    def task_(self) -> str:
        """The name of the objective."""
        return next((name for name, kind in OBJECTIVES.items() if type(self.objective_) is kind), self.task)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels seen [C], where the distance is for classes."""
        check_is_fitted(self, "objective_")
        return self.objective_.classes_  # type: ignore[attr-defined]  # of objectives that have classes

    @property
    def chosen_n_neighbors(self) -> int | None:
        return None if self.learned_ is None else self.choice_.n_neighbors

    @property
    def regression_task(self) -> str | None:
        return None if self.learned_ is None else self.task_

    @property
    def report_(self) -> str:
        """What was chosen and learned, in words."""
        check_is_fitted(self, "terms_")
        return report(self)

    # --- using the metric ----------------------------------------------------------------------------------------

    rounding = 1e-5  # the mean square of distances is about 1

    def transform(self, graphs: Any) -> Any:
        """Vectors [N, d], float32, whose Euclidean distance is the distance of the graphs.

        Learned scores come first, then principal coordinates of the rest. A `scipy.sparse.csr_array` where trees were
        chosen and ``n_components=None``.
        """
        check_is_fitted(self, "terms_")
        return stacked(list(self.by_chunks(_vectors, graphs)))

    def embed(self, graphs: Any) -> Vectors:
        """The vectors of `transform`, to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        vectors = self.transform(graphs)
        return Vectors(torch.from_numpy(vectors.toarray() if sparse.issparse(vectors) else vectors), numpy=True)

    def scores(self, graphs: Any) -> np.ndarray:
        """Outputs that the regression predicts [N, T]: of each class, or the numbers, centred and scaled."""
        check_is_fitted(self, "terms_")
        if self.learned_ is None:
            raise ValueError("nothing was learned: fit with targets and learn=True")
        return np.concatenate(list(self.by_chunks(_scores, graphs)))

    def explain(self, graph: Any, other: Any) -> Explanation:
        """What each term, block, node and edge adds to d², and which nodes are compared; see :class:`Explanation`."""
        return next(self.explain_pairs([graph, other], [(0, 1)])).drawn_as([graph, other])

    def explain_pairs(self, graphs: Any, pairs: Any) -> Iterator[Explanation]:
        check_is_fitted(self, "terms_")
        return explained_by_terms(self, self._as_fitted(self.read(graphs)), pairs)

    def views_without(self, graphs: Any, folds: np.ndarray) -> list[FoldView] | None:
        check_is_fitted(self, "terms_")
        return views_without(self, self._as_fitted(self.read(graphs)), folds)

    def _embedded(self, given: Graphs) -> dict[str, Any]:
        """Vectors by the key of the term."""
        blocks, sizes = self._blocks(given), self.blocks_.sizes(given)
        return {key: term.embedded(blocks, sizes[term.cloud]) for key, term in self.used_terms().items()}

    def _side_by_side(self, embedded: dict[str, Any]) -> Any:
        """Coordinates of the terms [N, Σ r]."""
        parts = [term.coordinates(embedded[term.key]) for term in self.terms_]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts, format="csr", dtype=np.float32)
        return np.concatenate(parts, axis=1)

    def _unlearned(self, embedded: dict[str, Any]) -> Any:
        """Coordinates of the distance without learned scores [N, d], float32."""
        vectors = self._side_by_side(embedded)
        return vectors if self.compaction_ is None else self.compaction_.apply(vectors)

    def _placed(self, embedded: dict[str, Any]) -> Any:
        """Coordinates of the distance [N, d], float32."""
        vectors = self._unlearned(embedded)
        if self.learned_ is None or self.learned_.width == 0:
            return vectors
        scores = self.learned_.coordinates(embedded)
        if sparse.issparse(vectors):
            return sparse.hstack([scores, vectors], format="csr", dtype=np.float32)
        return np.concatenate([scores, vectors], axis=1)

    def used_terms(self) -> dict[str, Term]:
        """The terms of the distance and of the regression, by key."""
        learned = [] if self.learned_ is None else [part.term for part in self.learned_.machine.parts]
        return {term.key: term for term in [*self.terms_, *learned]}

    def _as_fitted(self, given: Graphs) -> Graphs:
        return self.edge_reading_.apply(without_codes(given, self.label_columns_, self.labelled_))

    def _blocks(self, given: Graphs) -> dict[str, Any]:
        return dict(zip(self.blocks_.names_, self.blocks_.transform(given), strict=True))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that makes up the fitted metric: what JSON can hold, and arrays."""
        check_is_fitted(self, "terms_")
        return fitted_state(self)

    @classmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> GraphMetric:
        """The metric that `state` came from."""
        return restored(cls, config, tensors)

    def embedded_shape(self) -> tuple[int | None, ...]:
        return (embedded_width(self),)


def _vectors(metric: GraphMetric, given: Graphs) -> Any:
    """Coordinates of the distance [N, d], of graphs that were read."""
    pieces = metric._as_fitted(given).pieces(AT_ONCE)
    return in_range(stacked([metric._placed(metric._embedded(piece)) for piece in pieces]))


def _scores(metric: GraphMetric, given: Graphs) -> np.ndarray:
    """Outputs of the regression [N, T]."""
    assert metric.learned_ is not None
    machine, pieces = metric.learned_.machine, metric._as_fitted(given).pieces(AT_ONCE)
    return in_range(stacked([machine.scores(metric._embedded(piece)) for piece in pieces]))
