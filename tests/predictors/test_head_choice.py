from typing import ClassVar

import numpy as np
import pytest
from msgspec.structs import replace
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

import graph_metric_learn as gml
from graph_metric_learn.predictors.fold_distances import own_fold_views
from graph_metric_learn.predictors.head_choice import predictor
from graph_zoo import as_pyg
from toy_metrics import FirstColumn, Memorizing, blocks, points, sizes


def test_one_metric_is_fitted_and_the_best_head_on_graphs_held_out_is_kept(data):
    train, y, test, y_test = data
    model = gml.GraphClassifier(blocks()).fit(train, y)
    assert model.head_.metric_ is model.metric_
    assert model.head_.embedded_ is model.embedded_
    scores = model.chosen_["scores"]
    assert list(scores) == ["knn", "ridge", "svc"]
    assert scores[model.chosen_["head"]] >= max(scores.values()) - 0.05
    assert type(model.head_) is model.heads[model.chosen_["head"]]
    assert model.head_.chosen_ == model.chosen_["settings"]
    np.testing.assert_array_equal(model.predict(test), model.head_.predict(test))
    np.testing.assert_array_equal(model.predict_proba(test), model.head_.predict_proba(test))
    assert model.score(test, y_test) >= 0.9
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ((0.95, 0.8, 0.8), "knn"),
        ((0.8, 0.8, 0.95), "svc"),
        ((0.8, 0.9, 0.8), "ridge"),
        ((0.7, 0.7, 0.7), "ridge"),
        ((0.88, 0.8, 0.8), "ridge"),  # within a standard error, 0.1
        ((0.9, 0.2, 0.9), "knn"),
    ],
)
def test_scores_decide_and_ridge_where_it_is_nearly_as_good(scores, chosen):
    def scoring(kind, score):
        class _Scoring(kind):
            def _choose(self, folds):
                return super()._choose(folds) | {"held_out_score": score, "held_out_error": 0.1}

        return _Scoring

    class _Choosing(gml.GraphClassifier):
        heads: ClassVar = {
            name: scoring(kind, score)
            for (name, kind), score in zip(gml.GraphClassifier.heads.items(), scores, strict=True)
        }

    FirstColumn.fits.clear()
    model = _Choosing(FirstColumn()).fit(points(*range(20)), np.arange(20) > 9)
    assert model.chosen_["head"] == chosen
    assert model.chosen_["scores"] == dict(zip(_Choosing.heads, scores, strict=True))
    assert FirstColumn.fits == [20]  # one metric for all heads


def test_a_task_for_ridge_and_one_for_neighbours(rng):
    """A straight line goes on beyond its points' noise; plateaus of copies with a number each do not."""
    x = np.sort(rng.uniform(0, 1, 60))
    line = gml.GraphRegressor(FirstColumn()).fit(points(*x), 3 * x + 0.3 * rng.normal(size=60))
    assert line.chosen_["head"] == "ridge"
    places = np.repeat(rng.permutation(200)[:15], 4) / 10.0
    jumps = np.repeat(rng.normal(size=15), 4)
    stairs = gml.GraphRegressor(FirstColumn()).fit(points(*(places + 0.001 * rng.normal(size=60))), jumps)
    assert stairs.chosen_["head"] == "knn"
    assert stairs.score(points(*places), jumps) > 0.9


def test_a_head_can_be_asked_for(data):
    train, y, test, _ = data
    for name, kind in gml.GraphClassifier.heads.items():
        model = gml.GraphClassifier(blocks(), head=name).fit(train, y)
        assert list(model.chosen_["scores"]) == [name]
        alone = kind(blocks()).fit(train, y)
        np.testing.assert_array_equal(model.predict(test), alone.predict(test))
        np.testing.assert_allclose(model.predict_proba(test), alone.predict_proba(test))
    with pytest.raises(ValueError, match="unknown head='tree'"):
        gml.GraphClassifier(head="tree").fit(train, y)
    with pytest.raises(ValueError, match="unknown head='svc'"):
        gml.GraphRegressor(head="svc").fit(train, sizes(train))


def test_another_head_on_the_same_metric(data, tmp_path):
    train, y, test, _ = data
    model = gml.GraphClassifier(blocks(), head="knn").fit(train, y)
    vectors = model.metric_.transform(test)
    for name in ("ridge", "svc", "auto"):
        other = model.with_head(name)
        assert other.metric_ is model.metric_
        assert other.head == name
        assert other.chosen_["head"] == name or name == "auto"
        assert other.predict(test).shape == (20,)
    assert model.head == "knn"
    np.testing.assert_array_equal(model.metric_.transform(test), vectors)  # not fitted again
    assert list(other.chosen_["scores"]) == ["knn", "ridge", "svc"]
    with pytest.raises(ValueError, match="unknown head='x'"):
        model.with_head("x")
    loaded = gml.load(model.save(tmp_path / "model"))
    with pytest.raises(ValueError, match="which a loaded model does not have"):
        loaded.with_head("auto")
    with pytest.raises(NotFittedError):
        gml.GraphClassifier().with_head("knn")


