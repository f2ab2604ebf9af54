import json

import networkx as nx
import numpy as np
import pytest
import torch
from joblib import Memory
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

import graph_metric_learn as gml
from graph_metric_learn.predictors import base
from graph_metric_learn.predictors.base import PREDICTORS, joined_names
from graph_zoo import as_networkx, as_pyg, zoo
from toy_metrics import FirstColumn, Memorizing, blocks, points, sgml, sizes


def several(pairs):
    """Three numbers per graph, some of them missing."""
    found = np.stack([sizes(pairs), -sizes(pairs), np.arange(len(pairs)) % 2], axis=1)
    found[::5, 1] = np.nan
    return found


CLASSIFIERS = [
    gml.GraphKNNClassifier, gml.GraphRidgeClassifier, gml.GraphSVC, gml.GraphClassifier, gml.NearestClassMean,
]  # fmt: skip
REGRESSORS = [gml.GraphKNNRegressor, gml.GraphRidge, gml.GraphRegressor]
METRICS = {"curves": lambda: sgml(distance="pw", n_projections=4), "vectors": blocks}


# --- saved and loaded ------------------------------------------------------------------------------------------------


def check_reloaded(model, test, path, monkeypatch):
    """A saved model says the same, and nothing is chosen when it is loaded."""
    model.save(path)
    files = {file.name: file.read_bytes() for file in path.iterdir()}
    asked = []
    for kind in PREDICTORS.values():
        monkeypatch.setattr(kind, "_choose", lambda self, groups: asked.append(self) or {})
    for again in (type(model).load(path), gml.load(path)):
        assert type(again) is type(model)
        for use in ("predict", "predict_proba", "decision_function"):
            assert hasattr(again, use) == hasattr(model, use)
            if hasattr(model, use):
                np.testing.assert_array_equal(getattr(again, use)(test), getattr(model, use)(test))
        assert again.chosen_ == model.chosen_
        np.testing.assert_array_equal(again.y_, model.y_)
        assert again.y_.dtype == model.y_.dtype
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    again.save(path.with_name("again"))
    assert (path.with_name("again") / "model.json").read_bytes() == files["model.json"]
    assert asked == []
    with pytest.raises(ValueError, match="holds a "):
        gml.SGML.load(path)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers_are_saved_and_loaded(data, kind, metric, tmp_path, monkeypatch):
    train, y, test, y_test = data
    model = kind(METRICS[metric]()).fit(train, np.array(["ring", "hub"])[y])
    assert model.classes_.tolist() == ["hub", "ring"]
    assert model.score(test, np.array(["ring", "hub"])[y_test]) >= 0.8
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(test)
        np.testing.assert_allclose(shares.sum(1), 1)
        assert np.mean(shares.argmax(1) == 1 - y_test) >= 0.8
    check_reloaded(model, test, tmp_path / "model", monkeypatch)


@pytest.mark.parametrize("targets", [sizes, several])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_are_saved_and_loaded(data, kind, targets, tmp_path, monkeypatch):
    train, _, test, _ = data
    model = kind(blocks()).fit(train, targets(train))
    found = model.predict(test)
    assert found.shape == targets(test).shape
    assert np.corrcoef(found.reshape(20, -1)[:, 0], sizes(test))[0, 1] > 0.9
    check_reloaded(model, test, tmp_path / "model", monkeypatch)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_on_a_metric_without_a_regression_of_its_own(kind, rng, tmp_path, monkeypatch):
    x, new = rng.normal(size=40), rng.normal(size=10)
    y = np.stack([np.sin(x), x], axis=1)
    y[::3, 0] = np.nan
    model = kind(FirstColumn()).fit(points(*x), y)
    assert np.abs(model.predict(points(*new))[:, 1] - new).mean() < 0.3
    check_reloaded(model, points(*new), tmp_path / "model", monkeypatch)


def test_added_graphs_are_saved(data, tmp_path):
    train, y, test, _ = data
    model = gml.GraphKNNClassifier(sgml(), n_neighbors=3).fit(train, np.array(["ring", "hub"])[y])
    again = gml.load(model.save(tmp_path / "model"))
    assert again.get_params()["metric__depth"] == 1
    again.add(test[:1], ["hub"])
    assert gml.load(again.save(tmp_path / "more")).kneighbors(test[:1], 1)[1].tolist() == [[40]]


