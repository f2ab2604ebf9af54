"""GraphMetric: a distance between graphs that finds out by itself what to look at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .choosing import Choice, choose
from .embeddings import EMBEDDINGS, Embedding, restore
from .explain import Explanation
from .graphs import Graphs, as_graphs
from .graphs.blocks import NodeBlocks, available_kinds
from .learner import check_classes, draw_seed
from .persistence import load_model, save_model
from .transport import pairwise_distances
from .transport.curves import Curves

_COLUMNS = 64  # more node features than this are reduced to their principal components


def recipes(kinds: Sequence[str]) -> dict[str, list[str]]:
    """Sets of blocks worth trying for graphs with these kinds of node information, by a name to read.

    >>> list(recipes(["labels", "degree", "wl"]))[:3]
    ['labels', 'labels, hops 0–1', 'labels, hops 0–2']
    """
    own = [kind for kind in kinds if kind in ("attributes", "labels")] or ["degree"]
    title = " and ".join(own)

    def hops(bases: list[str], last: int) -> list[str]:
        return [f"{base}@{hop}" for base in bases for hop in range(last + 1)]

    found = {title: hops(own, 0)}
    for last in (1, 2, 4):
        found[f"{title}, hops 0–{last}"] = hops(own, last)
    if len(own) == 2:
        found |= {"attributes": hops(own[:1], 0), "attributes, hops 0–2": hops(own[:1], 2)}
    if own != ["degree"]:
        found["degrees, hops 0–1"] = hops(["degree"], 1)
    for last in (1, 2, 3):
        found[f"WL codes 0–{last}"] = hops(["wl"], last)
    found[f"{title} + WL codes 1–2"] = [*hops(own, 0), "wl@1", "wl@2"]
    found[f"{title}, hops 0–2 + WL codes 1–2"] = [*hops(own, 2), "wl@1", "wl@2"]
    return found


@dataclass
class Term:
    """One part of the squared distance: some blocks of node features, through one embedding.

    Attributes
    ----------
    title : str
        For people.
    names : list of str
        The blocks.
    basis : ndarray [Q, q] or None
        Principal components of the blocks side by side, where there are many columns.
    kind, embedding
        Which embedding, by its name and fitted.
    weight : float
        Factor of its squared distance, so that d² = Σ weight · d²(embedding).
    """

    title: str
    names: list[str]
    basis: np.ndarray | None
    kind: str
    embedding: Embedding
    weight: float = 1.0

    def points(self, blocks: dict[str, np.ndarray]) -> np.ndarray:
        """Node features [S, q]."""
        joined = np.concatenate([blocks[name] for name in self.names], axis=1) / np.float32(np.sqrt(len(self.names)))
        return joined if self.basis is None else joined @ self.basis

    def vectors(self, blocks: dict[str, np.ndarray], sizes: np.ndarray) -> np.ndarray:
        """Vectors [G, d] whose squared distance is this term."""
        return np.float32(np.sqrt(self.weight)) * self.embedding.vectors(self.points(blocks), sizes)


class GraphMetric(TransformerMixin, BaseEstimator):
    """A distance between graphs, chosen and weighted by the training graphs themselves. No options needed.

    Nodes are described by blocks of features (attributes, labels, degrees at several hops, codes of
    Weisfeiler-Lehman labels); a graph is the cloud of its nodes; a cloud becomes a vector (its mean, transport to a
    reference cloud, or projected transport along principal axes); the squared distance is a weighted sum over a few
    such vectors. Which ones, and with which weights, is decided by leave-one-out neighbours among the training graphs.

    Parameters
    ----------
    features : "auto" or list of str
        Blocks of node features, such as ["attributes@0", "wl@1"], see :class:`NodeBlocks`; "auto" chooses.
    embedding : {"auto", "mean", "reference", "axes"}
        How a cloud becomes a vector; "auto" chooses.
    n_steps : int
        Steps in which the sum is built, see :func:`choosing.choose`; 1 chooses the best part alone.
    n_graphs : int
        How many training graphs the choice is made on at most.
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine.
    attribute, label : str
        Names of the node features and labels, see :func:`as_graphs`.

    Attributes
    ----------
    terms_ : list of Term
        The parts of the distance.
    choice_ : Choice
        Scores of all candidates, and the path to the chosen sum.
    report_ : str
        The same in a sentence.
    classes_ : ndarray
        Class labels seen.

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
        n_graphs: int = 1500,
        random_state: Any = None,
        attribute: str = "x",
        label: str | None = None,
    ) -> None:
        self.features = features
        self.embedding = embedding
        self.n_steps = n_steps
        self.n_graphs = n_graphs
        self.random_state = random_state
        self.attribute = attribute
        self.label = label

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
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.seed_ = draw_seed(self.random_state)
        rng = np.random.default_rng(self.seed_)
        tried = self._recipes(given)
        names = list(dict.fromkeys(name for blocks in tried.values() for name in blocks))
        some = _stratified(codes, self.n_graphs, rng)
        self.blocks_ = NodeBlocks().fit(given, names, sample=some)
        here = given[some]
        blocks = dict(zip(names, self.blocks_.transform(here), strict=True))
        candidates: dict[str, Term] = {}
        squares: dict[str, np.ndarray] = {}
        for title, parts in tried.items():
            for kind in EMBEDDINGS if self.embedding == "auto" else [self.embedding]:
                term = _fit_term(title, parts, kind, blocks, rng)
                vectors = term.vectors(blocks, here.sizes)
                square = pairwise_distances(_as_curves(vectors), squared=True, device="cpu", progress=False)
                mean = float(square.mean())
                if mean > 1e-12:  # else it tells no two graphs apart
                    term.weight = 1.0 / mean
                    key = f"{term.embedding.name} of {title}"
                    candidates[key], squares[key] = term, square / np.float32(mean)
        if not candidates:
            raise ValueError("all graphs look the same: no block of node features tells any two apart")
        self.choice_ = choose(squares, codes[some], n_steps=self.n_steps)
        self.terms_ = [candidates[key] for key in self.choice_.weights]
        for term, weight in zip(self.terms_, self.choice_.weights.values(), strict=True):
            term.weight *= weight
        used = list(dict.fromkeys(name for term in self.terms_ for name in term.names))
        self.blocks_ = NodeBlocks().fit(given, used, sample=some)
        self.seconds_ = time.perf_counter() - began
        return self

    def _check_options(self) -> None:
        for name, least in (("n_steps", 1), ("n_graphs", 4)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
        if self.embedding not in ("auto", *EMBEDDINGS):
            known = ", ".join(map(repr, ("auto", *EMBEDDINGS)))
            raise ValueError(f"unknown embedding {self.embedding!r}: use one of {known}")
        if len(self.features) == 0 or (isinstance(self.features, str) and self.features != "auto"):
            raise ValueError(f'features must be "auto" or a list of blocks, got {self.features!r}')

    def _recipes(self, given: Graphs) -> dict[str, list[str]]:
        """Sets of blocks to choose from, by title."""
        if isinstance(self.features, str):
            return recipes(available_kinds(given))
        return {", ".join(self.features): list(self.features)}

    @property
    def report_(self) -> str:
        """What was chosen, in a sentence."""
        check_is_fitted(self, "terms_")
        choice: Choice = self.choice_
        parts = [f"{name} ({100 * weight:.0f} %)" for name, weight in choice.weights.items()]
        text = f"chose {' + '.join(parts) if len(parts) > 1 else next(iter(choice.weights))}"
        text += f" out of {len(choice.scores)} candidates; leave-one-out accuracy {100 * choice.accuracy:.1f} % "
        return text + f"with k = {choice.n_neighbors} ({len(self.classes_)} classes, {self.seconds_:.1f} s)"

    # --- using the metric ----------------------------------------------------------------------------------------

    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32, whose Euclidean distance is the distance of the graphs."""
        check_is_fitted(self, "terms_")
        given = self._as_graphs(graphs)
        blocks = dict(zip(self.blocks_.names_, self.blocks_.transform(given), strict=True))
        return np.concatenate([term.vectors(blocks, given.sizes) for term in self.terms_], axis=1)

    def embed(self, graphs: Any) -> Curves:
        """The vectors as curves of one step: to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        return _as_curves(self.transform(graphs))

    def pairwise_distances(self, graphs: Any, others: Any = None, *, squared: bool = False) -> np.ndarray:
        """Distances between graphs [N, N], or to other graphs [N, M]; float32."""
        v = None if others is None else self.embed(others)
        return pairwise_distances(self.embed(graphs), v, squared=squared, progress=False)

    def explain(self, graph: Any, other: Any) -> Explanation:
        """Which nodes of two graphs are compared with which, and each node's share of the squared distance.

        Nodes are compared that go into the same slots (see `embeddings`); what a slot adds to the squared distance is
        shared among the nodes in it.
        """
        check_is_fitted(self, "terms_")
        both = self._as_graphs([graph, other])
        blocks = dict(zip(self.blocks_.names_, self.blocks_.transform(both), strict=True))
        plan, source, target = 0.0, 0.0, 0.0
        for term in self.terms_:
            x, z = np.split(term.points(blocks).astype(float), both.offsets[1:2])
            left, right = term.embedding.shares(x), term.embedding.shares(z)
            gaps = term.weight * ((left @ x - right @ z) ** 2).sum(1) / len(left)  # of each slot; adds up to the term
            plan = plan + left.T @ right / len(left) / len(self.terms_)
            source, target = source + gaps @ left, target + gaps @ right
        whole = max(float(np.sum(source)), np.finfo(np.float32).tiny)
        distance = float(self.pairwise_distances([graph], [other])[0, 0])
        return Explanation(distance, np.asarray(plan), np.asarray(source) / whole, np.asarray(target) / whole, both)

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
        blocks, centres = self.blocks_.state()
        tensors = {f"blocks.{name}": value for name, value in centres.items()}
        terms = []
        for i, term in enumerate(self.terms_):
            terms.append({"title": term.title, "names": term.names, "kind": term.kind, "weight": term.weight})
            tensors |= {f"term{i}.{name}": value for name, value in term.embedding.arrays().items()}
            if term.basis is not None:
                tensors[f"basis{i}"] = term.basis
        config = {
            "params": params, "blocks": blocks, "terms": terms, "classes": self.classes_.tolist(),
            "choice": vars(self.choice_), "seconds": self.seconds_,
        }  # fmt: skip
        return config, tensors

    @classmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> GraphMetric:
        """The metric that `state` came from."""
        metric = cls(**config["params"])
        metric.seed_ = config["params"]["random_state"]
        metric.blocks_ = NodeBlocks.from_state(config["blocks"], _inside(tensors, "blocks."))
        metric.terms_ = [
            Term(
                term["title"], term["names"], tensors.get(f"basis{i}"), term["kind"],
                restore(term["kind"], _inside(tensors, f"term{i}.")), term["weight"],
            )
            for i, term in enumerate(config["terms"])
        ]  # fmt: skip
        metric.classes_ = np.array(config["classes"])
        metric.choice_ = Choice(**config["choice"])
        metric.seconds_ = config["seconds"]
        return metric

    def _as_graphs(self, graphs: Any) -> Graphs:
        return as_graphs(graphs, attribute=self.attribute, label=self.label)


def _fit_term(title: str, names: list[str], kind: str, blocks: dict[str, np.ndarray], rng: np.random.Generator) -> Term:
    """A term fitted to the nodes of the blocks."""
    term = Term(title, names, None, kind, EMBEDDINGS[kind]())
    points = term.points(blocks)
    if points.shape[1] > _COLUMNS:
        _, vectors = np.linalg.eigh((points.T @ points).astype(np.float64))  # blocks are centred
        term.basis = np.ascontiguousarray(vectors[:, ::-1][:, :_COLUMNS], dtype=np.float32)
        points = points @ term.basis
    term.embedding.fit(points, rng)
    return term


def _as_curves(vectors: np.ndarray) -> Curves:
    """Vectors [N, d] as curves of one step."""
    return Curves(torch.from_numpy(vectors)[:, None, :], np.ones(len(vectors), dtype=np.int64), None, numpy=True)


def _stratified(codes: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many indices, each class in its proportion, but no class below two, if it has them."""
    if len(codes) <= most:
        return np.arange(len(codes))
    shuffled = rng.permutation(len(codes))
    rank = np.empty(len(codes))
    for code in np.unique(codes):
        members = shuffled[codes[shuffled] == code]
        rank[members] = (np.arange(len(members)) + rng.random()) / len(members)
        rank[members[:2]] = -1.0
    return np.sort(np.argsort(rank, kind="stable")[:most])


def _inside(tensors: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
