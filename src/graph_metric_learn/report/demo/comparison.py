"""The demo's experiment: k-NN with and without a learned metric on the same test graphs, and what to show of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...metrics.automatic.estimator import GraphMetric
from ...neighbors.knn import GraphKNNClassifier
from .digits import Part

# The metric "before learning": the mean of all node features.
UNLEARNED: dict[str, Any] = {"features": ["attributes@0", "labels@0"], "embedding": "mean", "learn": False}
N_NEIGHBORS = 5


@dataclass(frozen=True)
class Outcome:
    """One metric's result on the test graphs.

    Attributes
    ----------
    classifier : GraphKNNClassifier
        Its references are the training graphs.
    predicted : ndarray [N]
        Digits of the test graphs.
    distances : ndarray [N, M]
        Between test and training graphs.
    correct : ndarray [N]
        Whether the predicted digit is the true one.
    milliseconds : float
        To classify one test graph.
    """

    classifier: GraphKNNClassifier
    predicted: np.ndarray
    distances: np.ndarray
    correct: np.ndarray
    milliseconds: float

    @property
    def metric(self) -> GraphMetric:
        return self.classifier.metric_

    @property
    def accuracy(self) -> float:
        return float(self.correct.mean())


class Comparison(NamedTuple):
    """The data and the results before and after learning."""

    train: Part
    test: Part
    before: Outcome
    after: Outcome


def evaluate(metric: GraphMetric, train: Part, test: Part) -> Outcome:
    """Fits k-NN with a metric on the training graphs and classifies the test graphs."""
    classifier = GraphKNNClassifier(metric, n_neighbors=N_NEIGHBORS).fit(train.graphs, train.y)
    start = time.perf_counter()
    predicted = classifier.predict(test.graphs)
    milliseconds = 1e3 * (time.perf_counter() - start) / len(test.y)
    distances = classifier.metric_.pairwise_distances(test.graphs, train.graphs)
    return Outcome(classifier, predicted, distances, predicted == test.y, milliseconds)


def example_queries(comparison: Comparison, n_corrected: int = 4) -> list[int]:
    """Test graphs to show: the first of different digits that learning corrects, and the first misread after it."""
    before, after = comparison.before.correct, comparison.after.correct
    chosen: dict[Any, int] = {}  # by digit
    for query in np.flatnonzero(after & ~before):
        chosen.setdefault(comparison.test.y[query].item(), int(query))
    return [*list(chosen.values())[:n_corrected], *np.flatnonzero(~after)[:1].tolist()]


def nearest_of_other_digit(comparison: Comparison, query: int) -> int:
    """The training graph of another digit that was nearest to a test graph before learning."""
    same_digit = comparison.train.y == comparison.test.y[query]
    return int(np.where(same_digit, np.inf, comparison.before.distances[query]).argmin())


def same_digit_share(distances: np.ndarray, y: np.ndarray) -> float:
    """Share of the N_NEIGHBORS nearest others of each graph that show its digit, from all distances [N, N].

    >>> same_digit_share(np.zeros((6, 6)), np.zeros(6, int))
    1.0
    """
    others = np.argsort(distances + np.diag(np.full(len(y), np.inf)), axis=1)[:, :N_NEIGHBORS]
    return float(np.mean(y[others] == y[:, None]))