def test_another_head_is_chosen_with_the_same_groups(rng):
    """Pairs side by side with one class each: known to each other, neighbours predict noise well."""
    x, y, groups = np.repeat(rng.normal(size=30), 2), np.repeat(rng.integers(0, 2, 30), 2), np.arange(60) // 2
    x[1::2] += 1e-4
    metric = FrozenEstimator(FirstColumn().fit(points(*x)))
    model = gml.GraphClassifier(metric).fit(points(*x), y, groups)
    assert model.with_head("auto").chosen_["scores"] == model.chosen_["scores"]
    assert max(model.chosen_["scores"].values()) < 0.7
    assert gml.GraphClassifier(metric).fit(points(*x), y).chosen_["scores"]["knn"] > 0.9


@pytest.mark.parametrize("kind", [gml.GraphClassifier, *gml.GraphClassifier.heads.values()])
@pytest.mark.parametrize("loaded", [False, True])
def test_a_frozen_metric_fools_no_head(kind, loaded, rng, tmp_path):
    """It was fitted to these graphs and knows their classes, noise here, by heart; its learned scores count."""
    y = rng.permutation(np.arange(80) % 2)
    graphs = [(np.zeros((1, 1)), rng.normal(size=(1, 6))) for _ in y]
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", random_state=0).fit(graphs, y)
    learned, outputs = metric.learned_, np.eye(2)[y] - 0.5
    alpha = np.linalg.solve(metric.mixture_.kernel() + 1e-6 * np.eye(80), outputs)
    setting = replace(learned.setting, penalty=1e-6, power=0.0)
    metric.learned_ = replace(learned, gate=replace(learned.gate, weight=30.0), setting=setting, alpha=alpha)
    metric = gml.load(metric.save(tmp_path / "metric")) if loaded else metric
    known = gml.GraphKNNClassifier(FrozenEstimator(metric), n_neighbors=1).fit(graphs, y).embedded_
    distances = gml.pairwise_distances(known)
    np.fill_diagonal(distances, np.inf)
    assert (y[distances.argmin(1)] == y).mean() > 0.85
    chosen = kind(FrozenEstimator(metric)).fit(graphs, y).chosen_
    scores = chosen.get("scores", {"own": chosen.get("held_out_score")})
    assert max(scores.values()) < 0.72


@pytest.mark.parametrize("kind", [gml.GraphClassifier, *gml.GraphClassifier.heads.values()])
def test_copies_fool_no_head(kind, rng):
    """Each graph twice, with the class of its copy, noise: metrics that say nothing of folds."""
    x, y = np.repeat(rng.normal(size=40), 2), np.repeat(rng.permutation(np.arange(40) % 2), 2)
    for metric in (FirstColumn(), FrozenEstimator(FirstColumn().fit(points(*x)))):
        chosen = kind(metric).fit(points(*x), y).chosen_
        scores = chosen.get("scores", {"own": chosen.get("held_out_score")})
        assert max(scores.values()) < 0.72


@pytest.mark.parametrize("kind", [gml.GraphClassifier, *gml.GraphClassifier.heads.values()])
def test_vectors_that_know_their_targets_fool_no_head(kind):
    """Classes of pure noise: as they are, the vectors tell them apart; on graphs held out nobody can."""
    rng = np.random.default_rng(5)
    x, new = rng.normal(size=100), rng.normal(size=400)
    y, y_new = (rng.permutation(np.arange(count) % 2) for count in (100, 400))
    model = kind(Memorizing()).fit(points(*x), y)
    frozen = kind(FrozenEstimator(model.metric_)).fit(points(*x), y)
    chosen, fooled = (one.chosen_.get("settings", one.chosen_)["held_out_score"] for one in (model, frozen))
    assert chosen == pytest.approx(0.5, abs=0.12)
    assert fooled > 0.95
    assert model.score(points(*new), y_new) == pytest.approx(0.5, abs=0.08)
    if kind is not gml.GraphKNNClassifier:  # probabilities say so
        head = getattr(model, "head_", model)
        if not isinstance(head, gml.GraphKNNClassifier):
            assert np.abs(head.predict_proba(points(*new)) - 0.5).mean() < 0.15