# --- what the metric is fitted to ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_the_task_is_that_of_the_head_unless_the_metric_has_one(data, kind):
    train, y, test, _ = data
    wanted = "classes" if kind in CLASSIFIERS else "numbers"
    seen = []

    class Stop(Exception):
        pass

    def fit(self, *given):
        seen.append(self.task)
        raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gml.GraphMetric, "fit", fit)
        for metric in (None, blocks(), blocks(task="none")):
            with pytest.raises(Stop):
                kind(metric).fit(train, y)
    assert seen == [wanted, wanted, "none"]
    model = kind(blocks(task="none")).fit(train, y)
    assert model.predict(test).shape == (20,)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_frozen_metrics_are_used_as_they_are(data, kind, monkeypatch):
    train, y, test, _ = data
    metric = blocks().fit(train, y)
    monkeypatch.setattr(gml.GraphMetric, "fit", None)
    model = kind(FrozenEstimator(metric)).fit(train[:20], y[:20])
    assert model.metric_ is metric
    assert model.predict(test).shape == (20,)
    with pytest.raises(NotFittedError):
        kind(FrozenEstimator(blocks())).fit(train, y)


def test_a_metric_that_is_not_frozen_is_copied(data):
    train, y = data[:2]
    metric = sgml().fit(train, y)
    for kind in (gml.GraphKNNClassifier, gml.GraphSVC, gml.GraphClassifier):
        assert kind(metric).fit(train[:20], y[:20]).metric_ is not metric


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_groups_go_to_the_metric(kind, rng):
    x, y, groups = rng.normal(size=40), np.arange(40) % 2, [f"pair {i // 2}" for i in range(40)]
    Memorizing.groups.clear()
    kind(Memorizing()).fit(points(*x), y, groups=groups)
    assert len(Memorizing.groups) == 1
    seen = Memorizing.groups[0]
    assert [seen[i] == seen[j] for i in range(40) for j in range(40)] == [
        groups[i] == groups[j] for i in range(40) for j in range(40)
    ]
    kind(Memorizing()).fit(points(*x), y)
    assert Memorizing.groups[1] is None


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphClassifier, gml.GraphRidge])
def test_groups_that_cannot_be_used_are_refused(kind, rng):
    x, y = rng.normal(size=40), np.arange(40) % 2
    with pytest.raises(ValueError, match="groups: FirstColumn does not use them"):
        kind(FirstColumn()).fit(points(*x), y, groups=np.arange(40) // 2)
    for metric in (Memorizing(), FrozenEstimator(FirstColumn().fit(points(*x)))):
        with pytest.raises(ValueError, match=r"40 graphs, but groups of shape \(3,\)"):
            kind(metric).fit(points(*x), y, groups=[1, 2, 3])
        with pytest.raises(ValueError, match="all graphs are of one group"):
            kind(metric).fit(points(*x), y, groups=[1] * 40)


# --- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "settings", "n_settings"),
    [
        (gml.GraphKNNClassifier, {"n_neighbors": [1, 3, "auto"], "weights": ["uniform", "distance"]}, 6),
        (gml.GraphSVC, {"gamma": [0.1, 1.0], "C": [1.0], "class_weight": [None, "balanced"]}, 4),
        (gml.GraphClassifier, {"head": ["knn", "ridge"]}, 2),
        (gml.GraphKNNRegressor, {"n_neighbors": [1, 3]}, 2),
        (gml.GraphRegressor, {"head": ["knn", "ridge"]}, 2),
    ],
)
def test_with_memory_the_metric_is_fitted_once_per_training_fold(kind, settings, n_settings, rng, tmp_path):
    x = rng.normal(size=30)
    y = (x > 0) if kind in CLASSIFIERS else x**2
    found = {}
    for memory, fits in ((None, 3 * n_settings + 1), (str(tmp_path), 3 + 1), (Memory(str(tmp_path), verbose=0), 0)):
        FirstColumn.fits.clear()
        search = GridSearchCV(kind(FirstColumn(), memory=memory), settings, cv=3).fit(points(*x), y)
        assert len(FirstColumn.fits) == fits  # the folds and, at the end, all graphs; the third finds all of it there
        found[fits] = search.cv_results_["mean_test_score"]
        assert search.predict(points(0.5)).shape == (1,)
    for scores in found.values():
        np.testing.assert_array_equal(scores, found[4])


