"""Classes as the objective: graphs of one class should be near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from sklearn.utils.multiclass import type_of_target

from .._core.schema import Labels, check_labels, read
from ..graphs import Graphs
from .base import Objective, error_of_equals
from .folds import spread_folds
from .targets import given_targets, is_missing
from .votes import class_votes, elected

_ROUNDING = 1e-12  # sums of scores less their mean that are no more than this are 0


class Classes(Objective):
    """Discrete classes; a graph is predicted to be of the class that most of its neighbours have.

    `classes_` are the labels seen, ascending; targets are indices into them.
    """

    score_name = "accuracy"
    guess_name = "the largest class"
    scale_invariant = True  # the largest output says which class

    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        self.classes_, codes = np.unique(check_classes(graphs, y), return_inverse=True)
        return codes

    def encode_more(self, graphs: Graphs, y: Any) -> np.ndarray:
        """A class that was not seen is an error."""
        labels = scored_classes(graphs, y)
        codes = np.searchsorted(self.classes_, labels) if labels.dtype.kind == self.classes_.dtype.kind else None
        if codes is None:
            raise ValueError(
                f"classes are {labels.dtype}, those seen so far {self.classes_.dtype}: give labels of one type"
            )
        codes = np.minimum(codes, len(self.classes_) - 1)
        unknown = np.flatnonzero(self.classes_[codes] != labels)
        if len(unknown):
            raise ValueError(
                f"graph {unknown[0]} is of class {labels[unknown[0]].item()!r}, which was not seen: name it by classes="
            )
        return codes

    def extended(self, labels: Any) -> tuple[Classes, np.ndarray]:
        """The objective with more classes, and where the classes of this one are among them [C]."""
        more = Classes()
        more.classes_ = np.union1d(self.classes_, np.asarray(labels))
        if more.classes_.dtype.kind != self.classes_.dtype.kind:
            raise ValueError(f"classes {list(labels)} are not of the type of those seen, {self.classes_.dtype}")
        return more, np.searchsorted(more.classes_, self.classes_)

    @classmethod
    def of(cls, labels: np.ndarray) -> tuple[Classes, np.ndarray]:
        """The objective for labels [N] that were checked, and the targets [N]."""
        objective = cls()
        objective.classes_, codes = np.unique(labels, return_inverse=True)
        return objective, codes

    def subsample(self, target: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
        """Each class in its proportion, but with at least two graphs, if it has them and they fit."""
        if len(target) <= most:
            return np.arange(len(target))
        shuffled = rng.permutation(len(target))
        rank = np.empty(len(target))
        for code in np.unique(target):
            members = shuffled[target[shuffled] == code]
            rank[members] = (np.arange(len(members)) + rng.random()) / len(members)
            rank[members[:2]] = -1.0
        return np.sort(np.argsort(rank, kind="stable")[:most])

    def folds(
        self, target: np.ndarray, count: int, rng: np.random.Generator, groups: np.ndarray | None = None
    ) -> np.ndarray:
        """Each class is spread over the folds."""
        return spread_folds(target, count, rng, groups)

    def neighbor_scores(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """1 where the class is right, else 0."""
        n_classes = max(int(target.max()), int(neighbors.max())) + 1
        votes = class_votes(distances, neighbors, n_classes, tuple(ks), weighted=weighted)
        return elected(votes) == target[:, None]

    def neighbor_outputs(
        self, distances: np.ndarray, neighbors: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """Shares of the votes."""
        votes = class_votes(distances, neighbors, len(self.classes_), tuple(ks), weighted=weighted)
        return votes / np.maximum(votes.sum(2, keepdims=True), 1e-300)

    def rarest_share(self, target: np.ndarray) -> float | None:
        """Of more than two classes, what it would be of two: half of its size relative to the mean."""
        counts = np.bincount(target, minlength=len(self.classes_))
        there = counts[counts > 0]
        return float(there.min() / there.mean() / 2)

    def relevance(self, target: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """Each class against the others; of two, the rarer."""
        counts = np.bincount(target, minlength=len(self.classes_))
        columns = [int(counts.argmin())] if len(counts) == 2 else list(range(len(counts)))
        return (target[:, None] == np.array(columns)).astype(float), columns

    def outputs(self, target: np.ndarray) -> np.ndarray:
        """A column per class [N, C], 1 for the own."""
        return np.eye(len(self.classes_))[target]

    def output_scores(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        """1 where the largest output is that of the right class [N]."""
        return (elected_output(outputs) == target).astype(float)

    def guess(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The largest class."""
        return (others == np.bincount(target).argmax()).astype(float)

    def balanced(self, scores: np.ndarray, target: np.ndarray) -> float | None:
        counts = np.bincount(target)
        if counts.max() < 1.2 * counts.min():
            return None
        return float(np.mean([scores[target == code].mean() for code in np.unique(target)]))

    def balanced_error(self, scores: np.ndarray, target: np.ndarray, groups: np.ndarray) -> float | None:
        """A class whose draws do not differ counts as if one more were right, and one wrong: few are never certain."""
        if self.balanced(scores, target) is None:
            return None
        group, codes = np.unique(groups, return_inverse=True)[1], np.unique(target)
        of_groups, square = np.zeros(group.max() + 1), 0.0
        for code in codes:
            members = np.flatnonzero(target == code)
            own, draw = np.unique(group[members], return_inverse=True)
            of_draws = np.bincount(draw, scores[members] - scores[members].mean()) / len(members)
            if np.abs(of_draws).max() <= _ROUNDING:
                square += error_of_equals(len(own)) ** 2
            of_groups[own] += of_draws
        return float(np.sqrt((of_groups**2).sum() + square) / len(codes))

    def decode(self, target: np.ndarray) -> np.ndarray:
        return self.classes_[target]

    def in_words(self, score: float) -> str:
        return f"{100 * score:.1f} %"

    def summary(self) -> str:
        return f"{len(self.classes_)} classes"

    def state(self) -> list[Any]:
        return self.classes_.tolist()

    def set_state(self, state: Any) -> None:
        labels: Labels = read(Annotated[Labels, Meta(min_length=2)], state, "classes")
        check_labels("classes", labels)
        self.classes_ = np.array(labels)

    def n_outputs(self) -> int | None:
        """As many as classes; unknown of a subclass with outputs of its own."""
        return len(self.classes_) if type(self).outputs is Classes.outputs else None


