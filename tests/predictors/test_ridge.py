import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.objectives import Numbers
from graph_metric_learn.predictors.calibration import probabilities
from graph_metric_learn.predictors.fold_distances import ReferenceFolds
from graph_zoo import as_pyg
from toy_metrics import FirstColumn, blocks, points, sizes


def kernel(model, rows, columns):
    distances = np.abs(np.array(rows, dtype=np.float32)[:, None] - np.array(columns, dtype=np.float32)).astype(float)
    return np.exp(-(distances**2) / model.chosen_["scale"])


# --- a metric without a regression of its own ------------------------------------------------------------------------


def test_numbers_are_those_of_scikit_learns_kernel_ridge(rng):
    x, new = rng.uniform(-2, 2, 40), rng.uniform(-2, 2, 10)
    y = 3 + np.sin(2 * x) + 0.1 * rng.normal(size=40)
    model = gml.GraphRidge(FirstColumn()).fit(points(*x), y)
    plain = KernelRidge(alpha=model.chosen_["penalty"], kernel="precomputed").fit(kernel(model, x, x), y - y.mean())
    np.testing.assert_allclose(model.predict(points(*new)), plain.predict(kernel(model, new, x)) + y.mean(), rtol=1e-4)
    assert np.sqrt(np.mean((model.predict(points(*new)) - 3 - np.sin(2 * new)) ** 2)) < 0.15
    assert not model.chosen_["own"]


def test_the_penalty_has_the_least_error_on_graphs_held_out(rng):
    """Numbers that are mostly noise want a large one, numbers without noise a small one."""
    x = rng.uniform(-2, 2, 60)
    smooth, rough = np.sin(2 * x), 0.3 * np.sin(2 * x) + rng.normal(size=60)
    chosen = [gml.GraphRidge(FirstColumn()).fit(points(*x), y).chosen_ for y in (smooth, rough)]
    assert chosen[0]["penalty"] <= 1e-3 < 0.1 <= chosen[1]["penalty"]
    assert chosen[0]["held_out_score"] > 0.99
    assert chosen[1]["held_out_score"] < 0.5
    graphs = as_graphs(points(*x))
    metric = FirstColumn().fit(graphs)
    objective, target = Numbers.of(rough)
    views = ReferenceFolds(metric, graphs, metric.embed(graphs), own=None).views(objective, target)
    errors = {}
    for penalty in (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0):
        plain = KernelRidge(alpha=penalty, kernel="precomputed")
        errors[penalty] = 0.0
        for view in views:
            within, across = (np.exp(-(part**2) / chosen[1]["scale"]) for part in (view.within, view.across))
            mean = rough[view.train].mean()
            predicted = plain.fit(within, rough[view.train] - mean).predict(across) + mean
            errors[penalty] += np.mean((predicted - rough[view.test]) ** 2)
    assert min(errors, key=errors.get) == chosen[1]["penalty"]


