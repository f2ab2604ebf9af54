import pickle
import threading

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import graph_metric_learn as gml
from graph_zoo import as_networkx, as_pyg
from helpers import plain_votes
from toy_metrics import FirstColumn, Memorizing, blocks, points, sgml

WORTH = {"uniform": "uniform", "distance": plain_votes}


def votes(model, graphs):
    """Shares of the votes, before they are calibrated."""
    return model._class_votes(model.metric_.embed(graphs), model._reference)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_vote_as_in_scikit_learn(data, weights):
    """But that votes by distance are limited."""
    train, _, test, _ = data
    names = np.array(["ring", "hub", "third"])[np.arange(40) % 3]
    clf = gml.GraphKNNClassifier(sgml(), n_neighbors=4, weights=weights).fit(train, names)
    d_train, d_test = clf.metric_.pairwise_distances(train), clf.metric_.pairwise_distances(test, train)
    wanted = KNeighborsClassifier(4, weights=WORTH[weights], metric="precomputed").fit(d_train, names)
    np.testing.assert_allclose(votes(clf, test), wanted.predict_proba(d_test), atol=1e-5)
    assert (clf.predict(test) == wanted.predict(d_test)).all()
    distances, _ = clf.kneighbors(test)
    np.testing.assert_allclose(distances, np.sort(d_test, axis=1)[:, :4], atol=1e-5)
    assert (clf.predict(train[:3]) == clf.predict(as_networkx(train[:3]))).all()
    if weights == "distance":  # the copy counts most among four, here always more than the other three
        assert (clf.predict(train) == names).all()


def test_accuracy(data):
    train, y, test, y_test = data
    assert gml.GraphKNNClassifier(sgml(n_epochs=5), n_neighbors=3).fit(train, y).score(test, y_test) >= 0.9


def test_neighbours_among_themselves(data):
    train, y, _, _ = data
    clf = gml.GraphKNNClassifier(sgml()).fit(train, y)
    distances, indices = clf.kneighbors(n_neighbors=2)
    assert (indices != np.arange(40)[:, None]).all()
    assert (distances > 0).all()
    for count in (True, 0, 1.5, "all"):
        with pytest.raises(ValueError, match="n_neighbors must be a whole number >= 1, got"):
            clf.kneighbors(train, count)


def test_added_graphs_bring_their_names(data):
    train, y, test, y_test = data
    clf = gml.GraphKNNClassifier(sgml()).fit(train, y)
    (graph,) = as_networkx(test[:1])
    graph.name = "the new one"
    clf.add([graph], y_test[:1])
    assert clf.names_.tolist() == [str(i) for i in range(40)] + ["the new one"]
    assert clf.names_[clf.kneighbors(test[:1], 1)[1]].tolist() == [["the new one"]]
    clf.add(test[1:3], y_test[1:3])
    assert clf.names_.tolist()[40:] == ["the new one", "41", "42"]


def test_adding_graphs_is_fitting_with_them_without_retraining(data):
    train, y, test, y_test = data
    metric = sgml().fit(train, y)
    frozen = FrozenEstimator(metric)
    grown = gml.GraphKNNClassifier(frozen).fit(train[:20], y[:20])
    grown.add(train[20:], y[20:])
    whole = gml.GraphKNNClassifier(frozen).fit(train, y)
    np.testing.assert_allclose(votes(grown, test), votes(whole, test))
    grown.add(test[:1], np.array([7]))
    assert grown.classes_.tolist() == [0, 1, 7]
    assert grown.kneighbors(test[:1], 1)[1].tolist() == [[40]]
    with pytest.raises(ValueError, match="1 graphs, but 20 targets"):
        grown.add(test[:1], y_test)
    with pytest.raises(ValueError, match="labels are strings, those of the reference graphs numbers"):
        grown.add(test[:1], ["ring"])


def test_nothing_is_chosen_again_by_add_or_load(rng, tmp_path):
    """k = 7 in noise; with many copies added, k = 1 would be better."""
    x = rng.normal(size=60)
    y = x + rng.normal(size=60) > 0
    model = gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), y)
    assert model.n_neighbors_ == model.chosen_["n_neighbors"] > 3
    again = gml.load(model.save(tmp_path / "model"))
    for one in (model, again):
        one.add(points(*np.repeat(x, 20)), np.repeat(y, 20))
        assert one.n_neighbors_ == one.chosen_["n_neighbors"] > 3
    np.testing.assert_array_equal(again.predict_proba(points(0.1, 0.2)), model.predict_proba(points(0.1, 0.2)))


