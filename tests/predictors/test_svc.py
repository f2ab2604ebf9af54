import re
import warnings

import numpy as np
import pytest
import sklearn.svm
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import graph_metric_learn as gml
from graph_metric_learn._core.schema import FieldError
from graph_metric_learn.metrics.base import FoldView
from graph_metric_learn.predictors import svc as module
from graph_metric_learn.predictors.calibration import probabilities
from graph_metric_learn.predictors.state import restored
from toy_metrics import FirstColumn, points, sgml


def noisy(rng, count):
    """Places and classes, of which one in seven is wrong."""
    x = rng.uniform(-2, 2, count)
    return x, np.where(rng.random(count) < 1 / 7, x < 0, x > 0)


def test_svm_is_scikit_learns_on_the_kernel(data):
    train, y, test, _ = data
    clf = gml.GraphSVC(sgml(), gamma=0.5, C=3.0).fit(train, y)
    kernel = np.exp(-0.5 * clf.metric_.pairwise_distances(train).astype(float))
    wanted = SVC(C=3.0, kernel="precomputed").fit(kernel, y)
    k_test = np.exp(-0.5 * clf.metric_.pairwise_distances(test, train).astype(float))
    np.testing.assert_allclose(clf.decision_function(test), wanted.decision_function(k_test), atol=1e-6)
    assert (clf.predict(test) == wanted.predict(k_test)).all()
    assert (clf.gamma_, clf.C_) == (0.5, 3.0)


def test_accuracy_in_and_out_of_cross_validation(data):
    train, y, test, y_test = data
    assert gml.GraphSVC(sgml(n_epochs=5)).fit(train, y).score(test, y_test) >= 0.9
    assert cross_val_score(gml.GraphSVC(sgml(n_epochs=1)), train, y, cv=2).mean() >= 0.8


def test_gamma_and_cost_have_the_best_accuracy_on_graphs_held_out(rng):
    x, y = noisy(rng, 60)
    model = gml.GraphSVC(FirstColumn()).fit(points(*x), y)
    assert model.gamma_ * np.median(np.abs(x[:, None] - x)) == pytest.approx(0.3, rel=0.2)  # smooth, against noise
    assert model.C_ in module._COSTS
    found = {}
    for cost in module._COSTS:
        fixed = gml.GraphSVC(FirstColumn(), gamma=model.gamma_, C=cost).fit(points(*x), y)
        found[cost] = fixed.chosen_["held_out_score"]
        assert (fixed.gamma_, fixed.C_) == (model.gamma_, cost)
    assert found[model.C_] == max(found.values()) == model.chosen_["held_out_score"]
    assert found[100.0] < max(found.values())
    large = 1000 * x  # settings do not depend on the unit of the distance
    scaled = gml.GraphSVC(FirstColumn()).fit(points(*large), y)
    assert (1000 * scaled.gamma_, scaled.C_) == (pytest.approx(model.gamma_, rel=1e-3), model.C_)


@pytest.mark.parametrize("weight", [{False: 1.0, True: 9.0}, "balanced"])
def test_class_weights(rng, weight, tmp_path):
    x = np.concatenate([rng.normal(size=54), 1.5 + rng.normal(size=6)])
    y = np.arange(60) >= 54
    plain, weighted = (gml.GraphSVC(FirstColumn(), class_weight=w).fit(points(*x), y) for w in (None, weight))
    new = points(*np.linspace(-2, 3, 30))
    assert weighted.predict(new).sum() > plain.predict(new).sum() + 3
    kernel, k_new = (np.exp(-weighted.gamma_ * np.abs(rows[:, None] - x)) for rows in (x, np.linspace(-2, 3, 30)))
    wanted = SVC(C=weighted.C_, kernel="precomputed", class_weight=weight).fit(kernel, y)
    np.testing.assert_allclose(weighted.decision_function(new), wanted.decision_function(k_new), atol=1e-3)
    again = gml.load(weighted.save(tmp_path / "model"))
    assert again.class_weight == weight
    np.testing.assert_array_equal(again.decision_function(new), weighted.decision_function(new))
    np.testing.assert_array_equal(again.predict_proba(new), weighted.predict_proba(new))


