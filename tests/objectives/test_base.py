"""An objective from outside the library, used from end to end: nothing in the library names it."""

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.objectives import OBJECTIVES, Objective
from graph_metric_learn.objectives.folds import spread_folds


class Order(Objective):
    """Graphs have ranks; neighbours should have ranks close by. A toy, with scores 1 / (1 + error)."""

    score_name = "closeness"
    guess_name = "the middle rank"

    def encode(self, graphs, y):
        return np.asarray(y, dtype=float)

    def outputs(self, target):
        return (target - 30)[:, None] / 30

    def decode(self, target):
        return target

    def subsample(self, target, most, rng):
        return np.sort(rng.permutation(len(target))[:most])

    def folds(self, target, count, rng, groups=None):
        return spread_folds(np.zeros(len(target), dtype=int), count, rng, groups)

    def neighbor_scores(self, distances, neighbors, target, ks, *, weighted=False):
        order = np.argsort(distances, axis=1, kind="stable")
        return np.stack([1 / (1 + np.abs(neighbors[order[:, :k]].mean(1) - target)) for k in ks], axis=1)

    def output_scores(self, outputs, target):
        return 1 / (1 + np.abs(outputs[:, 0] * 30 + 30 - target))

    def guess(self, target, others):
        return 1 / (1 + np.abs(np.median(target) - others))

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
    assert isinstance(loaded.objective_, Order)
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
    with pytest.raises(ValueError, match=r"must be discrete|of one class"):
        gml.GraphMetric(task="classes").fit(graphs, ranks + 0.5)


def test_what_every_objective_has():
    """Each graph among all others, itself left out; no balance, and scores with three digits."""
    distances = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 8.0], [9.0, 8.0, 0.0]])
    before = distances.copy()
    scores = Order().left_out_scores(distances, np.array([0.0, 1.0, 5.0]), (1, 2))
    np.testing.assert_allclose(scores, 1 / (1 + np.array([[1, 3], [1, 1.5], [4, 4.5]])))
    np.testing.assert_array_equal(distances, before)
    assert Order().balanced(np.ones(3), np.arange(3.0)) is None
    assert Order().balanced_error(np.ones(3), np.arange(3.0), np.arange(3)) is None
    assert Order().error_in_words(0.5) is None
    assert (Order().in_words(0.5), Order().in_words(-0.0)) == ("0.500", "0.000")
    assert Order.supervised


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_all_that_comes_with_the_library_is_complete(kind):
    """Nothing abstract is left, and the state is what JSON can hold."""
    import json

    graphs = gml.as_graphs([nx.path_graph(n) for n in range(2, 8)])
    objective = OBJECTIVES[kind]()
    y = np.array([0, 1, 0, 1, 1, 0])
    target = objective.encode(graphs, np.stack([y, 1 - y], axis=1) if kind == "labels" else y)
    again = OBJECTIVES[kind]()
    again.set_state(json.loads(json.dumps(objective.state())))
    np.testing.assert_array_equal(again.decode(target), objective.decode(target))
    assert again.outputs(target).shape[0] == 6
    assert again.summary() == objective.summary()