# --- numbers ---------------------------------------------------------------------------------------------------------


def edges(pairs):
    return np.array([a.sum() / 2 + 0.5 for a, _ in pairs])


def test_the_metric_is_fitted_to_the_numbers(data):
    train, _, test, _ = data
    model = gml.GraphKNNRegressor(blocks()).fit(train, edges(train))
    assert model.metric_.task_ == "numbers"
    assert not hasattr(model.metric, "terms_")  # a copy is fitted
    assert model.score(test, edges(test)) > 0.8
    by_sgml = gml.GraphKNNRegressor(sgml(loss="mlkr")).fit(train, edges(train))
    assert by_sgml.metric_.task == "numbers"
    with pytest.raises(ValueError, match='the targets are numbers: use loss="mlkr"'):
        gml.GraphKNNRegressor(sgml()).fit(train, edges(train))
    with pytest.raises(ValueError, match="40 graphs, but 5 targets"):
        gml.GraphKNNRegressor(blocks()).fit(train, edges(train)[:5])


def test_whole_numbers_are_numbers_here(data):
    train, y, test, _ = data
    model = gml.GraphKNNRegressor(blocks(), n_neighbors=15).fit(train, y)
    assert model.metric_.task_ == "numbers"
    assert ((model.predict(test) > 0) & (model.predict(test) < 1)).any()


def test_a_fitted_metric_is_used_as_it_is_with_a_warning(data):
    train, y, test, _ = data
    metric = sgml(n_epochs=5).fit(train, y)
    with pytest.warns(FutureWarning, match="freeze it") as caught:
        reg = gml.GraphKNNRegressor(metric, n_neighbors=3, weights="uniform").fit(train, edges(train))
    assert caught[0].filename == __file__
    assert reg.metric_ is metric
    _, indices = reg.kneighbors(test)
    np.testing.assert_allclose(reg.predict(test), edges(train)[indices].mean(1))
    frozen = gml.GraphKNNRegressor(FrozenEstimator(metric), n_neighbors=3)
    assert cross_val_score(frozen, train, y.astype(float), cv=3).mean() > 0.5
    with pytest.raises(ValueError, match="40 graphs, but 5 targets"):
        gml.GraphKNNRegressor(FrozenEstimator(metric)).fit(train, edges(train)[:5])


