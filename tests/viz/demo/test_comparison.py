import numpy as np
import pytest

from graph_metric_learn.viz.demo.comparison import N_NEIGHBORS, evaluate, one_by_one, pixel_accuracy, split_digits


def test_an_outcome_is_that_of_its_classifier(small):
    found = small.after
    assert (found.predicted == found.classifier.predict(small.test.graphs)).all()
    assert found.accuracy == found.classifier.score(small.test.graphs, small.test.y)
    assert np.array_equal(evaluate(found.metric, small.train, small.test).predicted, found.predicted)


def test_a_graph_takes_some_time(small):
    assert 0 < one_by_one(small.after.classifier, small.test.graphs[:4]) < 1000
    assert one_by_one(small.after.classifier, small.test.graphs[:1]) > 0


def test_pixels_are_compared_as_they_are(small):
    train, test = small.train, small.test
    distances = np.linalg.norm(test.images[:, None] - train.images[None], axis=2)
    nearest = distances.argsort(1)[:, :N_NEIGHBORS]
    votes = np.array([np.bincount(train.y[row], minlength=10).argmax() for row in nearest])
    assert abs(pixel_accuracy(train, test) - np.mean(votes == test.y)) < 0.05  # ties may go another way


def test_one_seed_gives_one_split():
    for one, other in zip(split_digits(150, seed=3), split_digits(150, seed=3), strict=True):
        assert (one.y == other.y).all()
        assert all((a.x == b.x).all() for a, b in zip(one.graphs, other.graphs, strict=True))


def test_split_keeps_parts_apart_and_balanced():
    train, test = split_digits()
    assert (len(train.y), len(test.y)) == (1437, 360)
    assert np.ptp(np.bincount(test.y)) <= 3
    assert not {graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in test.graphs} & {
        graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in train.graphs
    }


def test_labels_are_row_and_column():
    train, _ = split_digits(100)
    graph = train.graphs[0]
    row, column = graph.node_labels.T
    assert np.allclose(graph.pos[:, 0], 2 * column / 7 - 1, atol=1e-6)
    assert np.allclose(graph.pos[:, 1], 1 - 2 * row / 7, atol=1e-6)


def test_too_few_graphs():
    with pytest.raises(ValueError, match="at least 100"):
        split_digits(99)
