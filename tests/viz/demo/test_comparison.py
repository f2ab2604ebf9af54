import numpy as np

from graph_metric_learn.viz.demo.comparison import N_NEIGHBORS, evaluate, one_by_one, pixel_accuracy


def test_an_outcome_is_that_of_its_classifier(small):
    found = small.after
    assert (found.predicted == found.classifier.predict(small.test.graphs)).all()
    assert found.accuracy == found.classifier.score(small.test.graphs, small.test.y)
    assert np.array_equal(evaluate(found.metric, small.train, small.test).predicted, found.predicted)


def test_graphs_are_timed_one_by_one(small, monkeypatch):
    asked = []
    predict = small.after.classifier.predict
    monkeypatch.setattr(small.after.classifier, "predict", lambda graphs: asked.append(len(graphs)) or predict(graphs))
    assert one_by_one(small.after.classifier, small.test.graphs[:4]) > 0
    assert asked == [1, 1, 1, 1]


def test_pixels_are_compared_as_they_are(small):
    train, test = small.train, small.test
    distances = np.linalg.norm(test.images[:, None] - train.images[None], axis=2)
    nearest = distances.argsort(1)[:, :N_NEIGHBORS]
    votes = np.array([np.bincount(train.y[row], minlength=10).argmax() for row in nearest])
    assert abs(pixel_accuracy(train, test) - np.mean(votes == test.y)) < 0.05  # ties may go another way