def elected_output(outputs: np.ndarray) -> np.ndarray:
    """The column with the largest output [N]; the first of those that differ by rounding only."""
    return (outputs >= outputs.max(1, keepdims=True) - 1e-9).argmax(1)


def check_classes(graphs: Graphs, y: Any) -> np.ndarray:
    """Class labels of the graphs [N] that can be learned from, or a clear error."""
    targets = scored_classes(graphs, y)
    if len(np.unique(targets)) < 2:
        raise ValueError("all graphs are of one class: a metric is learned from at least two")
    return targets


def scored_classes(graphs: Graphs, y: Any) -> np.ndarray:
    """The same, but they may all be of one class."""
    targets = given_targets(graphs, y)
    if targets is None:
        raise ValueError('no class labels: pass y, or graphs that carry them (Data.y, or graph.graph["y"])')
    targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
    if targets.shape != (len(graphs),):
        several = "; learn several classes one at a time" if targets.ndim == 2 and len(targets) == len(graphs) else ""
        raise ValueError(f"{len(graphs)} graphs, but class labels of shape {targets.shape}{several}")
    missing = [i for i, label in enumerate(targets.tolist()) if is_missing(label) or label in (np.inf, -np.inf)]
    if missing:
        raise ValueError(
            f"the class of graph {missing[0]} is missing: its label is {targets[missing[0]]} ({len(missing)} such "
            "graphs in all); give each graph a class, or leave it out"
        )
    if targets.dtype.kind == "O" and any(isinstance(label, str) for label in targets):
        raise ValueError("class labels must be all strings or all numbers, not both")
    if targets.dtype.kind not in "biuUSf" or type_of_target(targets) not in ("binary", "multiclass"):
        raise ValueError(
            "class labels must be discrete: whole numbers or strings; other numbers are for GraphRegressor, or a "
            'metric with task="numbers"'
        )
    return targets