def test_memory_knows_metrics_targets_and_groups_apart(rng, tmp_path):
    x, y = rng.normal(size=30), np.arange(30) % 2
    Memorizing.fits.clear()
    fits = [
        (Memorizing(), y, None), (Memorizing(), 1 - y, None), (Memorizing(), y, np.arange(30) // 2),
        (Memorizing(progress=False), y, None), (Memorizing(), y, None),
    ]  # fmt: skip
    for metric, targets, groups in fits:
        model = gml.GraphKNNClassifier(metric, memory=str(tmp_path)).fit(points(*x), targets, groups)
        np.testing.assert_array_equal(model.metric_.targets_, targets)
    assert len(Memorizing.fits) == 4


def test_a_graph_metric_from_memory_still_has_its_folds(data, tmp_path):
    train, y, test, _ = data
    fresh = gml.GraphClassifier(blocks(), memory=str(tmp_path)).fit(train, y)
    cached = gml.GraphClassifier(blocks(), memory=str(tmp_path)).fit(train, y)
    assert cached.metric_ is not fresh.metric_
    assert cached.chosen_ == fresh.chosen_
    np.testing.assert_array_equal(cached.predict_proba(test), fresh.predict_proba(test))


def test_the_place_of_the_memory_is_not_saved(data, tmp_path):
    model = gml.GraphKNNClassifier(sgml(), memory=str(tmp_path / "cache")).fit(*data[:2])
    path = model.save(tmp_path / "model")
    assert "cache" not in (path / "model.json").read_text()
    assert gml.load(path).memory is None


# --- what all share --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphSVC])
def test_a_fitted_classifier_moves(rng, kind, device):
    pairs, y = zoo(rng, 30)
    clf = kind(gml.SGML(n_epochs=1, random_state=0, device="cpu")).fit(pairs[:20], y[:20])
    wanted = clf.predict(pairs[20:])
    assert (clf.to(device).predict(pairs[20:]) == wanted).all()
    assert clf.embedded_.device.type == clf.metric_.embed(pairs[:1]).device.type == device


def test_a_classifier_on_a_graph_metric_stays_where_its_vectors_are(data, monkeypatch):
    train, y, test, _ = data
    model = gml.GraphKNNClassifier(gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0))
    model.fit(train, y)
    before = model.predict(test)
    with pytest.raises(ValueError, match="device"):
        model.to("nonsense")
    monkeypatch.setattr(base, "resolve_device", torch.device)
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
        "regressor": lambda: gml.GraphKNNRegressor(sgml(loss="mlkr")).fit(graphs, y * 2.5),
    }[kind]()
    again = gml.load(model.save(tmp_path / "model"))
    for fitted in (model, again):
        assert fitted.names_.tolist() == [f"graph é{i}" for i in range(40)]
    if kind != "svc":
        _, indices = again.kneighbors(graphs[:2], 1)
        assert again.names_[indices].tolist() == [["graph é0"], ["graph é1"]]
    without = model.fit(train, y * 1.5 if kind == "regressor" else y)
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
    for model in (kind() for kind in [*CLASSIFIERS, *REGRESSORS]):
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


@pytest.mark.parametrize(
    "predictor",
    [
        gml.GraphKNNClassifier(n_neighbors=3), gml.GraphRidgeClassifier(), gml.GraphSVC(),
        gml.GraphClassifier(head="knn"), gml.GraphClassifier(head="ridge"),
    ],
    ids=repr,
)  # fmt: skip
def test_classes_and_shares_are_those_of_both_methods(predictor, monkeypatch):
    graphs = [nx.cycle_graph(n) for n in range(4, 24)] + [nx.star_graph(n) for n in range(4, 24)]
    predictor.set_params(metric=gml.GraphMetric(features=["degree@0", "size@0"], random_state=0))
    predictor.fit(graphs, ["ring"] * 20 + ["star"] * 20)
    new = [nx.path_graph(n) for n in range(3, 12)]
    expected = predictor.predict(new), predictor.predict_proba(new)
    calls = []
    real = gml.GraphMetric._embedded
    monkeypatch.setattr(gml.GraphMetric, "_embedded", lambda self, *args: calls.append(1) or real(self, *args))
    predictor.predict(new)
    alone = len(calls)
    found = predictor.predict_with_shares(new)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert alone > 0
    assert len(calls) == (3 if isinstance(predictor, gml.GraphSVC) else 2) * alone  # an SVM embeds for each
    streamed = predictor.predict_with_shares(one for one in new)
    np.testing.assert_array_equal(streamed[1], expected[1])