def test_class_weights_by_name(rng, tmp_path):
    x = rng.normal(size=40)
    y = np.where(x + rng.normal(size=40) > 0, "up", "down")
    found = {}
    for name in ("up", "down"):
        model = gml.GraphSVC(FirstColumn(), class_weight={name: 20.0}).fit(points(*x), y)
        assert gml.load(model.save(tmp_path / name)).class_weight == {name: 20.0}
        found[name] = (model.predict(points(*np.linspace(-2, 2, 30))) == "up").sum()
    assert found["up"] > found["down"]


def calibration_error(probabilities, y, classes):
    """Expected calibration error of the class that is predicted, in ten bins."""
    best = probabilities.argmax(1)
    sure, right = probabilities.max(1), classes[best] == y
    bins = np.minimum((10 * sure).astype(int), 9)
    return sum(abs((sure - right)[bins == b].sum()) for b in range(10)) / len(y)


@pytest.mark.parametrize("kind", [gml.GraphSVC, gml.GraphRidgeClassifier])
@pytest.mark.parametrize("names", [["no", "yes"], ["c", "a", "b"]])
def test_probabilities_are_calibrated(kind, names):
    """The class of a place, seen with noise."""
    rng = np.random.default_rng(3)

    def draw(count):
        x = rng.uniform(-3, 3, count)
        seen = np.clip(x + rng.normal(size=count), -2.999, 2.999)
        y, truth = (np.array(names)[((place + 3) * len(names) / 6).astype(int)] for place in (seen, x))
        return points(*x), y, truth

    graphs, y, _ = draw(300)
    test, y_test, truth = draw(1500)
    model = kind(FirstColumn()).fit(graphs, y)
    found = model.predict_proba(test)
    np.testing.assert_allclose(found.sum(1), 1)
    assert model.classes_.tolist() == sorted(names)
    assert np.mean(model.classes_[found.argmax(1)] == truth) > 0.85  # columns in the order of classes_
    assert calibration_error(found, y_test, model.classes_) < 0.06
    assert np.mean(model.predict(test) == model.classes_[found.argmax(1)]) > 0.95


def neighboring_classes(rng, count, n_classes):
    """Places from 0 to the number of classes, and the class that is seen there, with noise; low ones are common."""
    x = n_classes * rng.uniform(0, 1, count) ** 2
    return x, np.clip(x + 0.5 * rng.normal(size=count), 0, n_classes - 0.001).astype(int)


def test_probabilities_of_many_classes_are_calibrated():
    """Twenty that are far apart, and one graph in twenty is of any: votes say too little about how sure the SVM is."""
    rng = np.random.default_rng(0)

    def draw(count):
        place = rng.integers(0, 20, count)
        y = np.where(rng.random(count) < 0.05, rng.integers(0, 20, count), place)
        return points(*(5 * place + rng.uniform(0, 1, count))), y

    graphs, y = draw(300)
    test, y_test = draw(1500)
    model = gml.GraphSVC(FirstColumn()).fit(graphs, y)
    found = model.predict_proba(test)
    assert calibration_error(found, y_test, model.classes_) < 0.1
    assert found.max(1).mean() == pytest.approx(model.score(test, y_test), abs=0.08)
    np.testing.assert_array_equal(model.predict(test), model.classes_[found.argmax(1)])


def test_probabilities_of_classes_of_few_graphs():
    """Where all graphs of a class are held out, the fold says nothing of how sure the SVM is when it has seen some."""
    rng = np.random.default_rng(0)
    y = np.arange(45) % 30
    graphs, test = (points(*(10.0 * y + rng.normal(size=45))) for _ in range(2))
    model = gml.GraphSVC(FirstColumn()).fit(graphs, y)
    assert model.score(test, y) == 1
    assert model.predict_proba(test).max(1).mean() > 0.9


