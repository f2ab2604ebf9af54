"""GraphMetric: a distance between graphs that finds out by itself what to look at."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._core.progress import progress_bar
from ...embeddings.base import EMBEDDINGS
from ...features.blocks import NodeBlocks, available_kinds
from ...features.onehot import code_columns, without_codes
from ...graphs import Graphs, as_graphs
from ...persistence.models import inside, load_model, save_model
from ...transport import pairwise_distances
from ...transport.curves import Curves
from ..explanation import Explanation
from ..sgml.estimator import check_classes, draw_seed
from .learning import (
    GroupWeights,
    LowRank,
    Neighborhoods,
    Stage,
    group_squares,
    learn,
    principal_directions,
    side_by_side,
)
from .selection import Choice, choose, leave_one_out, left_out_hits, usable
from .terms import Blocks, Term, embeddings_for, recipes

_NODES, _FEWEST = 80_000, 100  # the choice is made on so many nodes at most, if these are so many graphs
_TRIED_ON = 600  # graphs at most that all candidates are tried on
_SHORTLIST = 12  # candidates that may be in the sum: the best on their own
_LEARNED_ON = 500  # graphs at most: pairs of them are what learning takes its time for
_RANK = 16  # of the map that is learned last
_ROUNDING = 3e-6  # distances of graphs that differ by the numbering of their nodes

Update = tuple[np.ndarray, np.ndarray]  # a map of low rank, see _updated


@dataclass
class Sample:
    """Some of the training graphs: their blocks of node features, sizes [N] and classes 0, 1, … [N]."""

    blocks: Blocks
    sizes: np.ndarray
    codes: np.ndarray

    def part(self, which: np.ndarray) -> Sample:
        """The graphs with these numbers, ascending."""
        rows = np.flatnonzero(np.isin(np.repeat(np.arange(len(self.sizes)), self.sizes), which))
        blocks = {name: block[rows] for name, block in self.blocks.items()}
        return Sample(blocks, self.sizes[which], self.codes[which])

    def vectors(self, term: Term) -> np.ndarray:
        """Those of a term [N, slots, q]."""
        return term.vectors(self.blocks, self.sizes)


class GraphMetric(TransformerMixin, BaseEstimator):
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
        Steps in which the sum is built, see :func:`choosing.choose`; 1 chooses the best part alone.
    learn : bool
        Whether to try learning, after the choice.
    n_graphs : int
        How many training graphs the choice is made on at most; fewer where graphs are large (80,000 nodes in all).
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine.
    attribute, label : str
        Names of the node features and labels, see :func:`as_graphs`.
    progress : bool, optional
        Progress bars, of the candidates in `fit` and of many distances; by default on a terminal, where it takes long.

    Attributes
    ----------
    terms_ : list of Term
        The parts of the distance.
    choice_ : Choice
        Scores of all candidates, and the path to the chosen sum.
    history_ : list of Stage
        What learning was tried, and what was kept.
    report_ : str
        The same in a sentence.
    classes_ : ndarray
        Class labels seen.
    label_columns_ : ndarray [q]
        Which columns of the node features are a one-hot code: read as labels, or left out where nodes have labels that
        say the same. Empty where there are none to look for.
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

    # --- learning ------------------------------------------------------------------------------------------------

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
        given = self._as_graphs(graphs)
        y = check_classes(given, y)
        self.label_columns_ = code_columns(given) if isinstance(self.features, str) else np.zeros(0, dtype=bool)
        self.labelled_ = given.labels is not None
        given = without_codes(given, self.label_columns_, self.labelled_)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.seed_ = draw_seed(self.random_state)
        rng = np.random.default_rng(self.seed_)
        tried = self._tried(given)
        names = list(dict.fromkeys(name for blocks in tried.values() for name in blocks))
        most = min(self.n_graphs, max(_FEWEST, int(_NODES / given.sizes.mean())))
        some = _stratified(codes, most, rng)
        self.blocks_ = NodeBlocks().fit(given, names, sample=some)
        here = given[some]
        sample = Sample(dict(zip(names, self.blocks_.transform(here), strict=True)), here.sizes, codes[some])
        fewer = _stratified(sample.codes, _TRIED_ON, rng)
        self._choose(tried, sample, sample.part(fewer), rng)
        self.history_: list[Stage] = []
        self.update_: Update | None = None
        if self.learn:
            fewer = _stratified(sample.codes, _LEARNED_ON, rng)
            unlearned = copy.deepcopy(self.terms_)
            self._learn(sample.part(fewer), rng)
            self._confirm(unlearned, sample, np.setdiff1d(np.arange(len(sample.codes)), fewer))
        self.blocks_ = self.blocks_.only(list(dict.fromkeys(name for term in self.terms_ for name in term.names)))
        self.seconds_ = time.perf_counter() - began
        return self

    def _choose(self, tried: dict[str, list[str]], sample: Sample, fewer: Sample, rng: np.random.Generator) -> None:
        """A weighted sum of candidates. On few graphs it is found which ones are worth to be tried on all."""
        candidates: dict[str, Term] = {}
        scores: dict[str, float] = {}
        kinds = {title: embeddings_for(parts, self.embedding) for title, parts in tried.items()}
        count = sum(map(len, kinds.values()))
        with progress_bar(self.progress, "choosing", total=count, unit="candidate", delay=1.0) as bar:
            for title, parts in tried.items():
                for term in Term.fit_each(title, parts, kinds[title], sample.blocks, sample.sizes, rng):
                    squares = _squares([fewer.vectors(term)])
                    if squares.mean() > 1e-12:  # else it tells no two graphs apart
                        candidates[term.name] = term
                        hits = leave_one_out(squares, fewer.codes, usable(len(fewer.codes)))
                        scores[term.name] = float(hits.mean())
                    bar.update()
        if not candidates:
            raise ValueError("all graphs look the same: no block of node features tells any two apart")
        squares_of = {}
        for name in sorted(scores, key=lambda name: -scores[name])[:_SHORTLIST]:
            squares = _squares([sample.vectors(candidates[name])])
            candidates[name].weight = 1.0 / float(squares.mean())
            squares_of[name] = squares * np.float32(candidates[name].weight)
        self.choice_ = choose(squares_of, sample.codes, n_steps=self.n_steps)
        self.choice_.scores = scores
        self.terms_ = [candidates[name] for name in self.choice_.weights]
        for term, weight in zip(self.terms_, self.choice_.weights.values(), strict=True):
            term.weight *= weight

    def _learn(self, sample: Sample, rng: np.random.Generator) -> None:
        """Weights of blocks, then of columns, then a map of low rank; each where it helps."""
        columns, owners = zip(*(term.column_groups(sample.blocks) for term in self.terms_), strict=True)
        groups = side_by_side(columns)
        vectors, around, parts = self._pairs(sample, groups, rng)
        for name, owner in (
            ("weights of blocks", np.concatenate(side_by_side(owners))),
            ("weights of columns", np.arange(parts.shape[2])),
        ):
            if owner.max() > 0:
                found, stage = learn(name, GroupWeights.joined(parts, owner), around)
                self.history_.append(stage)
                if stage.kept:
                    for term, group in zip(self.terms_, groups, strict=True):
                        term.weight_columns(np.exp(found)[owner][group])
                    stage.refreshed = self._refresh(sample, rng)
                    vectors, around, parts = self._pairs(sample, groups, rng)
        flat = _flat(vectors)
        directions = principal_directions(flat, min(_RANK, len(flat) // 4))
        places = flat @ directions
        model = LowRank(parts.sum(2), places[:, None, :] - places[around.near])
        found, stage = learn("a map of low rank", model, around)
        self.history_.append(stage)
        if stage.kept:
            self.update_ = directions, found.reshape(model.rank, model.rank).astype(np.float32)

    def _pairs(
        self, sample: Sample, groups: list[np.ndarray], rng: np.random.Generator
    ) -> tuple[list[np.ndarray], Neighborhoods, np.ndarray]:
        """Vectors of the terms, pairs of near graphs, and their squared distances by groups of columns."""
        vectors = [sample.vectors(term) for term in self.terms_]
        around = Neighborhoods.of(_squares(vectors), sample.codes, rng)
        return vectors, around, group_squares(vectors, groups, around.near)

    def _refresh(self, sample: Sample, rng: np.random.Generator) -> bool:
        """Couplings made anew with the learned weights, if graphs left out are then classified better."""
        anew = [
            term if term.embedding.takes_columns else term.refreshed(sample.blocks, sample.sizes, rng)
            for term in self.terms_
        ]
        held_score, anew_score = (
            leave_one_out(
                _squares([sample.vectors(term) for term in terms]), sample.codes, usable(len(sample.codes))
            ).mean()
            for terms in (self.terms_, anew)
        )
        if anew_score <= held_score:
            return False
        self.terms_ = anew
        return True

    def _confirm(self, unlearned: list[Term], sample: Sample, rest: np.ndarray) -> None:
        """Takes all that was learned back if graphs that it was not learned from are classified worse by all others."""
        kept = [stage for stage in self.history_ if stage.kept]
        if not kept or len(rest) == 0:
            return
        vectors = [sample.vectors(term) for term in self.terms_]
        learned = [_updated(_flat(vectors), self.update_)] if self.update_ is not None else vectors
        before, after = (
            left_out_hits(_squares(each), sample.codes)[rest].mean()
            for each in ([sample.vectors(term) for term in unlearned], learned)
        )
        for stage in kept:
            stage.confirmed = bool(after >= before)
            if after < before:
                stage.kept, stage.refreshed = False, None
        if after < before:
            self.terms_, self.update_ = unlearned, None

    def _check_options(self) -> None:
        for name, least in (("n_steps", 1), ("n_graphs", 4)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
        if self.embedding not in ("auto", *EMBEDDINGS):
            known = ", ".join(map(repr, ("auto", *EMBEDDINGS)))
            raise ValueError(f"unknown embedding {self.embedding!r}: use one of {known}")
        given = self.features
        named = isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(name, str) for name in given)
        if not (named or (isinstance(given, str) and given == "auto")):
            raise ValueError(f'features must be "auto" or a list of blocks, such as ["wl@1"], got {given!r}')

    def _tried(self, given: Graphs) -> dict[str, list[str]]:
        """Sets of blocks to choose from, by title."""
        if isinstance(self.features, str):
            return recipes(available_kinds(given))
        names = list(self.features)
        if not embeddings_for(names, self.embedding):
            raise ValueError(f"embedding {self.embedding!r} cannot take {', '.join(names)}")
        return {", ".join(names): names}

    @property
    def report_(self) -> str:
        """What was chosen, in a sentence."""
        check_is_fitted(self, "terms_")
        choice: Choice = self.choice_
        parts = [f"{name} ({100 * weight:.0f} %)" for name, weight in choice.weights.items()]
        text = f"chose {' + '.join(parts) if len(parts) > 1 else next(iter(choice.weights))}"
        text += f" out of {len(choice.scores)} candidates; leave-one-out accuracy {100 * choice.accuracy:.1f} % "
        text += f"with k = {choice.n_neighbors} ({len(self.classes_)} classes, {self.seconds_:.1f} s)"
        kept = [f"{stage.name} {100 * (stage.learned - stage.unlearned):+.1f}" for stage in self.history_ if stage.kept]
        if kept:
            return f"{text}; learning kept: {', '.join(kept)} points on graphs held out"
        return f"{text}; learning tried and not kept: it did not help graphs held out" if self.history_ else text

    # --- using the metric ----------------------------------------------------------------------------------------

    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32, whose Euclidean distance is the distance of the graphs."""
        check_is_fitted(self, "terms_")
        given = self._as_graphs(graphs)
        blocks = self._blocks(given)
        return _updated(_flat([term.vectors(blocks, given.sizes) for term in self.terms_]), self.update_)

    def embed(self, graphs: Any) -> Curves:
        """The vectors as curves of one step: to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        return _as_curves(self.transform(graphs))

    def pairwise_distances(
        self,
        graphs: Any,
        others: Any = None,
        *,
        squared: bool = False,
        out: np.ndarray | None = None,
        precision: str = "float32",
    ) -> np.ndarray:
        """Distances between graphs [N, N], or to other graphs [N, M]; float32.

        The mean squared distance of the training graphs is about 1; what is below the rounding of float32 is 0 (not so
        for the larger errors of TF32).

        out, precision : see :func:`pairwise_distances`.
        """
        u, v = self.embed(graphs), None if others is None else self.embed(others)
        found = pairwise_distances(u, v, squared=squared, out=out, precision=precision, progress=self.progress)
        for row in found:  # one by one: all of them need not fit into memory
            row[row < (_ROUNDING**2 if squared else _ROUNDING)] = 0.0
        return found

    def explain(self, graph: Any, other: Any) -> Explanation:
        """Which nodes of two graphs are compared with which, and each node's share of the squared distance.

        See :meth:`Embedding.compare`, for each term. A map of low rank mixes what the terms say: it counts in the
        distance, but not in the shares of the nodes.
        """
        check_is_fitted(self, "terms_")
        both = self._as_graphs([graph, other])
        blocks = self._blocks(both)
        plan, source, target = np.zeros(tuple(both.sizes)), np.zeros(both.sizes[0]), np.zeros(both.sizes[1])
        for term in self.terms_:
            part, adds, adds_other = term.compare(blocks, int(both.sizes[0]))
            plan = plan + part / len(self.terms_)
            source, target = source + adds, target + adds_other
        whole = max(float(source.sum()), np.finfo(np.float32).tiny)
        distance = float(pairwise_distances(self.embed([graph]), self.embed([other]), progress=False)[0, 0])
        distance = 0.0 if distance < _ROUNDING else distance
        return Explanation(distance, plan, source / whole, target / whole, both)

    # --- keeping it ----------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Writes the metric to a folder: JSON and safetensors, no pickle."""
        return save_model(path, "GraphMetric", *self.state(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> GraphMetric:
        """The metric saved in a folder."""
        _, config, tensors = load_model(path, "GraphMetric")
        return cls.from_state(config, tensors)

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
        if self.update_ is not None:
            tensors["update.directions"], tensors["update.step"] = self.update_
        config = {
            "params": params, "blocks": blocks, "terms": terms, "classes": self.classes_.tolist(),
            "label_columns": self.label_columns_.tolist(), "labelled": self.labelled_, "choice": vars(self.choice_),
            "history": [vars(stage) for stage in self.history_], "seconds": self.seconds_,
        }  # fmt: skip
        return config, tensors

    @classmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> GraphMetric:
        """The metric that `state` came from."""
        metric = cls(**config["params"])
        metric.seed_ = config["params"]["random_state"]
        metric.blocks_ = NodeBlocks.from_state(config["blocks"], inside(tensors, "blocks."))
        metric.terms_ = [Term.from_state(term, inside(tensors, f"term{i}.")) for i, term in enumerate(config["terms"])]
        update = inside(tensors, "update.")
        metric.update_ = (update["directions"], update["step"]) if update else None
        metric.history_ = [Stage(**stage) for stage in config["history"]]
        metric.classes_ = np.array(config["classes"])
        metric.label_columns_ = np.array(config["label_columns"], dtype=bool)
        metric.labelled_ = config["labelled"]
        metric.choice_ = Choice(**config["choice"])
        metric.choice_.trail = [(name, score) for name, score in metric.choice_.trail]
        metric.seconds_ = config["seconds"]
        return metric

    def _as_graphs(self, graphs: Any) -> Graphs:
        return as_graphs(graphs, attribute=self.attribute, label=self.label)

    def _blocks(self, given: Graphs) -> Blocks:
        """Blocks of node features, by name."""
        found = self.blocks_.transform(without_codes(given, self.label_columns_, self.labelled_))
        return dict(zip(self.blocks_.names_, found, strict=True))


def _flat(vectors: list[np.ndarray]) -> np.ndarray:
    """Vectors [N, slots, q] side by side [N, d]."""
    return np.concatenate([part.reshape(len(part), -1) for part in vectors], axis=1)


def _updated(vectors: np.ndarray, update: Update | None) -> np.ndarray:
    """Vectors [N, d] through the map of low rank I + U A Uᵀ, given as (U, A)."""
    if update is None:
        return vectors
    directions, step = update
    return vectors + vectors @ directions @ step @ directions.T


def _squares(vectors: list[np.ndarray]) -> np.ndarray:
    """Squared distances [N, N] between vectors [N, slots, q], added up over the list."""
    total: Any = 0.0
    for part in vectors:
        different, place = _without_copies(part.reshape(len(part), -1))
        squares = pairwise_distances(_as_curves(different), squared=True, device="cpu", progress=False)
        total = total + squares[np.ix_(place, place)]
    return total


def _without_copies(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors that differ, and which of them each vector is: small graphs have many copies, up to rounding.

    >>> _without_copies(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]], dtype=np.float32))[1]
    array([1, 0, 1])
    """
    keys = vectors @ np.random.default_rng(0).normal(size=(vectors.shape[1], 3)).astype(np.float32)
    keys = np.rint(1e6 * keys / max(float(np.abs(keys).max()), 1e-30))  # what float32 can tell apart
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return vectors[first], place.reshape(-1)


def _as_curves(vectors: np.ndarray) -> Curves:
    """Vectors [N, d] as curves of one step."""
    return Curves(torch.from_numpy(vectors)[:, None, :], np.ones(len(vectors), dtype=np.int64), None, numpy=True)


def _stratified(codes: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many indices, each class in its proportion, but no class below two, if it has them and they fit."""
    if len(codes) <= most:
        return np.arange(len(codes))
    shuffled = rng.permutation(len(codes))
    rank = np.empty(len(codes))
    for code in np.unique(codes):
        members = shuffled[codes[shuffled] == code]
        rank[members] = (np.arange(len(members)) + rng.random()) / len(members)
        rank[members[:2]] = -1.0
    return np.sort(np.argsort(rank, kind="stable")[:most])
