import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.predictors import streaming
from toy_metrics import FirstColumn, points


@pytest.fixture
def numbers(rng):
    x = rng.normal(size=60)
    return x, (x > 0).astype(int)


@pytest.mark.parametrize(
    "kind", [gml.GraphKNNClassifier, gml.GraphRidgeClassifier, gml.GraphSVC, gml.GraphClassifier, gml.NearestClassMean]
)
def test_predictions_of_a_stream_and_of_many_are_those_of_a_list(kind, numbers, monkeypatch):
    x, y = numbers
    model = kind(FirstColumn()).fit(points(*x[:40]), y[:40])
    new = points(*x[40:])
    wanted = model.predict(new)
    monkeypatch.setattr(streaming, "CHUNK", 2)  # eight at a time
    seen = []
    real = type(model.metric_).embed
    monkeypatch.setattr(type(model.metric_), "embed", lambda self, g: seen.append(len(g)) or real(self, g))
    np.testing.assert_array_equal(model.predict(iter(new)), wanted)
    assert max(seen) == 8
    np.testing.assert_array_equal(model.predict(new), wanted)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(iter(new)), model.predict_proba(new))


def test_neighbours_of_a_stream(numbers, monkeypatch):
    x, _ = numbers
    model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=3).fit(points(*x[:40]), x[:40])
    new = points(*x[40:])
    wanted = model.kneighbors(new), model.predict(new)
    monkeypatch.setattr(streaming, "CHUNK", 2)
    np.testing.assert_array_equal(model.kneighbors(iter(new))[1], wanted[0][1])
    np.testing.assert_allclose(model.predict(iter(new)), wanted[1])
    assert model.kneighbors()[1].shape == (40, 3)


def test_clusters_of_a_stream(numbers, monkeypatch):
    x, _ = numbers
    model = gml.GraphKMeans(2, FirstColumn(), random_state=0).fit(points(*x))
    monkeypatch.setattr(streaming, "CHUNK", 2)
    np.testing.assert_array_equal(model.predict(iter(points(*x))), model.labels_)
