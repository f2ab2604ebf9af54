"""Classes as the objective: graphs of one class should be near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from ..graphs import Graphs
from .base import Objective
from .votes import class_votes, elected, weighted_votes


class Classes(Objective):
    """Discrete classes; a graph is predicted to be of the class that most of its neighbours have.

    Attributes
    ----------
    classes_ : ndarray
        Class labels seen, ascending; targets are places in it.
    """

    score_name = "accuracy"

    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        self.classes_, codes = np.unique(check_classes(graphs, y), return_inverse=True)
        return codes

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

    def folds(self, target: np.ndarray, count: int, shuffled: np.ndarray) -> np.ndarray:
        """Each class is spread over the folds."""
        folds = np.empty(len(target), dtype=np.int64)
        folds[shuffled[np.argsort(target[shuffled], kind="stable")]] = np.arange(len(target)) % count
        return folds

    def left_out_scores(
        self, distances: np.ndarray, target: np.ndarray, ks: Sequence[int], *, weighted: bool = False
    ) -> np.ndarray:
        """1 where the class is right, else 0."""
        others = distances.astype(np.float32, copy=True)
        np.fill_diagonal(others, np.inf)
        votes = (weighted_votes if weighted else class_votes)(others, target, int(target.max()) + 1, tuple(ks))
        return elected(votes) == target[:, None]

    def held_out_scores(
        self, squares: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int]
    ) -> np.ndarray:
        """For how many k, as a share, the class is right. Of equally near neighbours the first ones vote."""
        order = np.argsort(squares, axis=1, kind="stable")
        voters = np.take_along_axis(neighbors, order, axis=1)
        counts = np.isfinite(np.take_along_axis(squares, order, axis=1))
        n_classes = max(int(target.max()), int(neighbors.max())) + 1
        ballots = (voters[:, :, None] == np.arange(n_classes)) & counts[:, :, None]
        votes = np.cumsum(ballots, axis=1)
        right = [votes[:, min(k, votes.shape[1]) - 1].argmax(1) == target for k in ks]
        return np.mean(right, axis=0)

    def alike(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        return target == others

    def pair_loss(self, scaled: np.ndarray, known: np.ndarray, alike: np.ndarray) -> tuple[float, np.ndarray]:
        """Neighbourhood component analysis: Σ_i −log(probability that graph i chooses a neighbour of its own class).

        The probability of a neighbour falls as e^−d². Of the NCA losses of SGML this one differs in the logarithm and
        in the lists of neighbours in place of full batches.
        """
        energy = np.where(known, -scaled, -np.inf).astype(np.float64)
        own = np.where(alike, energy, -np.inf)
        top, top_own = energy.max(1, keepdims=True), own.max(1, keepdims=True)
        chance, chance_own = np.exp(energy - top), np.exp(own - top_own)
        total, total_own = chance.sum(1, keepdims=True), chance_own.sum(1, keepdims=True)
        value = np.sum(np.log(total) + top - np.log(total_own) - top_own)
        return float(value), chance_own / total_own - chance / total

    def summary(self) -> str:
        return f"{len(self.classes_)} classes"

    def state(self) -> list[Any]:
        return self.classes_.tolist()

    def set_state(self, state: list[Any]) -> None:
        self.classes_ = np.array(state)


def check_classes(graphs: Graphs, y: Any) -> np.ndarray:
    """Class labels of the graphs [N], or a clear error."""
    if y is None:
        if graphs.y is None:
            raise ValueError('no class labels: pass y, or graphs that carry them (Data.y, or graph.graph["y"])')
        y = graphs.y
    y = np.asarray(y.detach().cpu().numpy() if hasattr(y, "detach") else y)
    if y.shape != (len(graphs),):
        raise ValueError(f"{len(graphs)} graphs, but class labels of shape {y.shape}")
    if y.dtype.kind == "O":
        y = y.astype(str)
    missing = y.dtype.kind == "f" and not np.isfinite(y).all()
    if missing or type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError("class labels must be discrete: whole numbers or strings, without NaN")
    if len(np.unique(y)) < 2:
        raise ValueError("all graphs are of one class: a metric is learned from at least two")
    return y
