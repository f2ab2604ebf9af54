import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.graphs import Columns
from graph_metric_learn.metrics import METRICS, BaseGraphMetric
from graph_metric_learn.metrics.base import clear_rounding, is_same_metric
from graph_zoo import as_networkx, zoo
from toy_metrics import FirstColumn, points


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
    assert is_same_metric(metric, again)
    assert not is_same_metric(metric, kind(random_state=1).fit(pairs[:15], y[:15]))
    other = gml.SGML if kind is gml.GraphMetric else gml.GraphMetric
    with pytest.raises(ValueError, match=f"holds a {kind.__name__}, not a {other.__name__}"):
        other.load(tmp_path / "metric")


@pytest.mark.parametrize("kind", [gml.SGML, gml.GraphMetric])
def test_the_time_that_fitting_took_makes_no_other_metric(kind, data):
    pairs, y = data
    metric, again = (kind(random_state=0).fit(pairs, y) for _ in range(2))
    assert str(metric.state()[0]) != str(again.state()[0])  # they did not take equally long
    assert is_same_metric(metric, again)
    assert not is_same_metric(metric, kind(random_state=1).fit(pairs, y))


class Coarse(FirstColumn):
    rounding = 0.5


def test_distances_below_the_rounding_are_zero():
    metric = Coarse().fit(points(0.0))
    graphs = points(0.0, 0.3, 1.0)
    wanted = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.7], [1.0, 0.7, 0.0]])
    np.testing.assert_allclose(metric.pairwise_distances(graphs), wanted, rtol=1e-6)
    np.testing.assert_allclose(metric.pairwise_distances(graphs, squared=True), wanted**2, rtol=1e-6)
    np.testing.assert_allclose(FirstColumn().fit(graphs).pairwise_distances(graphs)[0, 1], 0.3, rtol=1e-6)
    assert (clear_rounding(np.array([[0.3, 0.7]]), 0.0) > 0).all()


def test_an_incomplete_metric_cannot_be_made():
    class Unlabelled(BaseGraphMetric):
        pass

    try:
        with pytest.raises(TypeError, match="abstract"):
            Unlabelled()
    finally:
        del METRICS["Unlabelled"]


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match="there is a metric 'SGML' already"):

        class SGML(BaseGraphMetric):
            pass

    assert METRICS["SGML"] is gml.SGML


# --- columns by name ------------------------------------------------------------------------------------------------


def named_graphs(rng, nodes=("charge", "mass"), edges=("angle", "length"), count=24):
    """Rings of two classes, which `charge` and `length` tell apart; and their classes."""
    graphs, y = [], np.arange(count) % 2
    for kind in y:
        graph = nx.cycle_graph(int(rng.integers(4, 7)))
        for _, data in graph.nodes(data=True):
            numbers = {"charge": rng.normal() + 3 * kind, "mass": 50 + 5 * rng.normal()}
            data["x"] = [numbers.get(name, 0.0) for name in nodes]
        for *_, data in graph.edges(data=True):
            numbers = {"length": rng.normal() + 3 * kind, "angle": 90 + 9 * rng.normal()}
            data["edge_attr"] = [numbers.get(name, 0.0) for name in edges]
        graph.graph.update(node_columns=list(nodes), edge_columns=list(edges))
        graphs.append(graph)
    return graphs, y


def named_metric(kind):
    options = {gml.SGML: {"features": "attributes", "edge_sums": True}, gml.GraphMetric: {"learn": False}}
    return kind(random_state=0, **options[kind])


@pytest.mark.parametrize("kind", [gml.SGML, gml.GraphMetric])
def test_new_columns_are_matched_by_name(kind, tmp_path):
    seed = np.random.default_rng
    graphs, y = named_graphs(seed(0))
    classifier = gml.GraphKNNClassifier(named_metric(kind), n_neighbors=1).fit(graphs, y)
    assert classifier.metric_.columns_ == Columns(("charge", "mass"), ("angle", "length"))
    same, truth = named_graphs(seed(1))
    shuffled, _ = named_graphs(seed(1), ("mass", "charge"), ("length", "angle"))
    loaded = gml.load(classifier.save(tmp_path / "classifier"))
    metric = kind.load(classifier.metric_.save(tmp_path / "metric"))
    for fitted in (classifier.metric_, loaded.metric_, metric):
        assert fitted.columns_ == classifier.metric_.columns_
        np.testing.assert_array_equal(fitted.transform(shuffled), classifier.metric_.transform(same))
        np.testing.assert_array_equal(fitted.transform(gml.as_graphs(shuffled)), fitted.transform(same))
        with pytest.raises(ValueError, match=r"node attributes .* fitted, missing: 'mass'; unknown: 'spin'"):
            fitted.transform(named_graphs(seed(1), ("charge", "spin"))[0])
        with pytest.raises(ValueError, match=r"edge attributes .* fitted, unknown: 'width'"):
            fitted.transform(named_graphs(seed(1), edges=("angle", "length", "width"))[0])
    for graph in shuffled:  # without names, places count
        graph.graph.clear()
    assert not np.array_equal(metric.transform(shuffled), metric.transform(same))
    assert (loaded.predict(same) == truth).mean() > 0.9


@pytest.mark.parametrize("kind", [gml.SGML, gml.GraphMetric])
def test_columns_are_learned_anew(kind):
    seed = np.random.default_rng
    metric = named_metric(kind).fit(*named_graphs(seed(0)))
    with pytest.raises(ValueError, match="must be"):
        metric.set_params(**({"n_epochs": -1} if kind is gml.SGML else {"n_landmarks": 0})).fit(
            *named_graphs(seed(0), "ab")
        )
    assert metric.columns_.nodes == ("charge", "mass")  # a fit that fails changes nothing
    metric.set_params(**named_metric(kind).get_params()).fit(*named_graphs(seed(0), ("charge", "spin"), ("length",)))
    assert metric.columns_ == Columns(("charge", "spin"), ("length",))
    graphs, y = named_graphs(seed(0))
    for graph in graphs:
        graph.graph.clear()
    assert metric.fit(graphs, y).columns_ == Columns()


def test_a_metric_reads_for_fit_without_what_an_earlier_fit_found(data):
    pairs, y = data
    metric = gml.GraphMetric(features=["degree@0"], learn=False, random_state=0).fit(pairs, y)
    one_way = nx.DiGraph([(0, 1), (1, 2)])
    one_way.add_nodes_from(one_way, x=[0.0] * pairs[0][1].shape[1])
    assert metric.read([one_way]).edge_data is None
    assert metric.read_new([one_way]).edge_data.directed


def test_notebooks_see_the_report_of_a_metric():
    graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    metric = gml.GraphMetric(features=["degree@0"], random_state=0)
    assert "chose" not in metric._repr_html_()
    metric.fit(graphs, [0] * 6 + [1] * 6)
    assert "<p>compares " in metric._repr_html_()
    assert "random_state" in metric._repr_html_()  # what scikit-learn shows
