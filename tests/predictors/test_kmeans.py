import json
import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from joblib import Memory
from sklearn.base import clone, is_clusterer
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

import graph_metric_learn as gml
from graph_metric_learn.predictors.kmeans import ByMeans, ByPairs, _assigned, first_centres, lloyd, space_of
from graph_zoo import as_networkx, as_pyg, ring_or_hub
from helpers import cloud_lists, make_weights
from toy_metrics import FirstColumn, Memorizing
from toy_metrics import points as graphs_at


@pytest.fixture(scope="module")
def curves_metric(data):
    return FrozenEstimator(gml.SGML(depth=1, n_epochs=2, random_state=0).fit(*data[:2]))


@pytest.fixture(scope="module")
def vectors_metric(data):
    metric = gml.GraphMetric(features=["degree@0", "attributes@0"], embedding="mean", random_state=0)
    return FrozenEstimator(metric.fit(*data[:2]))


@pytest.fixture(params=["curves", "vectors"])
def metric(request, curves_metric, vectors_metric):
    return {"curves": curves_metric, "vectors": vectors_metric}[request.param]


@pytest.fixture(params=[ByMeans, ByPairs])
def space(request):
    return request.param


def scikit(points, start, **options):
    return KMeans(len(start), init=points[start], n_init=1, tol=0.0, algorithm="lloyd", **options).fit(points)


# --- oracles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [[0, 1, 2], [5, 17, 30, 31], list(range(10))])
def test_on_vectors_it_is_the_k_means_of_scikit_learn(data, vectors_metric, start, space):
    points = vectors_metric.transform(data[0]).astype(np.float64)
    wanted = scikit(points, start)
    clusters, inertia, _ = lloyd(space(vectors_metric.estimator.embed(data[0])), np.array(start), 300)
    np.testing.assert_array_equal(clusters, wanted.labels_)
    assert inertia == pytest.approx(wanted.inertia_, rel=1e-9)


def test_on_curves_of_one_size_it_is_k_means_of_the_exact_vectors(curves_metric, space):
    rng = np.random.default_rng(3)
    embedded = curves_metric.estimator.embed([ring_or_hub(8, i % 2, rng) for i in range(30)])
    points = gml.curve_vectors(embedded, 8).astype(np.float64)  # 8 cells for 8 steps: exact
    wanted = scikit(points, [0, 1, 2, 3])
    clusters, inertia, _ = lloyd(space(embedded), np.arange(4), 300)
    np.testing.assert_array_equal(clusters, wanted.labels_)
    assert inertia == pytest.approx(wanted.inertia_, rel=1e-5)


def test_on_curves_of_any_sizes_it_is_k_means_on_their_common_grid(rng, space):
    clouds = [rng.normal(size=(n, 2)) + 2 * (i % 3) for i, n in enumerate(rng.choice([2, 3, 4, 6], 25))]
    walked = gml.as_curves(clouds)
    wanted = scikit(gml.curve_vectors(walked, 12), [0, 1, 2])  # 12 is a multiple of all sizes: exact
    clusters, inertia, _ = lloyd(space(walked), np.arange(3), 300)
    np.testing.assert_array_equal(clusters, wanted.labels_)
    assert inertia == pytest.approx(wanted.inertia_, rel=1e-9)


@given(cloud_lists(count=10, max_points=6), st.integers(1, 4), st.sampled_from([ByMeans, ByPairs]), st.booleans())
def test_every_item_is_with_the_nearest_mean_and_no_cluster_is_empty(drawn, count, space, weighted):
    clouds, rng = drawn
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds) if weighted else None)
    distinct = len(np.unique(gml.pairwise_distances(walked).round(6), axis=0))
    if distinct < count:
        with pytest.raises(ValueError, match=f"n_clusters={count}"):
            first_centres(space(walked), count, rng)
        return
    start = first_centres(space(walked), count, rng)
    clusters, inertia, _ = lloyd(space(walked), start, 100)
    assert set(clusters) == set(range(count))
    means = [gml.mean_curve(walked[np.flatnonzero(clusters == k)]) for k in range(count)]
    squares = np.stack([gml.pairwise_distances(walked, mean, squared=True)[:, 0] for mean in means], 1)
    scale = max(1.0, float(walked.values.square().max()))
    own = squares[np.arange(10), clusters]
    assert own.sum() == pytest.approx(inertia, abs=1e-9 * scale)
    assert (own <= squares.min(1) + 1e-9 * scale).all()


