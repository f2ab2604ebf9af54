"""Why two graphs are as far apart as they are, by a metric that is a sum of terms and learned scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ..._core.ragged import concatenated_ranges, offsets
from ...embeddings.embedding import Embedding, attribute_slots
from ...features.edge_cloud import cloud_edges, edge_rows
from ...graphs import Graphs
from ...objectives import Classes, Numbers
from ...objectives.classes import elected_output
from ..base import clear_rounding
from ..explanation import Evidence, Explanation
from .terms import Term

if TYPE_CHECKING:
    from .estimator import GraphMetric

_CHUNK = 50  # pairs whose graphs are described together
Contributions = tuple[np.ndarray, np.ndarray]  # of the points of two clouds to a number: [n], [m]


def explained_by_terms(metric: GraphMetric, graphs: Graphs, pairs: Sequence[tuple[int, int]]) -> Iterator[Explanation]:
    """Distances of pairs of graphs, by their indices, and what each term, block, node and edge adds to the square.

    Graphs are described once for some pairs that follow each other.
    """
    for start in range(0, len(pairs), _CHUNK):
        chosen = np.array(pairs[start : start + _CHUNK]).reshape(-1, 2)
        used, rows = np.unique(chosen, return_inverse=True)
        described = _Described.of(metric, graphs[used])
        for one, two in rows.reshape(-1, 2):
            yield _Pair(metric, described, int(one), int(two)).explained()


@dataclass
class _Described:
    """Graphs with all that a metric makes of them: blocks of features, vectors by term, coordinates."""

    graphs: Graphs
    blocks: dict[str, Any]
    starts: dict[str, np.ndarray]
    embedded: dict[str, Any]
    compared: dict[str, Any]  # by the kernels of the regression
    vectors: Any
    scores: np.ndarray | None
    edge_ends: list[np.ndarray] | None
    slots: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)  # shares of slots, by term and graph

    @classmethod
    def of(cls, metric: GraphMetric, graphs: Graphs) -> _Described:
        blocks, sizes = metric._blocks(graphs), metric.blocks_.sizes(graphs)
        embedded = {key: term.embedded(blocks, sizes[term.cloud]) for key, term in metric.used_terms().items()}
        starts = {cloud: offsets(counts) for cloud, counts in sizes.items()}
        ends = None
        if any(term.cloud == "edges" for term in metric.used_terms().values()):
            ends = cloud_edges(graphs, edge_rows(graphs)[0])
        compared, scores = {}, None
        if metric.learned_ is not None and metric.learned_.width:
            compared, scores = metric.learned_.machine.compared(embedded), metric.learned_.machine.scores(embedded)
        return cls(graphs, blocks, starts, embedded, compared, metric._placed(embedded), scores, ends)


class Question(NamedTuple):
    """What the evidence of two graphs is about: a direction in the space of scores [T], and its ends in words."""

    direction: np.ndarray
    towards: str
    against: str | None
    is_number: bool


class _Pair:
    """Two of the described graphs."""

    def __init__(self, metric: GraphMetric, described: _Described, one: int, two: int) -> None:
        self.metric, self.described, self.indices = metric, described, [one, two]
        starts = described.starts
        self.sizes = {cloud: np.diff(start)[self.indices] for cloud, start in starts.items()}
        rows = {
            cloud: concatenated_ranges(start[:-1][self.indices], self.sizes[cloud]) for cloud, start in starts.items()
        }
        clouds = {name: term.cloud for term in metric.used_terms().values() for name in term.names}
        self.blocks = {name: described.blocks[name][rows[cloud]] for name, cloud in clouds.items()}
        self.embedded = {key: vectors[self.indices] for key, vectors in described.embedded.items()}
        self.compared = {key: vectors[self.indices] for key, vectors in described.compared.items()}

    def explained(self) -> Explanation:
        vectors = self.described.vectors[self.indices]
        vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
        gap = vectors[0].astype(np.float64) - vectors[1]
        distance = float(clear_rounding(np.sqrt(gap @ gap).reshape(1, 1), self.metric.rounding)[0, 0])
        distance = 0.0 if distance < self.metric.rounding else distance
        by_term: dict[str, float] = {}
        gradients: dict[str, np.ndarray] = {}  # by term: that of the distance and that of the learned scores together
        for term, gradient in chosen_gradients(self.metric, self.embedded, gap):
            by_term[term.name] = self.product(term, gradient)
            gradients[term.key] = gradient
        question = self.question()
        asked: dict[str, np.ndarray] = {}  # by term: the gradient of what the evidence is about
        for term, both in learned_gradients(self.metric, self.compared, gap, question):
            name = f"learned from {term.name}"
            by_term[name] = by_term.get(name, 0.0) + self.product(term, both[:, 0])
            gradients[term.key] = gradients.get(term.key, 0.0) + both[:, 0]
            asked[term.key] = asked.get(term.key, 0.0) + both[:, 1]
        whole = sum(by_term.values())
        whole = whole if distance > 0 and whole > 0 else np.inf
        terms = self.metric.used_terms()
        by_block: dict[str, float] = {}
        for key, gradient in gradients.items():
            for name, value in self.block_sums(terms[key], gradient).items():
                by_block[name] = by_block.get(name, 0.0) + value
        shares = self.by_cloud(gradients, 1.0 / whole)
        edges: dict[str, Any] = {}
        if self.described.edge_ends is not None:
            ends = [self.described.edge_ends[index] for index in self.indices]
            edges = {
                "edge_ends": ends,
                "edge_source_share": shares["edges"][0],
                "edge_target_share": shares["edges"][1],
            }
        return Explanation(
            distance, self.plan(), *shares["nodes"], self.described.graphs[self.indices],
            term_share=_largest_first(by_term, whole), block_share=_largest_first(by_block, whole),
            evidence=None if question is None else self.evidence(question, asked), **edges,
        )  # fmt: skip

    def first(self, term: Term) -> int:
        """Points of the first graph in the cloud of a term."""
        return int(self.sizes[term.cloud][0])

    def product(self, term: Term, gradient: np.ndarray) -> float:
        """⟨gradient, difference of the two embedded vectors⟩."""
        one, two = self.embedded[term.key] @ gradient
        return float(one - two)

    def slots(self, term: Term) -> list[np.ndarray] | None:
        """Shares of the slots of an embedding that both graphs fill; None for those that are not made of slots."""
        if type(term.embedding).attribute is not Embedding.attribute or type(term.embedding).plan is not Embedding.plan:
            return None
        slots, points = self.described.slots, None
        for index, rows in zip(self.indices, (slice(self.first(term)), slice(self.first(term), None)), strict=True):
            if (term.key, index) not in slots:
                points = term.points(self.blocks) if points is None else points
                slots[term.key, index] = term.embedding.shares(points[rows])
        return [slots[term.key, index] for index in self.indices]

    def attribute(self, term: Term, gradient: np.ndarray) -> Contributions:
        """What each point adds to ⟨gradient, difference of the two embedded vectors⟩."""
        slots, first = self.slots(term), self.first(term)
        if slots is None:
            return term.attribute(self.blocks, first, gradient)
        points = term.points(self.blocks)
        return attribute_slots(points[:first], points[first:], slots[0], slots[1], gradient)

    def block_sums(self, term: Term, gradient: np.ndarray) -> dict[str, float]:
        """What each block of a term adds to ⟨gradient, difference of the two embedded vectors⟩."""
        whole, first, blocks = self.product(term, gradient), self.first(term), self.blocks
        if len(term.names) == 1:
            return {term.names[0]: whole}
        if term.embedding.takes_columns:
            alone = [
                float(term.embedding.attribute(blocks[name][:first], blocks[name][first:], gradient)[0].sum())
                for name in term.names
            ]
        else:
            alone = self.column_sums(term, gradient)
        rest = (whole - sum(alone)) / len(alone)  # what trees that were not seen in fit add, or pairs left out
        return {name: one + rest for name, one in zip(term.names, alone, strict=True)}

    def column_sums(self, term: Term, gradient: np.ndarray) -> list[float]:
        """What the columns of each block of points in space add, as far as can be told."""
        slots, first = self.slots(term), self.first(term)
        joined = np.concatenate([self.blocks[name] for name in term.names], axis=1) / np.sqrt(len(term.names))
        if slots is not None:
            values = (slots[0] @ joined[:first] - slots[1] @ joined[first:]) / np.sqrt(len(slots[0]))
            grad_values = gradient.reshape(len(values), -1)
        else:
            points = term.points(self.blocks)
            grad_points = term.embedding.attribute_columns(points[:first], points[first:], gradient)
            if grad_points is None:
                return [0.0] * len(term.names)
            values, grad_values = joined, np.concatenate([grad_points[0], -grad_points[1]])
        columns = (values * (grad_values if term.basis is None else grad_values @ term.basis.T)).sum(0)
        cuts = offsets(np.array([self.blocks[name].shape[1] for name in term.names]))
        return [float(columns[a:b].sum()) for a, b in pairwise(cuts)]

    def by_cloud(self, gradients: dict[str, np.ndarray], factor: float) -> dict[str, Contributions]:
        """What the points of each cloud, of both graphs, add to the products with gradients by the key of the term."""
        total = {cloud: (np.zeros(counts[0]), np.zeros(counts[1])) for cloud, counts in self.sizes.items()}
        terms = self.metric.used_terms()
        for key, gradient in gradients.items():
            term = terms[key]
            one, two = total[term.cloud]
            added_one, added_two = self.attribute(term, gradient)
            total[term.cloud] = (one + factor * added_one, two + factor * added_two)
        return total

    def plan(self) -> np.ndarray:
        """Which nodes are compared [n, m], averaged over the terms of nodes; without any, all with all."""
        terms = [term for term in self.metric.terms_ if term.cloud == "nodes"]
        plan = np.zeros(tuple(self.sizes["nodes"]))
        for term in terms:
            slots = self.slots(term)
            if slots is None:
                plan += term.plan(self.blocks, self.first(term)) / len(terms)
            else:
                plan += slots[0].T @ slots[1] / len(slots[0]) / len(terms)
        return plan if terms else np.full(plan.shape, 1.0 / plan.size)

    def question(self) -> Question | None:
        """What tells the two apart by learned scores: one class against another, or the number that differs most."""
        objective = self.metric.objective_
        if self.described.scores is None or not isinstance(objective, (Classes, Numbers)):
            return None
        scores = self.described.scores[self.indices]
        direction = np.zeros(scores.shape[1])
        if isinstance(objective, Numbers):
            column = int(np.abs(scores[0] - scores[1]).argmax())
            direction[column] = objective.scale_[column]
            return Question(direction, f"number {column + 1}" if objective.several_ else "the number", None, True)
        one, two = elected_output(scores)
        direction[one] = 1.0
        towards = str(objective.classes_[one])
        if one == two:
            return Question(direction, towards, None, False)
        direction[two] -= 1.0
        return Question(direction, towards, str(objective.classes_[two]), False)

    def evidence(self, question: Question, gradients: dict[str, np.ndarray]) -> Evidence:
        """What each node and edge adds to the difference of the scores that the question is about."""
        assert self.described.scores is not None
        contributions = self.by_cloud(gradients, 1.0)
        scores = self.described.scores[self.indices]
        change = float((scores[0] - scores[1]) @ question.direction)
        edges = contributions.get("edges") if self.described.edge_ends is not None else None
        return Evidence(
            question.towards, question.against, question.is_number, change, contributions["nodes"][0],
            -contributions["nodes"][1],
            None if edges is None else edges[0], None if edges is None else -edges[1],
        )  # fmt: skip


def _largest_first(parts: dict[str, float], whole: float) -> dict[str, float]:
    """Shares of a whole."""
    return {name: value / whole for name, value in sorted(parts.items(), key=lambda item: -item[1])}


def chosen_gradients(metric: GraphMetric, embedded: dict[str, Any], gap: np.ndarray) -> list[tuple[Term, np.ndarray]]:
    """By chosen term, the vector [D] whose product with the difference of its vectors is what it adds to d².

    gap : ndarray [d]
        Difference of the two graphs' vectors.
    """
    rest = gap[0 if metric.learned_ is None else metric.learned_.width :]
    if metric.compaction_ is not None:
        rest = metric.compaction_.backward(rest)
    gradients, start = [], 0
    for term in metric.terms_:
        end = start + (embedded[term.key].shape[1] if term.projection is None else term.projection.width)
        gradients.append((term, term.backward(rest[start:end])))
        start = end
    return gradients


def learned_gradients(
    metric: GraphMetric, compared: dict[str, Any], gap: np.ndarray, question: Question | None
) -> list[tuple[Term, np.ndarray]]:
    """For each part of the regression its term and two gradients [D, 2]: of d², and of what the question is about."""
    learned = metric.learned_
    if learned is None or learned.width == 0:
        return []
    direction = np.sqrt(learned.gate.weight / learned.unit) * (learned.basis @ gap[: learned.width])
    asked = np.zeros_like(direction) if question is None else question.direction
    return learned.machine.mean_gradients(compared, np.stack([direction, asked], axis=1))