@pytest.mark.filterwarnings("ignore:the metric is fitted:FutureWarning")
def test_a_fitted_metric_after_one_that_was_fitted_here():
    """What the first `fit` found out about its own metric does not count for the other."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=50), rng.normal(size=50)
    model = gml.GraphKNNRegressor(Memorizing()).fit(points(*x), y)
    assert model.chosen_["held_out_score"] < 0.1
    model.set_params(metric=model.metric_).fit(points(*x[::-1]), y[::-1])
    alone = gml.GraphKNNRegressor(FrozenEstimator(model.metric_)).fit(points(*x[::-1]), y[::-1])
    assert model.chosen_ == alone.chosen_


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_numbers_are_averaged_as_in_scikit_learn(rng, weights):
    x, y, new = rng.normal(size=30), rng.normal(size=(30, 2)), rng.normal(size=10)
    for targets in (y[:, 0], y):
        model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=4, weights=weights).fit(points(*x), targets)
        plain = KNeighborsRegressor(4, weights=WORTH[weights]).fit(x[:, None], targets)
        np.testing.assert_allclose(model.predict(points(*new)), plain.predict(new[:, None]), rtol=1e-3)


def test_missing_numbers_do_not_count():
    y = np.array([[1.0, np.nan], [3.0, 10.0], [8.0, np.nan], [9.0, 20.0], [9.0, np.nan], [9.0, np.nan]])
    graphs = points(0.0, 2.0, 10.0, 100.0, 101.0, 102.0)
    model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=2, weights="uniform").fit(graphs, y)
    # Each number is that of the two nearest graphs that have it, however far they are.
    np.testing.assert_allclose(model.predict(points(0.9, 101.6)), [[2.0, 15.0], [9.0, 15.0]])
    model.add(points(101.6), [[np.nan, 30.0]])
    np.testing.assert_allclose(model.predict(points(101.7)), [[9.0, 25.0]])
    alone = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=5, weights="uniform").fit(graphs, y)
    np.testing.assert_allclose(alone.predict(points(0.0)), [[6.0, 15.0]])  # fewer than five know the second
    for bad in ([[np.nan, np.nan]], [[1.0, np.inf]]):
        with pytest.raises(ValueError, match="targets of graph 0 are all NaN, or some infinite"):
            model.add(points(3.0), bad)
    with pytest.raises(ValueError, match="1 graphs, but labels of shape"):
        model.add(points(3.0), [1.0])


def test_k_is_chosen_for_numbers_by_leaving_one_out(rng):
    x = rng.normal(size=80)
    for noise, low, high in ((0.0, 1, 3), (2.0, 7, 15)):
        y = np.sin(x) + noise * rng.normal(size=80)
        model = gml.GraphKNNRegressor(FirstColumn()).fit(points(*x), y)
        assert low <= model.n_neighbors_ <= high
        nearest = np.argsort(np.abs(x[:, None] - x), axis=1)[:, 1:]
        distances = np.take_along_axis(np.abs(x[:, None] - x), nearest, axis=1)
        errors = {
            k: np.mean((np.average(y[nearest[:, :k]], axis=1, weights=plain_votes(distances[:, :k])) - y) ** 2)
            for k in (1, 2, 3, 5, 7, 10, 15)
        }
        assert model.n_neighbors_ == min(errors, key=errors.get)
        # the score is that of five folds, as for other heads
        assert model.chosen_["held_out_score"] == pytest.approx(1 - min(errors.values()) / y.var(), abs=0.15)


def test_k_is_that_of_a_metric_which_has_found_one(data):
    train, y, _, _ = data
    model = gml.GraphKNNClassifier(blocks()).fit(train, y)
    assert model.n_neighbors_ == model.metric_.chosen_n_neighbors == model.metric_.learned_.gate.n_neighbors
    for k in (7, 10, 25):
        model.metric_.learned_.gate.n_neighbors = k
        frozen = FrozenEstimator(model.metric_)
        assert gml.GraphKNNClassifier(frozen).fit(train, y).n_neighbors_ == k
        some = [0, 1, 2, len(y) - 2, len(y) - 1]
        few = gml.GraphKNNClassifier(frozen).fit([train[i] for i in some], [y[i] for i in some])
        assert few.n_neighbors_ == 4  # there are no more
        assert few.chosen_["n_neighbors"] == 4


def test_added_numbers_are_carried_by_the_graphs_or_given(data):
    train, y, test, _ = data
    metric = FrozenEstimator(sgml().fit(train, y))
    model = gml.GraphKNNRegressor(metric, n_neighbors=1).fit(train, edges(train))
    model.add(as_pyg(test, edges(test)))
    np.testing.assert_allclose(model.predict(test), edges(test), rtol=1e-6)
    with pytest.raises(ValueError, match="no labels: pass y"):
        model.add(test)
    with pytest.raises(ValueError, match="targets must be numbers, that of graph 0 is 'many'"):
        model.add(test[:1], ["many"])


def test_grid_search_cross_validation_clone_and_pickle(data):
    train, y, test, _ = data
    clf = gml.GraphKNNClassifier(sgml(n_epochs=1))
    assert clone(clf).get_params()["metric__n_epochs"] == 1
    search = GridSearchCV(clf, {"metric__depth": [0, 1], "n_neighbors": [1, 3]}, cv=2).fit(train, y)
    assert search.best_score_ >= 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (again.predict(test) == search.predict(test)).all()
    assert cross_val_score(clf, train, y, cv=2).mean() >= 0.8
    assert clf.get_params()["metric"].n_epochs == 1
    assert not hasattr(clf.metric, "module_")  # a copy is fitted


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_k_can_be_chosen_by_leaving_one_out(data, tmp_path, weights):
    train, y, test, _ = data
    model = gml.GraphKNNClassifier(sgml(), n_neighbors="auto", weights=weights).fit(train, y)
    distances = model.metric_.pairwise_distances(train)
    np.fill_diagonal(distances, 1e6)
    predicted = [
        KNeighborsClassifier(k, weights=WORTH[weights], metric="precomputed")
        .fit(np.zeros((40, 40)), y)
        .predict(distances)
        for k in (1, 2, 3, 5, 7, 10, 15)
    ]
    hits = [np.mean(one == y) for one in predicted]
    assert hits[(1, 2, 3, 5, 7, 10, 15).index(model.n_neighbors_)] == max(hits)
    frozen = FrozenEstimator(model.metric_)
    fixed = gml.GraphKNNClassifier(frozen, n_neighbors=model.n_neighbors_, weights=weights).fit(train, y)
    np.testing.assert_array_equal(model.predict(test), fixed.predict(test))
    again = gml.load(model.save(tmp_path / "model"))
    assert again.n_neighbors_ == model.n_neighbors_
    np.testing.assert_array_equal(again.predict(test), model.predict(test))
    with pytest.raises(ValueError, match="n_neighbors must be a whole number"):
        gml.GraphKNNClassifier(sgml(), n_neighbors="all").fit(train, y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gml.GraphKNNClassifier(n_neighbors=41), "n_neighbors=41, but there are only 40 graphs"),
        (lambda: gml.GraphKNNClassifier(n_neighbors=0), "n_neighbors must be"),
        (lambda: gml.GraphKNNClassifier(n_neighbors=True), 'whole number from 1 to 1,000,000,000 or "auto", got True'),
        (lambda: gml.GraphKNNClassifier(weights="x"), "'x'"),
        (lambda: gml.GraphKNNClassifier(metric="rpw"), "metric must be an SGML"),
    ],
)
def test_bad_options_get_one_clear_error(data, make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(*data[:2])


def test_copies_in_the_reference_share_their_votes():
    """Ten copies of one ring, seven of them "b": whatever their order, k = 1 says so."""
    rings, stars = [nx.cycle_graph(6)] * 10, [nx.star_graph(5)] * 3
    y = np.array(["a"] * 3 + ["b"] * 7 + ["c"] * 3)
    for order in (np.arange(13), np.arange(13)[::-1]):
        clf = gml.GraphKNNClassifier(gml.SGML(n_epochs=0, random_state=0), n_neighbors=1, weights="uniform")
        clf.fit([(rings + stars)[i] for i in order], y[order])
        assert clf.predict([nx.cycle_graph(6), nx.star_graph(5)]).tolist() == ["b", "c"]
        np.testing.assert_allclose(votes(clf, [nx.cycle_graph(6)]), [[0.3, 0.7, 0.0]])
        near = gml.GraphKNNClassifier(clf.metric, n_neighbors=12, weights="distance").fit(
            [(rings + stars)[i] for i in order], y[order]
        )
        np.testing.assert_allclose(votes(near, [nx.cycle_graph(6)]), [[30 / 102, 70 / 102, 2 / 102]])


def test_a_copy_does_not_decide_alone():
    """One copy among eleven neighbours counts ten times as much as each of the rest."""
    graphs, y = points(0.0, *[1.0, -1.0] * 5), ["a"] + ["b"] * 10
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=11).fit(graphs, y)
    np.testing.assert_allclose(votes(model, points(0.0)), [[0.5, 0.5]])
    model.add(points(1.0), ["b"])
    model.set_params(n_neighbors=12)
    assert model.predict(points(0.0)) == ["b"]


def test_no_probability_is_above_one(rng):
    """By rounding, votes add up to a little more; scikit-learn's log_loss refuses that."""
    x = rng.normal(size=60)
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=5)
    model.fit(points(*x), x > 0)
    new = points(*rng.normal(size=200))
    assert votes(model, new).max() > 1
    assert model.predict_proba(new).max() <= 1
    assert np.isfinite(cross_val_score(model, points(*x), x > 0, cv=3, scoring="neg_log_loss")).all()


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_renumbered_copies_share_their_votes(weights):
    """Ten copies of one graph with other numberings, seven of them "b"."""
    rng = np.random.default_rng(0)
    base = nx.to_numpy_array(nx.gnp_random_graph(12, 0.3, seed=1))

    def copy():
        order = rng.permutation(12)
        return base[np.ix_(order, order)], None

    graphs = [copy() for _ in range(10)] + [(nx.to_numpy_array(nx.star_graph(n)), None) for n in (5, 6, 7)]
    y = [*"aaabbbbbbb", *"ccc"]
    metric = gml.GraphMetric(features=["structure@0", "structure@1"], embedding="reference", learn=False)
    model = gml.GraphKNNClassifier(metric, n_neighbors=1, weights=weights).fit(graphs, y)
    np.testing.assert_allclose(votes(model, [copy(), copy()]), [[0.3, 0.7, 0.0]] * 2, atol=1e-6)