def test_missing_numbers_leave_the_other_columns_alone(rng):
    x, new = rng.uniform(-2, 2, 40), rng.uniform(-2, 2, 10)
    full = np.stack([np.sin(2 * x), x**2], axis=1)
    some = full.copy()
    some[::3, 1] = np.nan
    model = gml.GraphRidge(FirstColumn()).fit(points(*x), some)
    there = np.isfinite(some[:, 1])
    penalty = model.chosen_["penalty"]
    for column, rows in ((0, np.full(40, True)), (1, there)):
        y, mean = full[rows, column], full[rows, column].mean()
        plain = KernelRidge(alpha=penalty, kernel="precomputed").fit(kernel(model, x[rows], x[rows]), y - mean)
        wanted = plain.predict(kernel(model, new, x[rows])) + mean
        np.testing.assert_allclose(model.predict(points(*new))[:, column], wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_a_column_that_a_fold_does_not_know(rng):
    """Both entries of the second column are in one group, so that they are held out together."""
    x = rng.uniform(-2, 2, 30)
    y = np.stack([np.sin(2 * x), np.full(30, np.nan)], axis=1)
    y[:2, 1] = 1.0, 2.0
    groups = np.maximum(np.arange(30) - 1, 0)
    model = gml.GraphRidge(FrozenEstimator(FirstColumn().fit(points(*x)))).fit(points(*x), y, groups)
    assert np.isfinite(model.chosen_["held_out_score"])
    assert np.isfinite(model.predict(points(0.3))).all()


def test_classes(rng):
    x, new = rng.uniform(-2, 2, 60), rng.uniform(-2, 2, 20)
    y = np.array(["low", "middle", "high"])[np.digitize(x, [-0.7, 0.7])]
    model = gml.GraphRidgeClassifier(FirstColumn()).fit(points(*x), y)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    targets = (y[:, None] == model.classes_).astype(float)
    plain = KernelRidge(alpha=model.chosen_["penalty"], kernel="precomputed")
    plain.fit(kernel(model, x, x), targets - targets.mean(0))
    outputs = plain.predict(kernel(model, new, x)) + targets.mean(0)
    np.testing.assert_allclose(model.decision_function(points(*new)), outputs, atol=2e-3)
    np.testing.assert_array_equal(model.predict(points(*new)), model.classes_[outputs.argmax(1)])
    assert model.score(points(*x), y) > 0.9
    wanted = probabilities(outputs, model.chosen_["calibrator"])
    np.testing.assert_allclose(model.predict_proba(points(*new)), wanted, atol=0.02)
    found = model.predict_proba(points(-1.9, 0.0, 1.9))
    assert model.classes_[found.argmax(1)].tolist() == ["low", "middle", "high"]
    np.testing.assert_allclose(found.sum(1), 1)
    two = gml.GraphRidgeClassifier(FirstColumn()).fit(points(*x), x > 0)
    assert (two.decision_function(points(*new)) > 0).tolist() == two.predict(points(*new)).tolist()


def test_most_graphs_are_copies_of_each_other():
    x = np.array([1.0] * 30 + [5.0] * 6)
    model = gml.GraphRidgeClassifier(FirstColumn()).fit(points(*x), x > 2)
    assert model.predict(points(1.1, 4.9)).tolist() == [False, True]


# --- GraphMetric, which has one --------------------------------------------------------------------------------------


def test_the_regression_of_graph_metric_is_taken_as_it_is(data):
    train, y, test, y_test = data
    model = gml.GraphRidgeClassifier(blocks()).fit(train, y)
    assert model.chosen_["own"]
    assert model.weights_ is None
    scores = model.metric_.scores(test)
    np.testing.assert_array_equal(model.predict(test), scores.argmax(1))
    np.testing.assert_allclose(model.decision_function(test), scores[:, 1] - scores[:, 0])
    assert model.score(test, y_test) >= 0.9
    assert model.chosen_["held_out_score"] == pytest.approx(model.metric_.learned_.gate.regression, abs=0.1)
    numbers = gml.GraphRidge(blocks()).fit(train, sizes(train))
    objective = numbers.metric_.objective_
    wanted = numbers.metric_.scores(test)[:, 0] * objective.scale_ + objective.centre_
    np.testing.assert_allclose(numbers.predict(test), wanted)
    assert numbers.score(test, sizes(test)) > 0.9


@pytest.mark.parametrize(
    "metric",
    [
        pytest.param(lambda: blocks(learn=False), id="not learned"),
        pytest.param(lambda: blocks(task="none"), id="without targets"),
        pytest.param(lambda: blocks(task="numbers"), id="for numbers"),
    ],
)
def test_a_graph_metric_that_learned_something_else(data, metric):
    train, y, test, y_test = data
    model = gml.GraphRidgeClassifier(metric()).fit(train, y)
    assert not model.chosen_["own"]
    assert model.score(test, y_test) >= 0.9


def test_a_frozen_metric_is_used_for_its_distances_alone(data):
    """It may have learned from other targets."""
    train, y, test, y_test = data
    frozen = FrozenEstimator(blocks().fit(train, y))
    model = gml.GraphRidge(frozen).fit(train, sizes(train))
    assert not model.chosen_["own"]
    assert model.metric_ is frozen.estimator
    assert model.predict(test).shape == (20,)
    swapped = gml.GraphRidgeClassifier(frozen).fit(train, np.array(["b", "a"])[y])
    assert not swapped.chosen_["own"]
    assert swapped.score(test, np.array(["b", "a"])[y_test]) >= 0.9


def test_numbers_carried_by_the_graphs(data):
    train, _, test, _ = data
    model = gml.GraphRidge(blocks()).fit(as_pyg(train, sizes(train)))
    assert model.score(as_pyg(test, sizes(test))) == pytest.approx(model.score(test, sizes(test)))
    with pytest.raises(ValueError, match="no numbers: pass y"):
        model.score(test)
    with pytest.raises(ValueError, match="no numbers to learn from"):
        gml.GraphRidge(blocks()).fit(train)
    with pytest.raises(ValueError, match="of graph 2 is NaN or infinite"):
        gml.GraphRidge(blocks()).fit(train, np.where(np.arange(40) == 2, np.nan, sizes(train)))


def test_unfitted():
    for model in (gml.GraphRidge(), gml.GraphRidgeClassifier()):
        with pytest.raises(NotFittedError):
            model.predict(points(1.0))