@pytest.mark.parametrize("kind", [gml.GraphRegressor, *gml.GraphRegressor.heads.values()])
def test_vectors_that_know_their_numbers_fool_no_head(kind):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=100), rng.normal(size=100)
    model = kind(Memorizing()).fit(points(*x), y)
    frozen = kind(FrozenEstimator(model.metric_)).fit(points(*x), y)
    chosen, fooled = (one.chosen_.get("settings", one.chosen_)["held_out_score"] for one in (model, frozen))
    assert chosen < 0.1
    assert fooled > 0.9


def test_numbers_one_or_several(data):
    train, _, test, _ = data
    model = gml.GraphRegressor(blocks()).fit(train, sizes(train))
    assert list(model.chosen_["scores"]) == ["knn", "ridge"]
    assert model.metric_.task_ == "numbers"
    assert model.score(test, sizes(test)) > 0.9
    several = np.stack([sizes(train), -2 * sizes(train), np.arange(40) % 2], axis=1)
    several[::4, 1] = np.nan
    for head in ("auto", "knn", "ridge"):
        model = gml.GraphRegressor(blocks(), head=head).fit(train, several)
        found = model.predict(test)
        assert found.shape == (20, 3)
        assert np.corrcoef(found[:, 1], sizes(test))[0, 1] < -0.9
        assert np.corrcoef(found[:, 2], np.arange(20) % 2)[0, 1] > 0.8


def test_with_scikit_learn_and_data_of_pyg(data):
    train, y, test, y_test = data
    search = GridSearchCV(gml.GraphClassifier(blocks()), {"head": ["knn", "ridge"]}, cv=2).fit(train, y)
    assert search.best_score_ > 0.9
    assert clone(search.best_estimator_).get_params()["metric__random_state"] == 0
    model = gml.GraphClassifier(blocks()).fit(as_pyg(train, y))
    assert model.score(as_pyg(test, y_test)) >= 0.9


def test_unfitted():
    for model in (gml.GraphClassifier(), gml.GraphRegressor()):
        with pytest.raises(NotFittedError):
            model.predict(points(1.0))
    with pytest.raises(NotFittedError):
        gml.GraphClassifier().predict_proba(points(1.0))


def test_other_heads_are_on_the_same_regression(data):
    train, y = data[:2]
    model = gml.GraphClassifier(blocks(), head="knn").fit(train, y)
    assert model.with_head("ridge").chosen_["settings"]["own"]


def test_scores_that_choose_are_those_of_the_votes(data):
    """k-NN is compared with other heads by weighted votes, as it predicts."""
    train, y = data[:2]
    for weights in ("distance", "uniform"):
        model = gml.GraphKNNClassifier(blocks(), n_neighbors="auto", weights=weights).fit(train, y)
        objective, target = model._objective()
        found = [
            objective.neighbor_scores(
                view.across, target[view.train], target[view.test], [model.n_neighbors_], weighted=weights == "distance"
            )
            for view in own_fold_views(model, 2000)
        ]
        assert model.chosen_["held_out_score"] == pytest.approx(np.concatenate(found).mean())


# --- by name ----------------------------------------------------------------------------------------------------------


HEADS = {
    ("knn", "classes"): gml.GraphKNNClassifier,
    ("ridge", "classes"): gml.GraphRidgeClassifier,
    ("svc", "classes"): gml.GraphSVC,
    ("auto", "classes"): gml.GraphClassifier,
    ("knn", "numbers"): gml.GraphKNNRegressor,
    ("ridge", "numbers"): gml.GraphRidge,
    ("auto", "numbers"): gml.GraphRegressor,
}


@pytest.mark.parametrize(("name", "task"), HEADS)
def test_every_name_has_its_predictor(name, task):
    metric = gml.SGML()
    found = predictor(name, task, metric)
    assert type(found) is HEADS[name, task]
    assert found.metric is metric


def test_settings_are_those_of_the_predictor():
    assert predictor("svc", "classes", None, gamma=2.0, C=3.0).get_params(deep=False) == {
        "metric": None, "gamma": 2.0, "C": 3.0, "class_weight": None, "memory": None,
    }  # fmt: skip
    assert predictor("knn", "numbers", None, n_neighbors=4, weights="uniform").weights == "uniform"


@pytest.mark.parametrize(("name", "setting"), [("svc", "n_neighbors"), ("knn", "gamma"), ("auto", "C")])
def test_settings_of_others_are_refused(name, setting):
    with pytest.raises(ValueError, match=f"has no setting '{setting}'"):
        predictor(name, "classes", None, **{setting: 4})


@pytest.mark.parametrize(("name", "task"), [("svc", "numbers"), ("metric", "classes")])
def test_unknown_names_are_refused(name, task):
    with pytest.raises(ValueError, match=f"unknown model='{name}'"):
        predictor(name, task, None)
