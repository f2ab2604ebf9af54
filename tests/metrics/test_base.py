import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics import METRICS, BaseGraphMetric
from graph_zoo import as_networkx, zoo


@pytest.fixture(scope="module")
def data():
    return zoo(np.random.default_rng(0), 20)


@pytest.mark.parametrize("kind", [gml.SGML, gml.GraphMetric])
def test_every_metric_has_the_same_verbs(kind, data, tmp_path):
    pairs, y = data
    metric = kind(random_state=0).fit(pairs, y)
    assert isinstance(metric, BaseGraphMetric)
    assert METRICS[kind.__name__] is kind
    assert isinstance(metric.embed(pairs), kind.embedding_type)
    distances = metric.pairwise_distances(pairs, pairs[:3])
    np.testing.assert_array_equal(distances, metric.pairwise_distances(as_networkx(pairs), pairs[:3]))
    np.testing.assert_allclose(metric.pairwise_distances(pairs, pairs[:3], squared=True), distances**2, atol=1e-5)
    bound = np.linalg.norm(metric.transform(pairs[:1]) - metric.transform(pairs[1:2]))
    assert bound <= metric.pairwise_distances(pairs[:1], pairs[1:2])[0, 0] + 1e-4
    again = kind.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(again.transform(pairs), metric.transform(pairs))
    other = gml.SGML if kind is gml.GraphMetric else gml.GraphMetric
    with pytest.raises(ValueError, match=f"holds a {kind.__name__}, not a {other.__name__}"):
        other.load(tmp_path / "metric")


def test_distances_below_the_rounding_are_zero(data, monkeypatch):
    pairs, y = data
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", learn=False, random_state=0).fit(pairs, y)
    distances = metric.pairwise_distances(pairs)
    monkeypatch.setattr(gml.GraphMetric, "rounding", float(np.median(distances)))
    cut = metric.pairwise_distances(pairs)
    small = distances < np.median(distances)
    assert (cut[small] == 0).all()
    np.testing.assert_array_equal(cut[~small], distances[~small])
    squared = metric.pairwise_distances(pairs, squared=True)
    assert (squared[small] == 0).all()
    assert (squared[~small] > 0).all()


def test_an_incomplete_metric_cannot_be_made():
    class Nothing(BaseGraphMetric):
        pass

    try:
        with pytest.raises(TypeError, match="abstract"):
            Nothing()
    finally:
        del METRICS["Nothing"]


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match="there is a metric 'SGML' already"):

        class SGML(BaseGraphMetric):
            pass

    assert METRICS["SGML"] is gml.SGML
