import json
import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NearestCentroid

import graph_metric_learn as gml
from graph_metric_learn.predictors.class_means import nearest_mean
from graph_zoo import as_networkx, as_pyg
from small_graphs import renumbered
from toy_metrics import sgml


def vectors(**options):
    return gml.GraphMetric(features=["degree@0", "attributes@0"], embedding="mean", random_state=0, **options)


def three_classes(count):
    return np.array(["ring", "hub", "third"])[np.arange(count) % 3]


def by_members(metric, graphs, names, others):
    """Oracle: squared distances to class means [N, C] from distances between graphs alone."""
    found = []
    for name in np.unique(names):
        members = [graph for graph, of in zip(graphs, names, strict=True) if of == name]
        within = metric.pairwise_distances(members, squared=True).astype(float).mean() / 2
        found.append(metric.pairwise_distances(others, members, squared=True).astype(float).mean(1) - within)
    return np.stack(found, 1)


@pytest.mark.parametrize("make", [sgml, vectors, lambda: sgml(distance="pw", n_projections=4)])
def test_distances_follow_from_those_between_graphs(data, make):
    train, _, test, _ = data
    names = three_classes(40)
    clf = gml.NearestClassMean(make()).fit(train, names)
    wanted = by_members(clf.metric_, train, names, test)
    np.testing.assert_allclose(clf.distances_to_means(test) ** 2, wanted, rtol=1e-4, atol=1e-6)
    assert clf.classes_.tolist() == ["hub", "ring", "third"]
    np.testing.assert_array_equal(clf.predict(test), clf.classes_[wanted.argmin(1)])
    np.testing.assert_allclose(clf.decision_function(test), -wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # of scikit-learn, on columns that do not vary within a class
def test_on_vectors_it_is_the_nearest_centroid_of_scikit_learn(data):
    train, _, test, _ = data
    names = three_classes(40)
    clf = gml.NearestClassMean(vectors()).fit(train, names)
    plain = NearestCentroid().fit(clf.metric_.transform(train), names)
    np.testing.assert_array_equal(clf.predict(test), plain.predict(clf.metric_.transform(test)))
    centres = np.linalg.norm(clf.metric_.transform(test)[:, None] - plain.centroids_, axis=2)
    np.testing.assert_allclose(clf.distances_to_means(test), centres, rtol=1e-4)


@pytest.mark.parametrize("make", [sgml, vectors])
def test_accuracy(data, make):
    train, y, test, y_test = data
    clf = gml.NearestClassMean(make()).fit(train, y)
    assert clf.score(test, y_test) >= 0.9
    decided = clf.decision_function(test)
    assert decided.shape == (20,)
    np.testing.assert_array_equal(clf.predict(test), clf.classes_[(decided > 0).astype(int)])
    assert not hasattr(clf, "predict_proba")


def test_numbering_of_nodes_and_order_of_graphs_do_not_matter(data):
    train, y, test, _ = data
    rng = np.random.default_rng(0)

    metric = FrozenEstimator(sgml().fit(train, y))
    wanted = gml.NearestClassMean(metric).fit(train, y)
    shuffle = rng.permutation(40)
    found = gml.NearestClassMean(metric).fit([renumbered(train[i], rng) for i in shuffle], y[shuffle])
    np.testing.assert_allclose(
        found.distances_to_means([renumbered(graph, rng) for graph in test]),
        wanted.distances_to_means(test),
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.parametrize("make", [sgml, vectors])
def test_saved_and_loaded_without_pickle(data, make, tmp_path):
    train, _, test, _ = data
    graphs = as_networkx(train)
    for i, graph in enumerate(graphs):
        graph.name = f"graph {i}"
    clf = gml.NearestClassMean(make()).fit(graphs, three_classes(40))
    path = clf.save(tmp_path / "model")
    assert sorted(file.name for file in path.iterdir()) == ["model.json", "tensors.safetensors"]
    assert json.loads((path / "model.json").read_text())["kind"] == "NearestClassMean"
    for again in (gml.load(path), gml.NearestClassMean.load(path)):
        assert isinstance(again, gml.NearestClassMean)
        np.testing.assert_array_equal(again.distances_to_means(test), clf.distances_to_means(test))
        np.testing.assert_array_equal(again.predict(test), clf.predict(test))
        assert again.names_.tolist() == [f"graph {i}" for i in range(40)]


def test_metric_frozen_or_fitted_anew(data):
    train, y, _, _ = data
    metric = sgml().fit(train, y)
    assert gml.NearestClassMean(FrozenEstimator(metric)).fit(train[:20], y[:20]).metric_ is metric
    assert gml.NearestClassMean(metric).fit(train[:20], y[:20]).metric_ is not metric
    with pytest.raises(ValueError, match="metric must be an SGML"):
        gml.NearestClassMean("rpw").fit(train, y)


def test_default_metric(data):
    train, y, test, y_test = data
    clf = gml.NearestClassMean().fit(train, y)
    assert isinstance(clf.metric_, gml.GraphMetric)
    assert clf.metric_.task_ == "classes"
    assert clf.chosen_ == {}
    assert clf.score(test, y_test) >= 0.8


def test_with_scikit_learn(data):
    train, y, test, _ = data
    clf = gml.NearestClassMean(sgml(n_epochs=1))
    assert clone(clf).get_params()["metric__n_epochs"] == 1
    assert cross_val_score(clf, train, y, cv=2).mean() >= 0.8
    assert cross_val_score(clf, train, y, cv=2, scoring="roc_auc").mean() >= 0.9
    clf.fit(as_pyg(train, y))  # classes carried by the graphs
    assert (pickle.loads(pickle.dumps(clf)).predict(test) == clf.predict(test)).all()


def test_unfitted_and_bad_classes(data):
    with pytest.raises(NotFittedError):
        gml.NearestClassMean().predict(data[0])
    with pytest.raises(ValueError, match="no class labels"):
        gml.NearestClassMean(sgml()).fit(data[0])
    with pytest.raises(ValueError, match="of one class"):
        gml.NearestClassMean(sgml()).fit(data[0], np.zeros(40, dtype=int))


def test_it_moves(data, device):
    train, y, test, _ = data
    clf = gml.NearestClassMean(sgml(device="cpu")).fit(train, y)
    wanted, before = clf.distances_to_means(test), clf.means_
    clf.to(device)
    assert clf.means_ is not before
    assert clf.means_.curves.device.type == device
    np.testing.assert_allclose(clf.distances_to_means(test), wanted, rtol=1e-4)


def test_equal_means_give_the_first_class():
    """Both classes are copies of the same two rings: rounding does not choose between their means."""
    rings = [nx.cycle_graph(5), nx.cycle_graph(7)]
    clf = gml.NearestClassMean(sgml(n_epochs=0)).fit(rings * 3 + rings, list("aabbbbaa"))
    assert clf.predict([nx.cycle_graph(n) for n in range(3, 12)]).tolist() == ["a"] * 9


def test_nearest_mean():
    assert nearest_mean(np.array([[2.0, 1.0, 1.0 - 1e-13], [0.0, 0.0, 1.0]])).tolist() == [1, 0]
