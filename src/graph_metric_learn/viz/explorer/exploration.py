"""Computes what an explorer shows: a map, drawings, targets, neighbours and explanations, of graphs or of an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.progress import progress_bar
from ...graphs import Graphs
from ...graphs.depiction import Depiction, depictions
from ...index import GraphIndex
from ...metrics.base import BaseGraphMetric
from ...metrics.explanation import Explanation
from ...objectives.targets import is_missing, task_of
from ...predictors.predictor import MetricPredictor
from ...transport import Curves, curve_vectors
from ..render import cut
from .packing import PackedExplanations, drawing_bytes, explanation_bytes, pack_explanation, safe_json
from .pairs import Near, choose_pairs, find_near
from .predictions import Targets, encoded, read_targets

MOST_GRAPHS = 5000
_N_NEAR = 8  # neighbours listed
_MOST_PAIRS = 12_000  # explained: some minutes of work
_PAGE_BYTES = 13_000_000  # for names, drawings and explanations together
_EXPLANATION_BYTES = 7_000_000
_DRAWING_BYTES = 9_000_000  # of larger graphs, the largest are not drawn
_EDGE_BYTES = 3_000_000  # for edges of drawings
LONGEST_NAME = 200  # characters that the page shows
_TOO_LARGE = "Too large to be drawn: the drawings of all graphs together would make this page too large."
_NOT_KEPT = "An index keeps no graphs, so none can be drawn: serve it with --source to see some."
_STRETCH = 2.5  # how much more the shorter side of a map is enlarged than the longer one, at most


@dataclass
class Exploration:
    """All that an explorer of N graphs shows."""

    title: str
    report: str  # what the metric says of itself
    note: str  # what the page leaves out
    names: list[str]
    positions: np.ndarray  # [N, 2] on the map, within the unit square
    looks: list[Depiction]
    targets: Targets
    near: Near
    explained: PackedExplanations
    most_edges: int  # drawn of one graph
    drawn: np.ndarray  # [N] bool: which graphs are drawn
    undrawn: str = _TOO_LARGE  # why others are not

    def packed(self, pair: tuple[int, int], explanation: Explanation, terms: dict[str, int]) -> bytes:
        """An explanation of two of the graphs, see :func:`pack_explanation`."""
        looks = (self.looks[pair[0]], self.looks[pair[1]])
        return pack_explanation(explanation, looks, self.most_edges, terms, self.targets.classes)


def explored(
    model: Any,
    graphs: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    title: str | None = None,
    label: str | int | None = None,
    explanations: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> Exploration:
    """What :func:`explore` writes, computed."""
    metric = metric_of(model)
    originals = _listed_graphs(graphs)
    collection = metric.read(graphs if originals is None else originals)
    names = _names(collection, names)
    y = None if y is None else list(y)
    if y is not None and len(y) != len(collection):
        raise ValueError(f"{len(collection)} graphs, but {len(y)} targets: give one per graph")
    note = ""
    if len(collection) > MOST_GRAPHS:
        note = f"{MOST_GRAPHS} of {len(collection)} graphs, drawn at random: a page holds no more."
        chosen = _subsample(len(collection), random_state)
        collection, names = collection[chosen], [names[i] for i in chosen]
        originals = None if originals is None else [originals[i] for i in chosen]
        y = None if y is None else [y[i] for i in chosen]
    embedded = metric.embed(collection)
    targets = read_targets(model, collection, embedded, y, label)
    near = find_near(metric, embedded, targets, _N_NEAR)
    looks = depictions(originals, collection)
    counts = np.array([look.edges.shape[1] for look in looks])
    most_edges = _most_edges(counts)
    costs = drawing_bytes(looks, most_edges)
    drawn = _drawn(costs)
    if not drawn.all():
        note += f"{' ' if note else ''}{int((~drawn).sum())} of the graphs are too large to be drawn in this page."
    with progress_bar(progress, "drawing graphs", total=int(drawn.sum()), unit="graph", delay=2.0) as bar:
        for i in np.flatnonzero(drawn):
            _ = looks[i].layout
            bar.update()
    room = _PAGE_BYTES - int(costs[drawn].sum()) - len(safe_json([cut(name, LONGEST_NAME) for name in names]).encode())
    costs = explanation_bytes(np.array([len(look.names) for look in looks]), np.minimum(counts, most_edges))
    most = _MOST_PAIRS if explanations is None else explanations
    pairs = choose_pairs(near, targets, costs, max(0, min(_EXPLANATION_BYTES, room)), most, drawn)
    exploration = Exploration(
        title or "Explore graphs", _report(metric), note, names, map_layout(metric.transform(collection), random_state),
        looks, targets, near, PackedExplanations(), most_edges, drawn,
    )  # fmt: skip
    _explain(exploration, metric, originals or collection, pairs, progress)
    return exploration


def explored_index(index: GraphIndex, *, title: str = "Graphs of the index", random_state: int = 0) -> Exploration:
    """Map and neighbours of the graphs of an index, of at most 5000 that are drawn at random.

    Graphs are called by their ids. Where the metadata of graphs have a "target", as those that the command `index`
    writes, it is their class or number. An index keeps no graphs, so none is drawn.
    """
    ids, note = index.ids, ""
    if len(ids) > MOST_GRAPHS:
        note = f"{MOST_GRAPHS} of {len(ids)} graphs, drawn at random; neighbours are looked for among these."
        ids = ids[_subsample(len(ids), random_state)]
    embedded = index.embedded(ids)
    targets = _targets_of_metadata(index.metadata(ids))
    vectors = curve_vectors(embedded, 16) if isinstance(embedded, Curves) else embedded.values  # type: ignore[attr-defined]
    return Exploration(
        title, _report(index.metric), note, [str(one) for one in ids], map_layout(np.asarray(vectors), random_state),
        [Depiction([], np.zeros((2, 0), dtype=np.int64))] * len(ids), targets,
        find_near(index.metric, embedded, targets, _N_NEAR), PackedExplanations(), 1, np.zeros(len(ids), dtype=bool),
        _NOT_KEPT,
    )  # fmt: skip


def metric_of(model: Any) -> BaseGraphMetric:
    """The metric that a model is, or predicts with."""
    metric = model.metric_ if isinstance(model, MetricPredictor) else model
    if not isinstance(metric, BaseGraphMetric):
        raise ValueError(f"expected a fitted metric or a predictor on one, got a {type(model).__name__}")  # noqa: TRY004
    return metric


def map_layout(vectors: Any, seed: int = 0) -> np.ndarray:
    """Positions on a map [N, 2], within the unit square, that keep neighbours of vectors [N, d] together: t-SNE.

    It starts from the two main principal components of the vectors, and sees their first 50. The same vectors and seed
    give the same map.
    """
    from scipy import sparse
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    count, width = vectors.shape
    few = min(50, count - 1, width - 1)
    if few >= 1:
        reduce = TruncatedSVD(few, random_state=seed) if sparse.issparse(vectors) else PCA(few, random_state=seed)
        with np.errstate(invalid="ignore"):  # it divides by the total variance, 0 where all graphs are equal
            vectors = reduce.fit_transform(vectors)
    elif sparse.issparse(vectors):
        vectors = vectors.toarray()
    positions = np.zeros((count, 2))
    wide = min(2, vectors.shape[1])
    positions[:, :wide] = vectors[:, :wide]
    positions += 1e-3 * max(float(positions.std()), 1e-12) * np.random.default_rng(seed).normal(size=positions.shape)
    if count > 4:
        first = 1e-4 * positions / max(float(positions[:, 0].std()), 1e-12)  # the scale t-SNE expects of its start
        perplexity = min(30.0, (count - 1) / 4)
        tsne = TSNE(init=first.astype(np.float32), perplexity=perplexity, max_iter=500, random_state=seed)
        with threadpool_limits(1):  # its threads synchronise at every step: on a busy computer, 20 times slower
            positions = tsne.fit_transform(np.ascontiguousarray(vectors, dtype=np.float32))
    low, high = positions.min(0), positions.max(0)
    extent = np.maximum(high - low, max(float((high - low).max()), 1e-12) / _STRETCH)
    return (positions - (low + high) / 2) / extent + 0.5


def _report(metric: BaseGraphMetric) -> str:
    return str(getattr(metric, "report_", type(metric).__name__))


def _subsample(count: int, seed: int) -> np.ndarray:
    """Indices of the graphs of a page, of more than it can hold."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:MOST_GRAPHS])


