import numpy as np

from graph_metric_learn.report.demo.comparison import (
    Comparison,
    Outcome,
    evaluate,
    example_queries,
    nearest_of_other_digit,
    same_digit_share,
)
from graph_metric_learn.report.demo.digits import Part


def outcome(correct, distances=None):
    correct = np.array(correct, dtype=bool)
    return Outcome(None, None, distances, correct, 0.0)


def test_an_outcome_is_that_of_its_classifier(small):
    found = small.after
    assert (found.predicted == found.classifier.predict(small.test.graphs)).all()
    assert found.accuracy == found.classifier.score(small.test.graphs, small.test.y)
    expected = found.metric.pairwise_distances(small.test.graphs, small.train.graphs)
    assert np.array_equal(found.distances, expected)
    assert np.array_equal(evaluate(found.metric, small.train, small.test).distances, expected)


def test_queries_are_the_first_corrected_of_each_digit_then_the_first_misread():
    test = Part([], np.array([1, 1, 2, 3, 3, 4]))
    before = outcome([0, 0, 0, 1, 0, 0])
    after = outcome([1, 1, 1, 0, 1, 0])
    comparison = Comparison(Part([], test.y), test, before, after)
    assert example_queries(comparison) == [0, 2, 4, 3]  # 1 shows the same digit as 0
    assert example_queries(comparison, n_corrected=1) == [0, 3]
    assert example_queries(comparison._replace(after=before)) == [0]  # nothing corrected: the first misread alone


def test_the_nearest_of_another_digit_is_that_before_learning():
    train, test = Part([], np.array([7, 8, 9])), Part([], np.array([7]))
    before, after = (outcome([1], np.array([row])) for row in ([1.0, 3.0, 2.0], [1.0, 2.0, 3.0]))
    assert nearest_of_other_digit(Comparison(train, test, before, after), 0) == 2


def test_a_graph_is_not_its_own_neighbour():
    distances = 1.0 - np.eye(7)
    assert same_digit_share(distances, np.arange(7)) == 0
    pairs = np.where(np.add.outer(np.arange(6), np.arange(6)) % 2 == 0, 1.0, 2.0)  # even and odd ones lie together
    assert same_digit_share(pairs, np.arange(6) % 2) == 2 / 5  # of five others two are alike
