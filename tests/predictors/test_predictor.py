import json

import numpy as np
import pytest
import torch
from joblib import Memory
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV

import graph_metric_learn as gml
from graph_metric_learn.predictors import predictor as module
from graph_zoo import as_networkx, as_pyg, zoo
from toy_metrics import FirstColumn, Memorizing, blocks, points, sgml, sizes


class Watched(FirstColumn):
    """Knows how many graphs it was asked to embed, call by call."""

    def embed(self, graphs):
        embedded = super().embed(graphs)
        self.__dict__.setdefault("embedded", []).append(len(embedded))
        return embedded


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


def check_reloaded(model, test, path):
    """A saved model says the same, with the same settings."""
    model.save(path)
    files = {file.name: file.read_bytes() for file in path.iterdir()}
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
    with pytest.raises(ValueError, match="holds a "):
        gml.SGML.load(path)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers_are_saved_and_loaded(data, kind, metric, tmp_path):
    train, y, test, y_test = data
    model = kind(METRICS[metric]()).fit(train, np.array(["ring", "hub"])[y])
    assert model.classes_.tolist() == ["hub", "ring"]
    assert model.score(test, np.array(["ring", "hub"])[y_test]) >= 0.8
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(test)
        np.testing.assert_allclose(shares.sum(1), 1)
        assert np.mean(shares.argmax(1) == 1 - y_test) >= 0.8
    check_reloaded(model, test, tmp_path / "model")


@pytest.mark.parametrize("targets", [sizes, several])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_are_saved_and_loaded(data, kind, targets, tmp_path):
    train, _, test, _ = data
    model = kind(blocks()).fit(train, targets(train))
    found = model.predict(test)
    assert found.shape == targets(test).shape
    assert np.corrcoef(found.reshape(20, -1)[:, 0], sizes(test))[0, 1] > 0.9
    check_reloaded(model, test, tmp_path / "model")


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_on_a_metric_without_a_regression_of_its_own(kind, rng, tmp_path):
    x, new = rng.normal(size=40), rng.normal(size=10)
    y = np.stack([np.sin(x), x], axis=1)
    y[::3, 0] = np.nan
    model = kind(FirstColumn()).fit(points(*x), y)
    assert np.abs(model.predict(points(*new))[:, 1] - new).mean() < 0.3
    check_reloaded(model, points(*new), tmp_path / "model")


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
    assert kind()._default_metric(y).task == wanted
    assert kind(blocks()).fit(train, y).metric_.task_ == wanted
    model = kind(blocks(task="none")).fit(train, y)
    assert model.metric_.task_ == "none"
    assert model.predict(test).shape == (20,)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_frozen_metrics_are_used_as_they_are(data, kind):
    train, y, test, _ = data
    metric = blocks().fit(train, y)
    vectors = metric.transform(test)
    model = kind(FrozenEstimator(metric)).fit(train[:20], y[:20])
    assert model.metric_ is metric
    np.testing.assert_array_equal(metric.transform(test), vectors)
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


def test_a_classifier_on_a_graph_metric_stays_where_its_vectors_are(data, device):
    train, y, test, _ = data
    model = gml.GraphKNNClassifier(gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0))
    model.fit(train, y)
    before = model.predict(test)
    with pytest.raises(ValueError, match="device"):
        model.to("nonsense")
    np.testing.assert_array_equal(model.to(device).predict(test), before)
    assert model.embedded_.device.type == "cpu"


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
def test_classes_and_shares_are_those_of_both_methods(predictor):
    x = np.random.default_rng(0).normal(size=40)
    predictor.set_params(metric=Watched()).fit(points(*x), np.where(x + np.roll(x, 1) > 0, "ring", "star"))
    new = points(*np.linspace(-2, 2, 9))
    expected = predictor.predict(new), predictor.predict_proba(new)
    embedded = predictor.metric_.embedded
    embedded.clear()
    for one, other in zip(predictor.predict_with_shares(new), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert embedded == [9]
    np.testing.assert_array_equal(predictor.predict_with_shares(one for one in new)[1], expected[1])


def test_products_have_one_thread_while_a_head_is_fitted(rng, blas_threads):
    seen = []

    class _Seeing(FirstColumn):
        def embed(self, graphs):
            seen.append(blas_threads())
            return super().embed(graphs)

    x = rng.normal(size=20)
    gml.GraphRidge(_Seeing()).fit(points(*x), x**2)
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


# --- many graphs, and graphs that come one after the other ------------------------------------------------------------


@pytest.fixture
def numbers(rng):
    x = rng.normal(size=60)
    return x, (x > 0).astype(int)


@pytest.mark.parametrize(
    "kind", [gml.GraphKNNClassifier, gml.GraphRidgeClassifier, gml.GraphSVC, gml.GraphClassifier, gml.NearestClassMean]
)
def test_predictions_of_a_stream_and_of_many_are_those_of_a_list(kind, numbers, monkeypatch):
    x, y = numbers
    model = kind(Watched()).fit(points(*x[:40]), y[:40])
    new = points(*x[40:])
    wanted = model.predict(new)
    monkeypatch.setattr(module, "CHUNK", 2)  # eight at a time
    model.metric_.embedded.clear()
    np.testing.assert_array_equal(model.predict(iter(new)), wanted)
    assert max(model.metric_.embedded) == 8
    np.testing.assert_array_equal(model.predict(new), wanted)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(iter(new)), model.predict_proba(new))