STEP = float(np.spacing(np.float32(1000.0)))  # the last digit of float32 near 1000


def test_distances_that_are_rounding_count_as_zero():
    """Three graphs that differ in the last digit are copies: they share the vote on a fourth."""
    graphs = points(1000.0, 1000.0 + STEP, 1000.0 + 2 * STEP, 0.0, 1.0)
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=1, weights="distance")
    model.fit(graphs, ["a", "b", "b", "c", "c"])
    np.testing.assert_allclose(votes(model, points(1000.0)), [[1 / 3, 2 / 3, 0.0]])


@pytest.mark.parametrize(("weights", "by_last_digits"), [("uniform", 3), ("distance", 5)])
def test_k_is_chosen_with_copies_at_distance_zero(weights, by_last_digits):
    """Seven graphs that differ in their last digits are copies: one neighbour is enough, whatever the digits say."""
    y = [*"bbbbbba", *"ccc"]
    far = [0.0, 0.5, 1.0]
    spread = np.array([0, 2, 3, 6, 8, 10, 11])
    for unit, k in ((STEP, 1), (1.0, by_last_digits)):
        model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors="auto", weights=weights)
        assert model.fit(points(*(1000.0 + spread * unit), *far), y).n_neighbors_ == k


def test_groups_do_not_vote_for_themselves(rng):
    """Pairs side by side in one group: beside each other k = 1 is best, apart more are."""
    x = np.repeat(rng.normal(size=40), 2)
    x[1::2] += 1e-4
    y = np.repeat(x[::2] + 2 * rng.normal(size=40) > 0, 2)
    metric = FrozenEstimator(FirstColumn().fit(points(*x)))
    fooled = gml.GraphKNNClassifier(metric).fit(points(*x), y)
    assert fooled.n_neighbors_ == 1
    assert fooled.chosen_["held_out_score"] > 0.8
    model = gml.GraphKNNClassifier(metric).fit(points(*x), y, groups=[f"pair {i // 2}" for i in range(80)])
    assert model.n_neighbors_ > 1
    assert model.chosen_["held_out_score"] < 0.8