def _listed_graphs(graphs: Any) -> list[Any] | None:
    """The user's own graphs, one by one; None where only the collection is there."""
    if isinstance(graphs, Graphs):
        return None
    return graphs.to_data_list() if hasattr(graphs, "to_data_list") else list(getattr(graphs, "graphs", graphs))


def _names(graphs: Graphs, names: Iterable[Any] | None) -> list[str]:
    """What graphs are called: as said, else by their own names, else by their numbers."""
    names = graphs.names if names is None else names
    called = [f"graph {i}" for i in range(len(graphs))] if names is None else [str(name) for name in names]
    if len(called) != len(graphs):
        raise ValueError(f"{len(called)} names for {len(graphs)} graphs: give one name per graph")
    return called


def _most_edges(counts: np.ndarray) -> int:
    """Edges drawn of one graph, at most, so that those of all graphs [N] fit."""
    most = max(int(counts.max(initial=1)), 1)
    while most > 50 and 4 * int(np.minimum(counts, most).sum()) > _EDGE_BYTES:
        most = int(0.9 * most)
    return most


def _drawn(costs: np.ndarray) -> np.ndarray:
    """Which graphs are drawn [N]: all, or those with the smallest drawings, as many as fit."""
    order = np.argsort(costs, kind="stable")
    drawn = np.zeros(len(costs), dtype=bool)
    drawn[order[np.cumsum(costs[order]) <= _DRAWING_BYTES]] = True
    return drawn


def _explain(
    shown: Exploration, metric: BaseGraphMetric, graphs: Any, pairs: list[tuple[int, int]], progress: bool | None
) -> None:
    """Adds the explanations of these pairs; none where the metric has none."""
    with (
        suppress(NotImplementedError),
        progress_bar(progress, "explaining pairs", total=len(pairs), unit="pair", delay=2.0) as bar,
    ):
        for pair, explanation in zip(pairs, metric.explain_pairs(graphs, pairs), strict=True):
            shown.explained.pairs.append(pair)
            shown.explained.records.append(shown.packed(pair, explanation, shown.explained.terms))
            bar.update()


def _targets_of_metadata(metadata: list[Any]) -> Targets:
    """Classes or numbers by what the metadata of graphs say; nothing is predicted."""
    entries = [entry.get("target") if isinstance(entry, dict) else None for entry in metadata]
    truth = np.array([one if isinstance(one, (str, int, float)) else None for one in entries], dtype=object)
    if all(map(is_missing, truth)):
        return Targets()
    task = task_of(truth)
    if task == "classes":  # also where some are strings and others are numbers
        truth = np.array([None if is_missing(one) else str(one) for one in truth], dtype=object)
    return encoded(truth, Targets(task))