# --- the parts -------------------------------------------------------------------------------------------------------


def points(*values):
    return ByMeans(gml.Vectors(torch.tensor(values, dtype=torch.float64)[:, None]))


def test_two_ways_to_the_same_distances(data, metric, device):
    embedded = metric.estimator.embed(data[0]).to(device)
    by_means, by_pairs = ByMeans(embedded), ByPairs(embedded)
    assert len(by_means) == len(by_pairs) == 40
    some, clusters = np.array([3, 0, 39]), np.arange(40) % 7
    np.testing.assert_allclose(by_means.to_items(some), by_pairs.to_items(some), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(by_means.to_means(clusters, 7), by_pairs.to_means(clusters, 7), rtol=1e-6)


def test_the_faster_way_is_taken(data, curves_metric, vectors_metric, monkeypatch):
    curves, vectors = (metric.estimator.embed(data[0]) for metric in (curves_metric, vectors_metric))
    of_one_size = curves[np.flatnonzero(curves.sizes == curves.sizes[0])]
    assert isinstance(space_of(curves), ByPairs)
    assert isinstance(space_of(vectors), ByMeans)
    assert isinstance(space_of(of_one_size), ByMeans)
    wanted = gml.GraphKMeans(4, curves_metric, random_state=0).fit(data[0])
    monkeypatch.setattr("graph_metric_learn.predictors.kmeans._MOST_PAIRED", 39)
    assert isinstance(space_of(curves), ByMeans)
    found = gml.GraphKMeans(4, curves_metric, random_state=0).fit(data[0])
    assert adjusted_rand_score(found.labels_, wanted.labels_) == 1  # rounding may draw other first centres
    assert found.inertia_ == pytest.approx(wanted.inertia_)


def test_first_centres_are_spread_out():
    rng = np.random.default_rng(0)
    items = points(*np.concatenate([centre + 0.01 * rng.normal(size=20) for centre in (0, 10, 20, 30)]))
    for seed in range(10):
        start = first_centres(items, 4, np.random.default_rng(seed))
        assert sorted(start // 20) == [0, 1, 2, 3]


def test_first_centres_are_drawn_in_proportion_to_squared_distances():
    """Of 0, 1 and 3, begun with 0: 1 against 9; and of the two that are drawn, 3 leaves the smaller sum."""

    class Fixed:
        def integers(self, high):
            return 0

        def choice(self, count, size, p):
            np.testing.assert_allclose(p, [0.0, 0.1, 0.9])
            return np.array([1, 2])

    assert first_centres(points(0.0, 1.0, 3.0), 2, Fixed()).tolist() == [0, 2]


def test_centres_are_not_copies_of_each_other():
    items = points(0.0, 1e-7, 1.0, 1.0 + 1e-7)
    assert sorted(first_centres(items, 2, np.random.default_rng(0)) // 2) == [0, 1]
    with pytest.raises(ValueError, match="n_clusters=3, but the metric tells only 2 of 4 graphs apart"):
        first_centres(items, 3, np.random.default_rng(0))


def test_an_empty_cluster_gets_the_farthest_item():
    squares = np.array([[1.0, 9.0, 9.0], [4.0, 9.0, 9.0], [9.0, 5.0, 9.0]])
    assert _assigned(squares).tolist() == [0, 2, 1]  # the third is alone in its cluster, and stays
    # two starts at one place: the second cluster is empty at first
    clusters, inertia, _ = lloyd(points(0.0, 0.0, 1.0, 9.0, 10.0), np.array([0, 1]), 100)
    assert clusters.tolist() in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0])
    assert inertia == pytest.approx(2 / 3 + 0.5)


def test_iterations_are_counted_and_limited():
    items = points(*np.arange(12.0) ** 2)
    whole, least, n_iter = lloyd(items, np.array([0, 1, 2]), 100)
    assert n_iter > 3
    for most in range(1, n_iter):
        clusters, inertia, found = lloyd(items, np.array([0, 1, 2]), most)
        assert found == most
        means = [float(items.items.values[clusters == k].mean()) for k in range(3)]
        assert inertia == pytest.approx(np.square(items.items.values.numpy() - means).min(1).sum())
        assert inertia >= least
    np.testing.assert_array_equal(lloyd(items, np.array([0, 1, 2]), n_iter)[0], whole)


# --- the estimator ---------------------------------------------------------------------------------------------------


def test_clusters_of_graphs(data, metric):
    train, y, test, y_test = data
    model = gml.GraphKMeans(2, metric, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(train), model.labels_)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert adjusted_rand_score(y_test, model.predict(test)) > 0.8
    np.testing.assert_array_equal(model.predict(train), model.labels_)
    to_centres = model.transform(test)
    assert to_centres.shape == (20, 2)
    np.testing.assert_array_equal(to_centres.argmin(1), model.predict(test))
    assert model.inertia_ == pytest.approx(np.square(model.transform(train)).min(1).sum())
    assert model.score(train) == pytest.approx(-model.inertia_)
    assert model.n_iter_ >= 1
    assert model.metric_ is metric.estimator
    members = [train[i] for i in np.flatnonzero(model.labels_ == 0)]
    within = model.metric_.pairwise_distances(members, squared=True).mean() / 2
    square = model.metric_.pairwise_distances(test, members, squared=True).mean(1) - within
    np.testing.assert_allclose(to_centres[:, 0] ** 2, square, rtol=1e-4, atol=1e-6)


def test_more_starts_are_never_worse(data, metric):
    inertia = [gml.GraphKMeans(6, metric, random_state=0, n_init=n).fit(data[0]).inertia_ for n in (1, 5, 20)]
    assert inertia == sorted(inertia, reverse=True)
    assert inertia[-1] < inertia[0]


def test_one_seed_gives_one_result(data, metric):
    found = [gml.GraphKMeans(5, metric, random_state=3, n_init=2).fit(data[0]).labels_ for _ in range(2)]
    np.testing.assert_array_equal(*found)
    from_generator = gml.GraphKMeans(5, metric, random_state=np.random.default_rng(0), n_init=2).fit(data[0])
    assert len(set(from_generator.labels_)) == 5


def test_numbering_of_nodes_does_not_matter(data, metric):
    rng = np.random.default_rng(0)
    renumbered = []
    for a, x in data[0]:
        order = rng.permutation(len(x))
        renumbered.append((a[np.ix_(order, order)], x[order]))
    wanted, found = (gml.GraphKMeans(4, metric, random_state=0).fit(graphs) for graphs in (data[0], renumbered))
    np.testing.assert_array_equal(found.labels_, wanted.labels_)
    assert found.inertia_ == pytest.approx(wanted.inertia_, rel=1e-5)


def test_saved_and_loaded_without_pickle(data, metric, tmp_path):
    train, _, test, _ = data
    graphs = as_networkx(train)
    for i, graph in enumerate(graphs):
        graph.name = f"graph {i}"
    model = gml.GraphKMeans(3, metric, np.random.default_rng(0), n_init=2, max_iter=50).fit(graphs)
    path = model.save(tmp_path / "model")
    assert sorted(file.name for file in path.iterdir()) == ["model.json", "tensors.safetensors"]
    assert json.loads((path / "model.json").read_text())["kind"] == "GraphKMeans"
    again = gml.load(path)
    for loaded in (again, gml.GraphKMeans.load(again.save(tmp_path / "again"))):
        assert isinstance(loaded, gml.GraphKMeans)
        np.testing.assert_array_equal(loaded.transform(test), model.transform(test))
        np.testing.assert_array_equal(loaded.labels_, model.labels_)
        assert (loaded.inertia_, loaded.n_iter_) == (model.inertia_, model.n_iter_)
        assert (loaded.n_clusters, loaded.n_init, loaded.max_iter) == (3, 2, 50)
        assert loaded.random_state == model.seed_
        assert loaded.names_.tolist() == [f"graph {i}" for i in range(40)]


def test_a_metric_that_is_not_frozen_is_fitted(data):
    train, y = data[:2]
    given = gml.SGML(depth=1, n_epochs=1, random_state=0)
    model = gml.GraphKMeans(2, given, random_state=0).fit(train, y)
    assert model.metric_ is not given
    assert not hasattr(given, "module_")
    with pytest.raises(ValueError, match="no class labels"):
        gml.GraphKMeans(2, given).fit(train)


def test_the_default_metric_looks_at_no_labels(data):
    train, y, test, y_test = data
    model = gml.GraphKMeans(2, random_state=3).fit(as_pyg(train, y))
    assert isinstance(model.metric_, gml.GraphMetric)
    assert (model.metric_.task_, model.metric_.learned_, model.metric_.seed_) == ("none", None, 3)
    assert adjusted_rand_score(y_test, model.predict(test)) > 0.5
    other = gml.GraphKMeans(2, random_state=3).fit(train, np.roll(y, 7))
    np.testing.assert_array_equal(other.labels_, model.labels_)
    assert model.chosen_ == {"n_iter": model.n_iter_, "seed": 3}


def test_labels_and_groups_go_to_the_metric(rng):
    x, y, groups = rng.normal(size=20), np.arange(20) % 2, np.arange(20) // 2
    Memorizing.groups.clear()
    model = gml.GraphKMeans(2, Memorizing(), random_state=0).fit(graphs_at(*x), y, groups)
    np.testing.assert_array_equal(Memorizing.groups[-1], groups)
    assert adjusted_rand_score(y, model.labels_) == 1  # it knows them
    with pytest.raises(ValueError, match="groups: FirstColumn does not use them"):
        gml.GraphKMeans(2, FirstColumn()).fit(graphs_at(*x), y, groups)


def test_without_targets_a_graph_metric_looks_at_none(data):
    """Also where graphs carry some; what is given is checked, though clusters do not use it."""
    train, y = data[:2]
    asked = gml.GraphKMeans(2, gml.GraphMetric(random_state=3), random_state=3).fit(as_pyg(train, y))
    assert asked.metric_.task_ == "none"
    np.testing.assert_array_equal(asked.labels_, gml.GraphKMeans(2, random_state=3).fit(train).labels_)
    assert gml.GraphKMeans(2, gml.GraphMetric(random_state=3)).fit(train, y).metric_.task_ == "classes"
    with pytest.raises(ValueError, match=f"1 targets for {len(train)} graphs"):
        gml.GraphKMeans(2).fit(train, y[:1])
    with pytest.raises(ValueError, match=f"{len(train)} graphs, but groups of shape"):
        gml.GraphKMeans(2).fit(train, groups=[0])


def test_with_memory_the_metric_is_fitted_once_for_several_numbers_of_clusters(rng, tmp_path):
    graphs, found = graphs_at(*rng.normal(size=30)), {}
    for memory, fits in ((None, 3 * 4 + 1), (str(tmp_path), 3 + 1), (Memory(str(tmp_path), verbose=0), 0)):
        FirstColumn.fits.clear()
        model = gml.GraphKMeans(metric=FirstColumn(), random_state=0, n_init=2, memory=memory)
        search = GridSearchCV(model, {"n_clusters": [2, 3, 4, 5]}, cv=3).fit(graphs)
        assert len(FirstColumn.fits) == fits  # the folds and, at the end, all graphs; the third finds all of it there
        found[fits] = search.cv_results_["mean_test_score"]
    for scores in found.values():
        np.testing.assert_array_equal(scores, found[4])


def test_the_default_metric_is_kept_in_memory_too(data, tmp_path):
    options = {"random_state": 3, "n_init": 1, "memory": str(tmp_path / "cache")}
    models = [gml.GraphKMeans(n, **options).fit(data[0]) for n in (2, 3)]
    assert len(list((tmp_path / "cache").rglob("output.pkl"))) == 1  # of one fit
    assert [len(set(model.labels_)) for model in models] == [2, 3]
    assert models[0].metric_.task_ == "none"
    path = models[0].save(tmp_path / "model")
    assert "cache" not in (path / "model.json").read_text()
    assert gml.load(path).memory is None


def test_with_scikit_learn(data, metric):
    model = gml.GraphKMeans(3, metric, random_state=0)
    assert is_clusterer(model)
    assert clone(model).get_params(deep=False)["n_clusters"] == 3
    shown = model.fit_transform(data[0])
    assert shown.shape == (40, 3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(data[2]), model.predict(data[2]))


def test_it_moves(data, device):
    train, y, test, _ = data
    model = gml.GraphKMeans(2, gml.SGML(depth=1, n_epochs=1, random_state=0, device="cpu"), 0).fit(train, y)
    wanted, before = model.predict(test), model.means_
    np.testing.assert_array_equal(model.to(device).predict(test), wanted)
    assert model.means_ is not before
    assert model.means_.curves.device.type == device


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 41}, "n_clusters=41, but there are only 40 graphs"),
        ({"n_clusters": 0}, "n_clusters must be a whole number from 1"),
        ({"n_init": 0}, "n_init must be a whole number from 1"),
        ({"max_iter": 2.5}, "max_iter must be a whole number from 1"),
        ({"max_iter": 10**10}, "max_iter must be a whole number from 1 to 1000000000"),  # files refuse it
        ({"random_state": "x"}, "random_state must be"),
        ({"random_state": 2**130}, "random_state must be a whole number from 0"),
        ({"metric": "rpw"}, "metric must be an SGML"),
    ],
)
def test_bad_options_get_one_clear_error(data, curves_metric, options, words):
    with pytest.raises(ValueError, match=words):
        gml.GraphKMeans(**{"metric": curves_metric, **options}).fit(data[0])


def test_fewer_distinct_graphs_than_clusters(data, metric):
    rng = np.random.default_rng(0)
    copies = []
    for i in range(12):  # three graphs, four times each, with other numberings
        a, x = data[0][i % 3]
        order = rng.permutation(len(x))
        copies.append((a[np.ix_(order, order)], x[order]))
    with pytest.raises(ValueError, match="n_clusters=4, but the metric tells only 3 of 12 graphs apart"):
        gml.GraphKMeans(4, metric, random_state=0).fit(copies)
    model = gml.GraphKMeans(3, metric, random_state=0).fit(copies)
    assert model.inertia_ == pytest.approx(0.0, abs=1e-9)
    assert adjusted_rand_score(np.arange(12) % 3, model.labels_) == 1.0


def test_one_cluster_and_all_graphs_alike(data, curves_metric):
    model = gml.GraphKMeans(1, curves_metric, random_state=0).fit([data[0][0]] * 4)
    assert model.labels_.tolist() == [0] * 4
    assert model.inertia_ == pytest.approx(0.0, abs=1e-9)


def test_unfitted():
    with pytest.raises(NotFittedError):
        gml.GraphKMeans().predict([nx.path_graph(3)])
