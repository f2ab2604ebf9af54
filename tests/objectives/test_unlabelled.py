import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Unlabelled

PATHS = as_graphs([nx.path_graph(n) for n in range(2, 22)])


def test_targets_are_not_looked_at():
    objective = Unlabelled()
    assert not objective.supervised
    for y in (None, ["a", None] * 10, "anything"):
        assert objective.encode(PATHS, y).shape == (20, 0)
    target = objective.encode(PATHS, None)
    assert objective.outputs(target).shape == objective.decode(target).shape == (20, 0)
    assert objective.summary() == "no targets"
    objective.set_state(objective.state())


def test_subsamples_and_folds_are_drawn_at_random():
    target = Unlabelled().encode(PATHS, None)
    some = Unlabelled().subsample(target, 7, np.random.default_rng(0))
    assert len(some) == 7
    assert (np.diff(some) > 0).all()
    folds = Unlabelled().folds(target, 5, np.random.default_rng(0), np.arange(20) // 2)
    assert np.bincount(folds).tolist() == [4] * 5
    assert (folds[::2] == folds[1::2]).all()


def test_there_is_nothing_to_score():
    target = np.zeros((20, 0))
    with pytest.raises(ValueError, match="without targets, neighbours cannot be scored"):
        Unlabelled().left_out_scores(np.zeros((20, 20)), target, (1,))
    with pytest.raises(ValueError, match="without targets, predictions cannot be scored"):
        Unlabelled().output_scores(target, target)
    with pytest.raises(ValueError, match="without targets, predictions cannot be scored"):
        Unlabelled().guess(target, target)


def test_a_metric_without_targets_does_not_depend_on_them():
    graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    without = gml.GraphMetric(random_state=0).fit(graphs).transform(graphs)
    for y in ([0] * 8 + [1] * 8, [None] * 16):
        given = gml.GraphMetric(task="none", random_state=0).fit(graphs, y)
        np.testing.assert_array_equal(given.transform(graphs), without)
        assert "no targets" in given.report_
