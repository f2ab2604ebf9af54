"""The demo's experiment: k-NN with and without a learned metric on the same test graphs, beside k-NN on raw pixels."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...metrics.automatic.estimator import GraphMetric
from ...predictors.knn import GraphKNNClassifier
from .digits import Part

# The metric "before learning": the mean of all node features.
UNLEARNED: dict[str, Any] = {"features": ["attributes@0", "labels@0"], "embedding": "mean", "learn": False}
N_NEIGHBORS = 5
_N_TIMED = 30  # graphs that are read one by one to see how long one takes


@dataclass(frozen=True)
class Outcome:
    """One metric's result on the test graphs.

    Attributes
    ----------
    classifier : GraphKNNClassifier
        Its references are the training graphs.
    predicted : ndarray [N]
        Digits of the test graphs.
    correct : ndarray [N]
        Whether the predicted digit is the true one.
    """

    classifier: GraphKNNClassifier
    predicted: np.ndarray
    correct: np.ndarray

    @property
    def metric(self) -> GraphMetric:
        return self.classifier.metric_

    @property
    def accuracy(self) -> float:
        return float(self.correct.mean())


class Comparison(NamedTuple):
    """The data, the results before and after learning, the accuracy on raw pixels, and milliseconds for one graph."""

    train: Part
    test: Part
    before: Outcome
    after: Outcome
    pixels: float
    milliseconds: float


def evaluate(metric: GraphMetric, train: Part, test: Part) -> Outcome:
    """Fits k-NN with a metric on the training graphs and classifies the test graphs."""
    classifier = GraphKNNClassifier(metric, n_neighbors=N_NEIGHBORS).fit(train.graphs, train.y)
    predicted = classifier.predict(test.graphs)
    return Outcome(classifier, predicted, predicted == test.y)


def one_by_one(classifier: GraphKNNClassifier, graphs: list[Any]) -> float:
    """Milliseconds to read one graph, the median of some that are read one after the other, after a first one."""
    taken = []
    for graph in graphs[: _N_TIMED + 1]:
        began = time.perf_counter()
        classifier.predict([graph])
        taken.append(1e3 * (time.perf_counter() - began))
    return float(np.median(taken[1:] or taken))


def pixel_accuracy(train: Part, test: Part) -> float:
    """Accuracy of k-NN on the images themselves, pixel by pixel: a simple reference that knows they are images."""
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(N_NEIGHBORS).fit(train.images, train.y).score(test.images, test.y))