@pytest.mark.parametrize("n_classes", [4, 9])
def test_scores_are_mean_decisions_of_svms_of_two_classes(rng, n_classes):
    x, y = neighboring_classes(rng, 60, n_classes)
    new = rng.uniform(0, n_classes, 1000)
    kernels = [np.exp(-np.abs(rows[:, None] - x)) for rows in (x, new)]
    wanted = np.zeros((1000, n_classes))
    votes = np.zeros((1000, n_classes), dtype=int)
    for one in range(n_classes):
        for other in range(one):
            both = np.flatnonzero((y == one) | (y == other))
            pair = SVC(C=3.0, kernel="precomputed").fit(kernels[0][np.ix_(both, both)], y[both])
            found = pair.decision_function(kernels[1][:, both])
            wanted[:, one] += found / (n_classes - 1)
            wanted[:, other] -= found / (n_classes - 1)
            votes[np.arange(1000), np.where(found > 0, one, other)] += 1
    elected, best = votes.argmax(1), wanted.argmax(1)
    differ = elected != best
    assert 0 < differ.sum() < 100
    fitted = SVC(C=3.0, kernel="precomputed").fit(kernels[0], y)
    found = module._scores(fitted, kernels[1])
    np.testing.assert_allclose(found[~differ], wanted[~differ], atol=5e-3)
    np.testing.assert_allclose(np.sort(found[differ]), np.sort(wanted[differ]), atol=5e-3)
    np.testing.assert_array_equal(found.argmax(1), fitted.predict(kernels[1]))
    assert fitted.decision_function_shape == "ovr"


def test_the_predicted_class_is_the_most_likely_one_where_classes_are_equal():
    """Copies in three classes: all decisions between them are 0."""
    x, y = np.repeat([0.0, 5.0], 12), np.concatenate([np.arange(12) % 3, np.full(12, 3)])
    model = gml.GraphSVC(FirstColumn()).fit(points(*x), y)
    new = points(0.0, 1.0, 2.4, 5.0)
    found = model.predict_proba(new)
    np.testing.assert_array_equal(model.classes_[found.argmax(1)], model.predict(new))
    np.testing.assert_allclose(found[0, :3], found[0, 0], rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("scores", lambda value: "votes", "chosen.calibrator.scores is not known"),
        ("slopes", lambda value: value * 2, "chosen.calibrator.slopes has shape (2,), expected (S = 1)"),
        ("slopes", lambda value: [-1.0], "chosen.calibrator.slopes.0 must be a number >= 0.0, got -1.0"),
        ("offsets", lambda value: value[:-1], "chosen.calibrator.offsets has shape (3,), expected (C = 4)"),
        ("offsets", lambda value: None, "chosen.calibrator.offsets must be a list, got None"),
    ],
)
def test_what_files_say_of_scores_is_checked(rng, name, change, words):
    x, y = neighboring_classes(rng, 60, 4)
    config, tensors = gml.GraphSVC(FirstColumn()).fit(points(*x), y)._state()
    assert restored(gml.GraphSVC, config, tensors, None).chosen_ == config["chosen"]
    calibrator = config["chosen"]["calibrator"]
    calibrator[name] = change(calibrator.get(name))
    with pytest.raises(FieldError, match=re.escape(words)):
        restored(gml.GraphSVC, config, tensors, None)


def test_two_classes_share_one_decision(rng):
    x, y = neighboring_classes(rng, 60, 2)
    model = gml.GraphSVC(FirstColumn()).fit(points(*x), y)
    new = points(*np.linspace(0, 2, 30))
    wanted = probabilities(model.decision_function(new)[:, None] * [-0.5, 0.5], model.chosen_["calibrator"])
    np.testing.assert_array_equal(model.predict_proba(new), wanted)