@pytest.mark.parametrize(("weights", "k"), [("uniform", 5), ("distance", 1)])
def test_k_is_chosen_for_the_votes_that_are_cast(weights, k):
    rng = np.random.default_rng(3)
    x = rng.normal(size=30).astype(np.float32)
    y = (x + rng.normal(size=30) > 0).astype(int)
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors="auto", weights=weights)
    assert model.fit(points(*x), y).n_neighbors_ == k


def test_a_metric_from_outside_is_saved_with_its_classifier(tmp_path):
    graphs = points(*np.arange(10.0))
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=1).fit(graphs, ["low"] * 5 + ["high"] * 5)
    again = gml.load(model.save(tmp_path / "model"))
    assert isinstance(again.metric_, FirstColumn)
    assert again.predict(points(1.2, 8.7)).tolist() == ["low", "high"]
    assert isinstance(gml.load(model.metric_.save(tmp_path / "metric")), FirstColumn)


class FirstColumnCurves(FirstColumn):
    """The same as curves, though nothing says so but what `embed` returns."""

    def embed(self, graphs):
        given = self.read(graphs)
        return gml.as_curves(np.split(given.x[:, :1].astype(np.float32), given.offsets[1:-1]))


def test_embedded_graphs_are_saved_as_what_they_are(tmp_path):
    graphs = [(np.zeros((n, n)), np.full((n, 1), float(n))) for n in range(1, 9)]
    model = gml.GraphKNNClassifier(FirstColumnCurves(), n_neighbors=1).fit(graphs, ["low"] * 4 + ["high"] * 4)
    again = gml.load(model.save(tmp_path / "model"))
    assert isinstance(again.embedded_, gml.Curves)
    assert again.predict(graphs).tolist() == model.predict(graphs).tolist()