def test_products_have_one_thread_while_a_head_is_fitted(rng, monkeypatch, blas_threads):
    seen, choose = [], gml.GraphRidge._choose
    monkeypatch.setattr(gml.GraphRidge, "_choose", lambda *given: seen.append(blas_threads()) or choose(*given))
    pairs, _ = zoo(rng, 20)
    gml.GraphRidge(blocks()).fit(as_pyg(pairs), sizes(pairs))
    assert (seen, blas_threads()) == ([{1}], {3})


@pytest.mark.parametrize("kind", REGRESSORS)
def test_the_score_of_several_numbers_is_over_those_that_are_known(rng, kind):
    pairs, _ = zoo(rng, 30)
    y = several(pairs)
    model = kind(blocks()).fit(as_pyg(pairs), y)
    found, known = model.predict(as_pyg(pairs)), np.isfinite(y)
    wanted = [r2_score(y[rows, column], found[rows, column]) for column, rows in enumerate(known.T)]
    assert model.score(as_pyg(pairs), y) == pytest.approx(np.mean(wanted))
    weights = rng.random(30)
    wanted[1] = r2_score(y[known[:, 1], 1], found[known[:, 1], 1], sample_weight=weights[known[:, 1]])
    for column in (0, 2):
        wanted[column] = r2_score(y[:, column], found[:, column], sample_weight=weights)
    assert model.score(as_pyg(pairs), y, weights) == pytest.approx(np.mean(wanted))
    with pytest.raises(ValueError, match="no number is known of two graphs"):
        model.score(as_pyg(pairs[:2]), np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan]]))


@pytest.mark.parametrize("names", [[0, 1], ["hub", "ring"]])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([None] * 5, r"the class of graph 0 is missing \(5 such in all\): leave it out"),
        (["hub", "ring", np.nan, "hub", "hub"], "the class of graph 2 is missing"),
        (["hub", "ring", 0, 1, 0], "class labels must be discrete: all strings or all whole numbers"),
        ({0: 1}, "targets are a dict, which has no order"),
    ],
)
def test_classes_that_cannot_be_compared_are_not_scored(data, names, y, words):
    train, codes, test, _ = data
    model = gml.NearestClassMean(sgml(n_epochs=1)).fit(train, np.array(names)[codes])
    with pytest.raises(ValueError, match=words):
        model.score(test[:5], y)
    assert 0 <= model.score(test[:5], names[:1] * 5) <= 1  # all may be of one class


def test_targets_and_groups_of_a_generator_are_read_like_a_list(rng):
    x, y = rng.normal(size=20), np.arange(20) % 2
    for kind in (gml.GraphKNNClassifier, gml.GraphKNNRegressor):
        Memorizing.groups.clear()
        kind(Memorizing()).fit(points(*x), y, [i // 2 for i in range(20)])
        model = kind(Memorizing()).fit(points(*x), iter(y.tolist()), groups=(i // 2 for i in range(20)))
        np.testing.assert_array_equal(model.y_, y)
        np.testing.assert_array_equal(*Memorizing.groups)
        with pytest.raises(ValueError, match="groups are a set, which has no order"):
            kind(Memorizing()).fit(points(*x), y, groups=set(range(20)))


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], "the target of graph 1 is NaN or infinite"),
        ([1.0, np.inf], "the target of graph 1 is NaN or infinite"),
        ([1.0, None], "the target of graph 1 is NaN or infinite"),
        (["a", "b"], "targets must be numbers, that of graph 0 is 'a'"),
    ],
)
def test_numbers_that_cannot_be_compared_are_not_scored(rng, kind, y, words):
    pairs, _ = zoo(rng, 20)
    model = kind(blocks(learn=False)).fit(as_pyg(pairs), sizes(pairs))
    with pytest.raises(ValueError, match=words):
        model.score(as_pyg(pairs[:2]), y)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_what_is_fitted_to_is_scored(rng, kind):
    """A table of pandas with missing entries is an array of objects, of which `float` is an error."""
    pairs, _ = zoo(rng, 30)
    y = several(pairs)
    not_available = type("NAType", (), {"__eq__": lambda self, other: self})()
    table = np.where(np.isnan(y), not_available, y.astype(object))
    model = kind(blocks()).fit(as_pyg(pairs), table)
    assert model.score(as_pyg(pairs), table) == model.score(as_pyg(pairs), y)