def test_neighbours_of_a_stream(numbers, monkeypatch):
    x, _ = numbers
    model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=3).fit(points(*x[:40]), x[:40])
    new = points(*x[40:])
    wanted = model.kneighbors(new), model.predict(new)
    monkeypatch.setattr(module, "CHUNK", 2)
    np.testing.assert_array_equal(model.kneighbors(iter(new))[1], wanted[0][1])
    np.testing.assert_allclose(model.predict(iter(new)), wanted[1])
    assert model.kneighbors()[1].shape == (40, 3)


def test_clusters_of_a_stream(numbers, monkeypatch):
    x, _ = numbers
    model = gml.GraphKMeans(2, FirstColumn(), random_state=0).fit(points(*x))
    monkeypatch.setattr(module, "CHUNK", 2)
    np.testing.assert_array_equal(model.predict(iter(points(*x))), model.labels_)


# --- any model by its path --------------------------------------------------------------------------------------------


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, batch):
        return self.layer(batch.x)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gml.SGML(n_epochs=1, random_state=0),
        lambda: gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0),
        lambda: gml.GraphKNNClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphSVC(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphRidge(gml.SGML(n_epochs=1, random_state=0, loss="mlkr")),
        lambda: gml.GraphRegressor(gml.SGML(n_epochs=1, random_state=0, loss="mlkr")),
        lambda: gml.GraphRidgeClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.NearestClassMean(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphKMeans(2, gml.SGML(n_epochs=1, random_state=0), 0),
    ],
)
def test_any_model_is_loaded_by_its_path_alone(make, rng, tmp_path):
    pairs, y = zoo(rng, 12)
    model = make().fit(pairs, y)
    again = gml.load(model.save(tmp_path / "model"))
    assert type(again) is type(model)
    use = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(again, use)(pairs), getattr(model, use)(pairs))


def test_an_encoder_goes_where_it_belongs(rng, tmp_path):
    pairs, y = zoo(rng, 12)
    torch.manual_seed(0)
    metric = gml.SGML(encoder=Linear(), n_epochs=1, random_state=0).fit(pairs, y)
    again = gml.load(metric.save(tmp_path / "metric"), encoder=Linear())
    np.testing.assert_array_equal(again.transform(pairs), metric.transform(pairs))
    with pytest.raises(ValueError, match="load it in Python, passing encoder="):
        gml.load(tmp_path / "metric")


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a model folder"):
        gml.load(tmp_path)


# --- several labels ---------------------------------------------------------------------------------------------------

SEVERAL = [gml.GraphKNNClassifier, gml.GraphRidgeClassifier, gml.GraphClassifier]


def labelled(rng, count):
    """Places, and three labels: to the right, far from the middle (seldom known), and a rare one."""
    x = rng.normal(size=count)
    table = np.stack([x > 0, np.abs(x) > 1, x > 1.6], axis=1).astype(float)
    full = table.copy()
    table[rng.random(count) < 0.5, 1] = np.nan
    table[:3] = np.nan
    return x, table, full


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("metric", [FirstColumn, lambda: gml.GraphMetric(["attributes@0"], "mean", random_state=0)])
def test_several_labels_with_gaps(kind, metric, rng, tmp_path):
    x, table, _ = labelled(rng, 200)
    new, _, truth = labelled(rng, 300)
    model = kind(metric()).fit(points(*x), table)
    assert model.task_ == "labels"
    np.testing.assert_array_equal(model.classes_, [[0, 1]] * 3)
    predicted, chances = model.predict(points(*new)), model.predict_proba(points(*new))
    assert predicted.shape == chances.shape == (300, 3)
    assert predicted.dtype == np.int64
    np.testing.assert_array_equal(predicted, chances > 0.5)
    assert ((predicted == truth).mean(0) > 0.9).all()
    assert all(roc_auc_score(truth[:, t], chances[:, t]) > 0.95 for t in range(3))
    np.testing.assert_allclose(chances.mean(0), truth.mean(0), atol=0.08)
    assert model.score(points(*new), truth) == pytest.approx((predicted == truth).mean())
    part = np.where(rng.random((300, 3)) < 0.5, np.nan, truth)
    known = np.isfinite(part)
    assert model.score(points(*new), part) == pytest.approx((predicted == truth)[known].mean())
    check_reloaded(model, points(*new), tmp_path / "model")


