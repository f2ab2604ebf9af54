"""An objective from outside the library, used from end to end: nothing in the library names it."""

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.objectives import OBJECTIVES, Objective, resolve_objective


class Order(Objective):
    """Graphs have ranks; neighbours should have ranks close by. A toy, with scores 1 / (1 + error)."""

    def encode(self, graphs, y):
        return np.asarray(y, dtype=float)

    def subsample(self, target, most, rng):
        return np.sort(rng.permutation(len(target))[:most])

    def folds(self, target, count, shuffled):
        folds = np.empty(len(target), dtype=np.int64)
        folds[shuffled] = np.arange(len(target)) % count
        return folds

    def left_out_scores(self, distances, target, ks: Sequence[int], *, weighted=False):
        others = distances + np.where(np.eye(len(target)), np.inf, 0)
        order = np.argsort(others, axis=1, kind="stable")
        return np.stack([1 / (1 + np.abs(target[order[:, :k]].mean(1) - target)) for k in ks], axis=1)

    def held_out_scores(self, squares, neighbors, target, ks):
        order = np.take_along_axis(neighbors, np.argsort(squares, axis=1), axis=1)
        return np.mean([1 / (1 + np.abs(order[:, :k].mean(1) - target)) for k in ks], axis=0)

    def alike(self, target, others):
        return np.abs(target - others) <= 2

    def pair_loss(self, scaled, known, alike):
        wanted = (known & alike).astype(float)
        return float((scaled * wanted).sum()), wanted

    def summary(self):
        return "ranks"

    def state(self):
        return []

    def set_state(self, state):
        pass


@pytest.fixture
def order(monkeypatch):
    monkeypatch.setitem(OBJECTIVES, "order", Order)


def test_an_objective_from_outside_is_used_from_end_to_end(order, tmp_path):
    """Sizes are what ranks follow: the objective must find them, though classes would be one per graph."""
    rng = np.random.default_rng(0)
    graphs = [nx.gnp_random_graph(int(n), 0.3, seed=int(n)) for n in rng.permutation(np.arange(5, 65))]
    ranks = np.array([len(graph) for graph in graphs], dtype=float)
    metric = gml.GraphMetric(task="order", random_state=0).fit(graphs[:40], ranks[:40])
    nearest = metric.pairwise_distances(graphs[40:], graphs[:40]).argmin(1)
    assert np.abs(ranks[nearest] - ranks[40:]).mean() < 4
    assert "(ranks, " in metric.report_
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    with pytest.raises(ValueError, match=r"must be discrete|of one class"):
        gml.GraphMetric(task="classes").fit(graphs, ranks + 0.5)


def test_an_unknown_objective_is_named():
    with pytest.raises(ValueError, match="unknown task 'order': use one of 'classes'"):
        resolve_objective("order")
    with pytest.raises(ValueError, match="unknown task='order': use one of 'auto', 'classes'"):
        gml.GraphMetric(task="order").fit([nx.path_graph(3)] * 4, [0, 1, 0, 1])