# --- growing while others predict ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_adding_while_others_predict(kind):
    start = points(*np.linspace(0, 1, 40))
    if kind == "classes":
        model = gml.GraphKNNClassifier(FrozenEstimator(FirstColumn().fit(start)), n_neighbors=3)
        model.fit(start, ["low"] * 20 + ["high"] * 20)
    else:
        model = gml.GraphKNNRegressor(FrozenEstimator(FirstColumn().fit(start)), n_neighbors=3)
        model.fit(start, np.linspace(0, 1, 40))
    failures, stop = [], threading.Event()

    def predict():
        while not stop.is_set():
            try:
                found = model.predict(points(0.0, 1.0))
                assert list(found) == ["low", "high"] if kind == "classes" else found[0] < found[1]
                if kind == "classes":
                    assert model.predict_proba(points(0.5)).sum() == pytest.approx(1)
                model.kneighbors(points(0.3), 5)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(60):
        target = [f"new {i}"] if kind == "classes" else [i + 5.0]
        model.add(points(10.0 + i), target)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(model.y_) == len(model.embedded_) == 100
    assert model.n_neighbors_ == 3


def test_labels_are_voted_on_by_the_nearest_graphs_that_have_them():
    """Whatever is known of the first label, the second is that of others."""
    y = np.array([[1, np.nan], [0, 1], [1, np.nan], [0, 0], [0, np.nan], [1, 0], [1, 1], [0, 0]], dtype=float)
    x = [0.0, 2.0, 10.0, 100.0, 101.0, 102.0, 300.0, 400.0]
    model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=2, weights="uniform").fit(points(*x), y)

    def voted(*places):
        return model._voted_means(model.metric_.embed(points(*places)), model._reference)

    np.testing.assert_allclose(voted(0.9, 101.6), [[0.5, 0.5], [0.5, 0.0]])
    model.add(points(101.6), [[np.nan, 1]])
    np.testing.assert_allclose(voted(101.6), [[0.5, 0.5]])
    model.add(points(500.0), [[None, None]])
    assert len(model.y_) == 10
    assert model.predict(points(0.9)).shape == (1, 2)
    for bad, words in (([[0, 2]], "label 1 of graph 0 is 2"), ([[0, 1, 1]], "1 graphs, but labels of shape")):
        with pytest.raises(ValueError, match=words):
            model.add(points(3.0), bad)


def test_votes_are_calibrated_on_graphs_held_out(rng):
    """Two of ten classes are wrong: unanimous votes are not certain, whatever k."""

    def draw(count):
        x = rng.uniform(0, 1, count)
        return points(*x), np.where(rng.random(count) < 0.2, x <= 0.5, x > 0.5).astype(int)

    graphs, y = draw(600)
    new, truth = draw(2000)
    for k in (1, 5, "auto"):
        model = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=k).fit(graphs, y)
        found, shares = model.predict_proba(new), votes(model, new)
        sure = shares.max(1) > 0.999
        assert sure.mean() > 0.05
        assert found[sure].max(1).max() < 0.9
        assert found.max(1).mean() == pytest.approx((shares.argmax(1) == truth).mean(), abs=0.03)
        assert log_loss(truth, found) < log_loss(truth, np.clip(shares, 1e-3, 1 - 1e-3)) - 0.01
        np.testing.assert_array_equal(found.argmax(1), shares.argmax(1))
        np.testing.assert_array_equal(model.predict(new), found.argmax(1))


def test_a_class_that_is_added_gets_a_probability(rng):
    start = points(*np.linspace(0, 1, 40))
    model = gml.GraphKNNClassifier(FrozenEstimator(FirstColumn().fit(start)), n_neighbors=3)
    model.fit(start, ["low"] * 20 + ["high"] * 20)
    before = model.predict_proba(points(0.1))
    model.add(points(5.0, 5.1, 5.2), ["far"] * 3)
    found = model.predict_proba(points(5.1, 0.1))
    assert found.shape == (2, 3)
    assert found[0].argmax() == 0
    np.testing.assert_allclose(found[1, 1:] / found[1, 1:].sum(), before[0])


def test_classes_that_are_added_are_known():
    start = points(*np.linspace(0, 1, 40))
    model = gml.GraphKNNClassifier(FrozenEstimator(FirstColumn().fit(start))).fit(start, ["low"] * 20 + ["high"] * 20)
    chosen = model.n_neighbors_
    model.add(points(5), ["far"])
    assert model.n_neighbors_ == chosen
    assert model.classes_.tolist() == ["far", "high", "low"]
