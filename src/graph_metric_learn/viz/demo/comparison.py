"""The demo's experiment: digits as graphs, read by k-NN with and without a learned metric, and as raw pixels."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...datasets import load_digits
from ...metrics.automatic.estimator import GraphMetric
from ...predictors.knn import GraphKNNClassifier
from ..render import percent

if TYPE_CHECKING:
    from torch_geometric.data import Data

TEST_SHARE = 0.2
MIN_GRAPHS = 100  # for ten digits, in both parts
# The metric "before learning": the mean of all node features.
UNLEARNED: dict[str, Any] = {"features": ["attributes@0", "labels@0"], "embedding": "mean", "learn": False}
N_NEIGHBORS = 5
_N_TIMED = 30  # graphs that are read one by one to see how long one takes


class Part(NamedTuple):
    """Graphs, their digits [N], and the images that they come from [N, 64]."""

    graphs: list[Data]
    y: np.ndarray
    images: np.ndarray


def split_digits(max_graphs: int | None = None, seed: int = 0) -> tuple[Part, Part]:
    """Digits as graphs, four fifths for training and one fifth for testing, stratified by digit.

    A node's attribute `x` [n, 1] is its intensity. Its two labels `node_labels` [n, 2] are its row and its column, 0 to
    7: as one-hot features, they leave it to the metric how much each row and each column counts.
    """
    from sklearn.datasets import load_digits as load_images
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = load_images().data
    chosen = np.arange(len(digits.y))
    if max_graphs is not None and max_graphs < len(chosen):
        if max_graphs < MIN_GRAPHS:
            raise ValueError(f"max_graphs={max_graphs}: ten digits need at least {MIN_GRAPHS} graphs")
        chosen, _ = train_test_split(chosen, train_size=max_graphs, stratify=digits.y, random_state=seed)
    parts = train_test_split(chosen, test_size=TEST_SHARE, stratify=digits.y[chosen], random_state=seed)
    train, test = (Part([_with_labels(digits.graphs[i]) for i in part], digits.y[part], images[part]) for part in parts)
    return train, test


def _with_labels(graph: Data) -> Data:
    """The same graph with row and column as labels; `load_digits` has them as attributes scaled to −1 … 1."""
    from torch_geometric.data import Data

    pixel = ((graph.x[:, :2] + 1) * 3.5).round().long()
    return Data(
        x=graph.x[:, 2:], edge_index=graph.edge_index, node_labels=pixel, pos=graph.pos, drawing="pos", y=graph.y
    )


class Outcome(NamedTuple):
    """One metric's result on the test graphs."""

    classifier: GraphKNNClassifier  # its references are the training graphs
    predicted: np.ndarray  # [N] digits of the test graphs
    correct: np.ndarray  # [N] whether the predicted digit is the true one

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


def compare_digits(train: Part, test: Part, seed: int, say: Callable[[str], Any]) -> Comparison:
    """Learns, predicts with and without what was learned, and says how it goes."""
    say(f"{len(train.y) + len(test.y)} handwritten digits as graphs: nodes are pixels with ink and carry their")
    say(f"intensity, row and column; {len(train.y)} graphs to learn from, {len(test.y)} to test on")
    say("compiling, where that was not done before (some 15 s) ...")
    GraphMetric(random_state=seed).fit(train.graphs[:64], train.y[:64])  # compiled now, so that learning is timed alone
    before = evaluate(GraphMetric(**UNLEARNED, random_state=seed), train, test)
    say(f"{N_NEIGHBORS}-NN accuracy before learning: {percent(before.accuracy, 1)}")
    after = evaluate(GraphMetric(random_state=seed), train, test)
    learned_in = f"learned in {after.metric.seconds_:.1f} s"
    say(f"{N_NEIGHBORS}-NN accuracy after learning:  {percent(after.accuracy, 1)}  ({learned_in})")
    pixels = pixel_accuracy(train, test)
    say(f"{N_NEIGHBORS}-NN accuracy on raw pixels:   {percent(pixels, 1)}")
    say(after.metric.report_)
    return Comparison(train, test, before, after, pixels, one_by_one(after.classifier, test.graphs))


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