def test_settings_that_rank_alike_are_told_apart_by_accuracy():
    """Thirty classes of a graph or two and a large one: nearly all settings rank perfectly, few predict all classes."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(45) % 30, np.full(300, 30)])
    model = gml.GraphSVC(FirstColumn()).fit(points(*(10.0 * y + rng.normal(size=345))), y)
    assert model.chosen_["scored_by"] == "AUC"
    assert model.score(points(*(10.0 * y + rng.normal(size=345))), y) > 0.98


def test_many_small_classes_give_no_warnings(monkeypatch):
    """Others than that there are many are not held back."""
    y = np.concatenate([np.arange(20), np.arange(25)])
    graphs = points(*(10.0 * y + np.arange(45) / 45))
    metric = FrozenEstimator(FirstColumn().fit(graphs))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        gml.GraphSVC(metric, gamma=1.0).fit(graphs, y)
    assert not any("unique classes" in str(one.message) for one in said)

    class Warns(SVC):
        def fit(self, *args, **options):
            warnings.warn("kernels are warm", UserWarning, stacklevel=1)
            return super().fit(*args, **options)

    monkeypatch.setattr(sklearn.svm, "SVC", Warns)
    with pytest.warns(UserWarning, match="kernels are warm") as said:
        gml.GraphSVC(metric, gamma=1.0, C=1.0).fit(graphs, y)
    assert sum("warm" in str(one.message) for one in said) == 6  # five folds and all graphs


def test_probabilities_come_from_graphs_held_out(rng):
    """Classes of pure noise that the SVM knows by heart: of new graphs it knows nothing."""
    x, y = rng.normal(size=300), np.arange(300) % 2
    model = gml.GraphSVC(FirstColumn(), gamma=1000.0, C=100.0).fit(points(*x), y)
    assert model.score(points(*x), y) > 0.9
    found = model.predict_proba(points(*rng.normal(size=200)))
    assert np.abs(found - 0.5).mean() < 0.1


@pytest.mark.parametrize("sizes", [(9, 1), (8, 2), (6, 5, 1)])
def test_a_class_of_one_graph_is_held_out_alone(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    model = gml.GraphSVC(FirstColumn()).fit(points(*(10.0 * y + np.arange(len(y)) / 9)), y)
    assert model.predict_proba(points(0.0)).shape == (1, len(sizes))
    assert model.predict(points(*(10.0 * y))).tolist()[0] == 0


def test_groups_that_are_whole_classes(rng):
    x = rng.normal(size=20)
    metric = FrozenEstimator(FirstColumn().fit(points(*x)))
    y = np.arange(20) % 4
    model = gml.GraphSVC(metric).fit(points(*x), y, groups=y)
    assert model.chosen_["held_out_score"] == 0.0
    np.testing.assert_allclose(model.predict_proba(points(0.5)).sum(1), 1)


def test_most_graphs_are_copies_of_each_other():
    x = np.array([1.0] * 30 + [5.0] * 6)
    model = gml.GraphSVC(FirstColumn()).fit(points(*x), x > 2)
    assert model.predict(points(1.1, 4.9)).tolist() == [False, True]


@pytest.mark.parametrize("name", ["gamma", "C"])
@pytest.mark.parametrize("value", [0, -1, "all", None, [1], True, 1e-13, 1e13, np.inf, np.nan])
def test_bad_options_get_one_clear_error(data, name, value):
    """Those that are in the right form, but too small or too large, could be saved, and not loaded."""
    with pytest.raises(ValueError, match=rf'{name} must be a number from 1e-12 to 1e\+12 or "auto", got '):
        gml.GraphSVC(**{name: value}).fit(*data[:2])


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ({0: np.nan, 1: 1.0}, r"class_weight\[0\] must be a number from 1e-12 to 1e\+12, got nan"),
        ({0: 0.0, 1: 1.0}, r"class_weight\[0\] must be a number"),
        ({0: "much", 1: 1.0}, r"class_weight\[0\] must be a number"),
        ({(0,): 1.0}, "a class in class_weight must be a string or a number"),
        ([0.5, 0.5], 'class_weight must be None, "balanced" or a dictionary with a weight per class'),
        ("equal", 'class_weight must be None, "balanced"'),
    ],
)
def test_bad_class_weights_get_one_clear_error(data, weight, words):
    with pytest.raises(ValueError, match=words):
        gml.GraphSVC(class_weight=weight).fit(*data[:2])


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ({5: 1.0}, r"weight for the class 5, but no graph is of it; the classes are \[0, 1\]"),
        ({"0": 1.0}, "weight for the class '0', but no graph is of it"),
        ({0: 1.0, "1": 2.0}, "weight for the class '1', but no graph is of it"),
    ],
)
def test_weights_of_classes_that_are_not_there_are_refused_before_the_metric_is_fitted(weight, words):
    fits = len(FirstColumn.fits)
    with pytest.raises(ValueError, match=words):
        gml.GraphSVC(FirstColumn(), class_weight=weight).fit(points(*range(10)), np.arange(10) % 2)
    assert len(FirstColumn.fits) == fits


@pytest.mark.parametrize("weight", [{2: 3.0}, {0: 2.0, 1: 1.0, 2: 3.0, 7: 1.0}])
def test_weights_of_classes_that_are_all_held_out(weight):
    """The third class is of one graph, which no fold knows when it is held out; the fourth of none."""
    y = np.repeat([0, 1, 2], [6, 5, 1])
    graphs = points(*(10.0 * y + np.arange(len(y)) / 9))
    model = gml.GraphSVC(FirstColumn(), class_weight=weight).fit(graphs, y)
    assert model.predict(graphs).tolist() == y.tolist()


def test_weights_of_classes_that_are_numbers_in_quotes(rng, tmp_path):
    x = rng.normal(size=40)
    y = np.where(x + rng.normal(size=40) > 0, 1, 0)
    plain, quoted = (
        gml.GraphSVC(FirstColumn(), class_weight=weight).fit(points(*x), labels)
        for weight, labels in (({1: 20.0}, y), ({"1": 20.0}, y.astype(str)))
    )
    new = points(*np.linspace(-2, 2, 30))
    np.testing.assert_array_equal(quoted.decision_function(new), plain.decision_function(new))
    again = gml.load(quoted.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.decision_function(new), plain.decision_function(new))


def test_settings_as_numbers_of_numpy_are_saved(rng, tmp_path):
    x, y = rng.normal(size=20), np.arange(20) % 2
    weight = {np.int64(0): np.float32(0.5), np.int64(1): 2}
    model = gml.GraphSVC(FirstColumn(), gamma=np.float32(0.5), C=np.int64(3), class_weight=weight).fit(points(*x), y)
    again = gml.load(model.save(tmp_path / "model"))
    assert (again.gamma, again.C, again.class_weight) == (0.5, 3, {0: 0.5, 1: 2.0})
    np.testing.assert_array_equal(again.predict_proba(points(*x)), model.predict_proba(points(*x)))


def test_weights_of_classes_count_on_graphs_held_out(rng):
    x, y = rng.normal(size=40), np.arange(40) % 4 == 0
    distances = np.abs(x[:, None] - x)
    known, held = np.arange(30), np.arange(30, 40)
    view = FoldView(known, held, distances[:30, :30], distances[30:, :30], None)
    predicted = module._held_out(view, y, 0.5, 1.0, {True: 20.0}).argmax(1)
    svm = SVC(kernel="precomputed", class_weight={True: 20.0}).fit(np.exp(-0.5 * view.within), y[:30])
    np.testing.assert_array_equal(predicted, svm.predict(np.exp(-0.5 * view.across)))
    assert predicted.sum() > module._held_out(view, y, 0.5, 1.0, None).argmax(1).sum()
