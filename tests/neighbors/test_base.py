import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

import graph_metric_learn as gml
from graph_metric_learn.neighbors.base import joined_names
from graph_zoo import as_networkx, as_pyg, zoo


@pytest.fixture(scope="module")
def data():
    pairs, y = zoo(np.random.default_rng(1), 60)
    return pairs[:40], y[:40], pairs[40:], y[40:]


def sgml(**options):
    return gml.SGML(**{"depth": 1, "n_epochs": 2, "random_state": 0, **options})


@pytest.mark.parametrize("kind", ["knn", "svc", "regressor"])
def test_saved_and_loaded(data, kind, tmp_path):
    train, y, test, _ = data
    names = np.array(["ring", "hub"])[y]
    model = {
        "knn": lambda: gml.GraphKNNClassifier(sgml(distance="pw", n_projections=4), n_neighbors=3).fit(train, names),
        "svc": lambda: gml.GraphSVC(sgml(), gamma=0.3).fit(train, names),
        "regressor": lambda: gml.GraphKNNRegressor(sgml().fit(train, y)).fit(train, y * 2.5),
    }[kind]()
    model.save(tmp_path / "model")
    for again in (type(model).load(tmp_path / "model"), gml.load(tmp_path / "model")):
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(test), model.predict(test))
        assert again.get_params()["metric__depth"] == 1
    if kind == "knn":
        again.add(test[:1], ["hub"])
        assert again.kneighbors(test[:1], 1)[1].tolist() == [[40]]
    with pytest.raises(ValueError, match="holds a Graph"):
        gml.SGML.load(tmp_path / "model")


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphSVC])
def test_a_fitted_classifier_moves(rng, kind, device):
    pairs, y = zoo(rng, 30)
    clf = kind(gml.SGML(n_epochs=1, random_state=0, device="cpu")).fit(pairs[:20], y[:20])
    wanted = clf.predict(pairs[20:])
    assert (clf.to(device).predict(pairs[20:]) == wanted).all()
    assert clf.embedded_.device.type == clf.metric_.embed(pairs[:1]).device.type == device


def test_a_classifier_on_a_graph_metric_stays_where_its_vectors_are(data):
    train, y, test, _ = data
    model = gml.GraphKNNClassifier(gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0))
    model.fit(train, y)
    before = model.predict(test)
    np.testing.assert_array_equal(model.to("meta").predict(test), before)


def test_default_metric(data):
    train, y, test, y_test = data
    model = gml.GraphKNNClassifier().fit(train, y)
    assert isinstance(model.metric_, gml.GraphMetric)
    assert model.score(test, y_test) >= 0.8


def test_classes_carried_by_the_graphs(data):
    train, y, test, y_test = data
    clf = gml.GraphKNNClassifier(sgml()).fit(as_pyg(train, y))
    assert clf.score(as_pyg(test, y_test)) == clf.score(test, y_test)
    clf.add(as_pyg(test, y_test))
    assert len(clf.y_) == 60
    with pytest.raises(ValueError, match="no class labels"):
        clf.score(test)
    with pytest.raises(ValueError, match="n_neighbors=61, but there are 60 graphs"):
        clf.kneighbors(test, 61)


def named(pairs, names):
    graphs = as_networkx(pairs)
    for graph, name in zip(graphs, names, strict=True):
        graph.name = name
    return graphs


@pytest.mark.parametrize("kind", ["knn", "svc", "regressor"])
def test_names_of_reference_graphs_are_kept_and_saved(data, kind, tmp_path):
    train, y = data[:2]
    graphs = named(train, [f"graph é{i}" for i in range(40)])
    model = {
        "knn": lambda: gml.GraphKNNClassifier(sgml(), n_neighbors=3).fit(graphs, y),
        "svc": lambda: gml.GraphSVC(sgml()).fit(graphs, y),
        "regressor": lambda: gml.GraphKNNRegressor(sgml().fit(train, y)).fit(graphs, y * 2.5),
    }[kind]()
    again = gml.load(model.save(tmp_path / "model"))
    for fitted in (model, again):
        assert fitted.names_.tolist() == [f"graph é{i}" for i in range(40)]
    if kind != "svc":
        _, indices = again.kneighbors(graphs[:2], 1)
        assert again.names_[indices].tolist() == [["graph é0"], ["graph é1"]]
    without = model.fit(train, y)
    assert without.names_ is None
    assert gml.load(without.save(tmp_path / "without")).names_ is None
    assert "names" not in json.loads((tmp_path / "without" / "model.json").read_text())["config"]


def test_joined_names():
    few, more = np.array(["a", "b"], dtype=object), np.array(["c"], dtype=object)
    assert joined_names(few, 2, more, 1).tolist() == ["a", "b", "c"]
    assert joined_names(few, 2, None, 2).tolist() == ["a", "b", "2", "3"]
    assert joined_names(None, 3, more, 1).tolist() == ["0", "1", "2", "c"]
    assert joined_names(None, 3, None, 1) is None


def test_unfitted(data):
    for model in (gml.GraphKNNClassifier(), gml.GraphSVC()):
        with pytest.raises(NotFittedError):
            model.predict(data[0])
    with pytest.raises(NotFittedError):
        gml.SGML().pairwise_distances(data[0])


def test_the_old_name_of_the_reference_says_so(data):
    model = gml.GraphKNNClassifier(sgml()).fit(*data[:2])
    with pytest.warns(FutureWarning, match="embedded_"):
        assert model.curves_ is model.embedded_
    assert isinstance(model.embedded_, gml.Curves)
    chosen = gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0)
    assert isinstance(gml.GraphKNNClassifier(chosen).fit(*data[:2]).embedded_, gml.Vectors)


def test_a_frozen_metric_is_used_as_it_is(data):
    train, y, _, _ = data
    metric = sgml().fit(train, y)
    model = gml.GraphKNNClassifier(FrozenEstimator(metric)).fit(train[:20], y[:20])
    assert model.metric_ is metric
    assert gml.GraphKNNClassifier(metric).fit(train[:20], y[:20]).metric_ is not metric
