import numpy as np
import pytest

from graph_metric_learn.viz.explorer.pairs import Near, choose_pairs, find_near
from graph_metric_learn.viz.explorer.predictions import Targets
from toy_metrics import FirstColumn, points

AT = [0.0, 1.0, 1.5, 4.0, 5.5]


@pytest.fixture
def near():
    metric = FirstColumn().fit(points(*AT))
    targets = Targets("classes", ["a", "b"], values=np.array([0, 0, 1, 1, 0]), predicted=np.array([0, 1, 1, 1, 1]))
    return find_near(metric, metric.embed(points(*AT)), targets, 2), targets


def test_neighbours_are_the_nearest_of_all_and_of_each_class(near):
    found, _ = near
    assert found.indices.tolist() == [[1, 2], [2, 0], [1, 0], [4, 2], [3, 2]]
    np.testing.assert_allclose(found.distances[0], [1.0, 1.5])
    assert found.own.tolist() == [1, 0, 3, 2, 1]
    assert found.other.tolist() == [2, 2, 1, 4, 3]
    np.testing.assert_allclose(found.own_distances, [1.0, 1.0, 2.5, 2.5, 4.5])


def test_the_most_wanted_pairs_come_first_and_none_twice(near):
    found, targets = near
    costs, drawn = np.ones(5, dtype=int), np.ones(5, dtype=bool)
    assert targets.wrong.tolist() == [False, True, False, False, True]
    assert choose_pairs(found, targets, costs, 4, 99, drawn) == [(1, 0), (4, 1)]  # wrong ones, with their own class
    assert choose_pairs(found, targets, costs, 99, 3, drawn) == [(1, 0), (1, 2), (4, 1)]  # then with another
    every = choose_pairs(found, targets, costs, 10**6, 99, drawn)
    assert len({frozenset(pair) for pair in every}) == len(every)
    beside = choose_pairs(found, targets, costs, 10**6, 99, np.arange(5) != 1)
    assert beside == [pair for pair in every if 1 not in pair]
    assert {frozenset(pair) for pair in every} >= {
        frozenset((i, j)) for i in range(5) for j in found.indices[i].tolist()
    }
    assert every == sorted(every)


def test_without_classes_and_with_a_single_graph():
    metric = FirstColumn().fit(points(*AT))
    found = find_near(metric, metric.embed(points(*AT)), Targets(), 9)
    assert found.indices.shape == (5, 4)
    assert (found.own == -1).all()
    alone = find_near(metric, metric.embed(points(1.0)), Targets(), 3)
    assert alone.indices.shape == (1, 0)
    assert choose_pairs(alone, Targets(), np.ones(1, dtype=int), 99, 99, np.ones(1, dtype=bool)) == []
    assert isinstance(alone, Near)
