"""Why two graphs are as far apart as they are, by a weighted mean of families and learned scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._core.ragged import offsets
from ..._core.threads import one_thread_for_products
from ...features.edge_cloud import cloud_edges, edge_rows
from ...graphs import Graphs
from ...objectives import Classes, Numbers
from ...objectives.classes import elected_output
from ..base import clear_rounding, in_range
from ..explanation import Evidence, Explanation
from .contributions import FamilyPair, Parts, pair_of
from .mixture import graphs_sizes, part_of
from .views import View

if TYPE_CHECKING:
    from .estimator import GraphMetric

PREDICTED = "predicted difference"  # what the learned scores add, in `term_share`
_CHUNK = 50  # pairs whose graphs are described together


def explained_by_families(
    metric: GraphMetric, graphs: Graphs, pairs: Sequence[tuple[int, int]]
) -> Iterator[Explanation]:
    """Distances of pairs of graphs, by their indices, and what each family, block, node and edge adds to the square.

    d² is a sum of two: how different the graphs look, which families make up as they do the kernel, Σ w (1 − k); and
    how differently they are predicted. Graphs are described once for some pairs that follow each other.
    """
    for start in range(0, len(pairs), _CHUNK):
        chosen = np.array(pairs[start : start + _CHUNK]).reshape(-1, 2)
        used, rows = np.unique(chosen, return_inverse=True)
        described = _Described.of(metric, graphs[used])
        for one, two in rows.reshape(-1, 2):
            yield _Pair(metric, described, int(one), int(two)).explained()


@dataclass
class _Described:
    """Graphs with all that a metric makes of them."""

    graphs: Graphs
    views: list[View]
    vectors: np.ndarray  # [N, d]
    scores: np.ndarray | None  # [N, T]; None where they are not part of the distance
    by_family: dict[str, np.ndarray]  # what each family adds to the scores [N, T]
    edge_ends: list[np.ndarray] | None

    @classmethod
    @one_thread_for_products()
    def of(cls, metric: GraphMetric, graphs: Graphs) -> _Described:
        mixture, learned = metric.mixture_, metric.learned_
        describer = mixture.describer
        blocks, sizes = describer.read(graphs), graphs_sizes(describer.blocks, graphs)
        described = {name: family.described(graphs, blocks, sizes) for name, family in describer.families.items()}
        kernel = mixture.kernel(described)
        scores, by_family = None, {}
        if learned is not None and learned.width > 0:
            scores = learned.scores(kernel)
            for name, weight in mixture.weights.items():
                by_family[name] = weight * (describer.families[name].kernel(described[name]) @ learned.alpha)
        recipes = [family.recipe for family in describer.families.values()]
        clouds = {block: recipe.cloud for recipe in recipes for block in recipe.names if block in blocks}
        views, starts = [], {cloud: offsets(counts) for cloud, counts in sizes.items()}
        for i in range(len(graphs)):
            of_graph = {cloud: int(counts[i]) for cloud, counts in sizes.items()}
            own = {block: blocks[block][starts[cloud][i] : starts[cloud][i + 1]] for block, cloud in clouds.items()}
            views.append(View(graphs[[i]], own, part_of(described, np.array([i])), of_graph))
        ends = cloud_edges(graphs, edge_rows(graphs)[0]) if "edges" in clouds.values() else None
        return cls(graphs, views, in_range(metric.placed(described, kernel)), scores, by_family, ends)


class Question(NamedTuple):
    """What the evidence of two graphs is about: a direction in the space of scores [T], and its ends in words."""

    direction: np.ndarray
    towards: str
    against: str | None
    is_number: bool


class Total:
    """A number divided among the nodes and edges of two graphs, and among blocks."""

    def __init__(self, views: Sequence[View]) -> None:
        self.sides = [{cloud: np.zeros(size) for cloud, size in view.sizes.items()} for view in views]
        self.blocks: dict[str, float] = {}

    def add(self, cloud: str, parts: Parts) -> None:
        """Parts of one family."""
        for side, values in zip(self.sides, (parts.source, parts.target), strict=True):
            side[cloud] += values
        for name, value in parts.blocks.items():
            self.blocks[name] = self.blocks.get(name, 0.0) + value


class _Pair:
    """Two of the described graphs."""

    def __init__(self, metric: GraphMetric, described: _Described, one: int, two: int) -> None:
        self.metric, self.described, self.indices = metric, described, [one, two]
        self.views = described.views[one], described.views[two]
        families, self.weights = metric.mixture_.describer.families, metric.mixture_.weights
        self.pairs: dict[str, FamilyPair] = {name: pair_of(families[name], *self.views) for name in self.weights}

    def explained(self) -> Explanation:
        width = 0 if self.metric.learned_ is None else self.metric.learned_.width
        one, two = self.described.vectors[self.indices].astype(np.float64)
        gap = one - two
        distance = float(clear_rounding(np.sqrt(gap @ gap).reshape(1, 1), self.metric.rounding)[0, 0])
        apart = {name: self.weights[name] * pair.apart() for name, pair in self.pairs.items()}
        per_apart = float(gap[width:] @ gap[width:]) / max(sum(apart.values()), 1e-300)
        looks = {name: per_apart * value for name, value in apart.items()}
        question = self.question()
        directions = self.directions(gap[:width], question)
        changes = self.changes(directions)
        shares: dict[str, float] = {}
        for name, value in looks.items():
            words = self.pairs[name].family.recipe.words
            shares[words] = shares.get(words, 0.0) + value
        if width:
            shares[PREDICTED] = float(sum(change[0] for change in changes.values()))
        whole = sum(shares.values())
        whole = whole if distance > 0 and whole > 0 else np.inf
        square, *rest = self.totals(looks, per_apart, directions, changes)
        one_side, other_side = ({cloud: values / whole for cloud, values in side.items()} for side in square.sides)
        edges: dict[str, Any] = {}
        if self.described.edge_ends is not None:
            ends = [self.described.edge_ends[index] for index in self.indices]
            edges = {
                "edge_ends": ends,
                "edge_source_share": one_side["edges"],
                "edge_target_share": other_side["edges"],
            }
        return Explanation(
            distance, self.plan(), one_side["nodes"], other_side["nodes"], self.described.graphs[self.indices],
            term_share=_largest_first(shares, whole), block_share=_largest_first(square.blocks, whole),
            evidence=None if question is None else self.evidence(question, changes, rest[0]), **edges,
        )  # fmt: skip

    def directions(self, gap: np.ndarray, question: Question | None) -> np.ndarray:
        """Directions in the space of scores [T, C]: along the gap in the distance, and what the question is about."""
        learned = self.metric.learned_
        if learned is None or learned.width == 0:
            return np.zeros((0, 1))
        along = np.sqrt(learned.gate.weight / learned.unit) * (learned.basis @ gap)
        if sum(change[0] for change in self.changes(along[:, None]).values()) <= 0:  # nothing but rounding
            along = np.zeros_like(along)
        return np.stack([along] if question is None else [along, question.direction], axis=1)

    def changes(self, directions: np.ndarray) -> dict[str, np.ndarray]:
        """By family, how much the scores that it adds differ along each direction [C]."""
        one, two = self.indices
        if not len(directions):
            return {name: np.zeros(directions.shape[1]) for name in self.pairs}
        return {name: (scores[one] - scores[two]) @ directions for name, scores in self.described.by_family.items()}

    def totals(
        self, looks: dict[str, float], per_apart: float, directions: np.ndarray, changes: dict[str, np.ndarray]
    ) -> list[Total]:
        """The squared distance divided, and what the question is about."""
        totals = [Total(self.views) for _ in range(directions.shape[1])]
        alpha = None
        if len(directions):
            assert self.metric.learned_ is not None
            alpha = self.metric.learned_.alpha @ directions
        for name, pair in self.pairs.items():
            weight, wholes = self.weights[name], changes[name].copy()
            wholes[0] += looks[name]
            found = pair.parts(per_apart * weight, None if alpha is None else weight * alpha)
            for total, parts, whole in zip(totals, found, wholes, strict=True):
                total.add(pair.cloud, parts.completed(float(whole)))
        return totals

    def plan(self) -> np.ndarray:
        """Which nodes are compared [n, m], averaged over the families of nodes; without any, all with all."""
        names = [name for name, pair in self.pairs.items() if pair.family.recipe.cloud == "nodes"]
        shape = [view.sizes["nodes"] for view in self.views]
        if not names:
            return np.full(shape, 1.0 / np.prod(shape))
        total = sum(self.weights[name] for name in names)
        return sum((self.weights[name] / total * self.pairs[name].plan() for name in names), np.zeros(shape))

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

    def evidence(self, question: Question, changes: dict[str, np.ndarray], total: Total) -> Evidence:
        """What each node and edge adds to the difference of the scores that the question is about."""
        change = float(sum(one[1] for one in changes.values()))
        first, second = total.sides
        edges = [None, None] if self.described.edge_ends is None else [first["edges"], -second["edges"]]
        return Evidence(
            question.towards, question.against, question.is_number, change, first["nodes"], -second["nodes"], *edges
        )


def _largest_first(parts: dict[str, float], whole: float) -> dict[str, float]:
    """Shares of a whole."""
    return {name: value / whole for name, value in sorted(parts.items(), key=lambda item: -item[1])}