def test_the_metric_is_fitted_to_the_labels(rng):
    x, table, _ = labelled(rng, 100)
    metric = gml.GraphMetric(["attributes@0"], "mean", random_state=0)
    model = gml.GraphRidgeClassifier(metric).fit(points(*x), table)
    assert model.metric_.task_ == "labels"
    assert model.chosen_["own"]
    assert model.chosen_["scored_by"] == "AUC"  # of the rare one
    np.testing.assert_array_equal(model.decision_function(points(0.3)), model.metric_.scores(points(0.3)))
    assert gml.GraphClassifier()._default_metric(table).task == "labels"
    chosen = gml.GraphClassifier(metric).fit(points(*x), table).chosen_
    assert list(chosen["scores"]) == ["knn", "ridge"]
    assert chosen["scored_by"] == "AUC"
    by_accuracy = gml.GraphClassifier(gml.GraphMetric(**{**metric.get_params(), "scoring": "accuracy"}))
    assert by_accuracy.fit(points(*x), table).chosen_["scored_by"] == "accuracy of labels"


def test_tables_of_lists_of_none_and_of_data_frames(rng):
    class Frame:
        """As much of a data frame as is looked at."""

        def __init__(self, values, columns):
            self.values, self.columns = values, columns

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype=dtype)

        def __len__(self):
            return len(self.values)

        def __getitem__(self, name):
            return self.values[:, list(self.columns).index(name)]

    x, table, _ = labelled(rng, 80)
    plain = gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), table)
    rows = [[None if np.isnan(one) else int(one) for one in row] for row in table]
    for given in (rows, np.array(rows, dtype=object), Frame(table, ["right", "far", "rare"])):
        model = gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), given)
        np.testing.assert_array_equal(model.y_, table)
        np.testing.assert_array_equal(model.predict_proba(points(0.5)), plain.predict_proba(points(0.5)))
    assert model.target_names_ == ["right", "far", "rare"]
    assert plain.target_names_ is None


def test_names_of_targets_are_saved(rng, tmp_path):
    x, table, _ = labelled(rng, 60)
    model = gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), table)
    model.target_names_ = ["right", "far", "rare"]
    assert gml.load(model.save(tmp_path / "model")).target_names_ == ["right", "far", "rare"]
    assert model.fit(points(*x), table[:, 0] > 0).target_names_ is None


@pytest.mark.parametrize("kind", [gml.GraphSVC, gml.NearestClassMean, lambda: gml.GraphClassifier(head="svc")])
def test_predictors_of_one_class_refuse_several_labels(kind, rng):
    x, table, _ = labelled(rng, 60)
    with pytest.raises(ValueError, match="predicts one class per graph, but there are 3 labels of each"):
        kind().fit(points(*x), table)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ((4, 1), 2.0, "label 1 of graph 4 is 2: labels are 0, 1, or NaN"),
        ((slice(None), 2), 0.0, "label 2 is 0 for all graphs: there is nothing to learn from; leave it out"),
        ((slice(None), 0), np.nan, "label 0 is known for no graph"),
    ],
)
def test_tables_that_cannot_be_learned_from(rng, place, value, words):
    x, table, _ = labelled(rng, 60)
    table[place] = value
    with pytest.raises(ValueError, match=words):
        gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), table)


def test_tables_that_cannot_be_compared_are_not_scored(rng):
    x, table, _ = labelled(rng, 60)
    model = gml.GraphKNNClassifier(FirstColumn()).fit(points(*x), table)
    with pytest.raises(ValueError, match="2 labels per graph, the model was fitted to 3"):
        model.score(points(1.0), [[0, 1]])
    with pytest.raises(ValueError, match="no label of any graph is known"):
        model.score(points(1.0), [[np.nan] * 3])
    with pytest.raises(ValueError, match="no labels to learn from: pass y"):
        model.score(points(1.0))


# --- rare classes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphRidgeClassifier, gml.GraphSVC, gml.GraphClassifier])
def test_rare_classes_are_ranked_and_their_probabilities_are_right(kind, rng):
    """One of forty, hardly ever more likely than not: accuracy is that of predicting nobody."""

    def draw(count):
        x = rng.normal(size=count)
        return points(*x), (rng.random(count) < 0.25 * np.exp(-((x - 1.8) ** 2) / 0.1)).astype(int)

    graphs, y = draw(1200)
    new, truth = draw(3000)
    assert y.mean() < 0.05
    model = kind(FirstColumn()).fit(graphs, y)
    chosen = model.chosen_.get("settings", model.chosen_)
    assert model.chosen_["scored_by"] == "AUC"
    assert chosen["held_out_score"] > 0.8
    found = model.predict_proba(new)
    assert roc_auc_score(truth, found[:, 1]) > 0.85
    assert log_loss(truth, found) < 0.95 * log_loss(truth, np.tile([1 - y.mean(), y.mean()], (3000, 1)))
    assert found[:, 1].mean() == pytest.approx(truth.mean(), abs=0.01)
    np.testing.assert_array_equal(model.predict(new), found[:, 1] > 0.5)
