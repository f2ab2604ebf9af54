"""More of it, on every kind of predictor: `tests/fuzz/test_saved.py`."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

import graph_metric_learn as gml
from graph_metric_learn._core.schema import FieldError
from graph_metric_learn.predictors.state import checked_params, restored, with_nan, without_nan
from graph_zoo import zoo


@pytest.fixture(scope="module")
def knn():
    graphs, y = zoo(np.random.default_rng(0), 12)
    return gml.GraphKNNClassifier(gml.SGML(n_epochs=1, random_state=0), n_neighbors=3).fit(graphs, y)


def test_missing_numbers_come_back():
    y = np.array([[1.0, np.nan], [2.5, 3.0]])
    np.testing.assert_array_equal(with_nan(without_nan(y)), y)
    assert without_nan(np.array(["a"])) == ["a"]
    with pytest.raises(FieldError, match="y must be"):
        with_nan([[1.0], [2.0, 3.0]])


def test_options_are_those_of_the_class():
    assert checked_params(gml.GraphSVC, {"gamma": 2.0, "C": "auto"}) == {"gamma": 2.0, "C": "auto"}
    for params in ({"metric": None}, {"n_neighbors": 3}):
        with pytest.raises(FieldError, match=r"params.\w+"):
            checked_params(gml.GraphSVC, params)


def test_a_predictor_comes_back(knn):
    again = restored(gml.GraphKNNClassifier, *knn._state(), None)
    assert again.y_.tolist() == knn.y_.tolist()
    np.testing.assert_array_equal(again.embedded_.values, knn.embedded_.values)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y": [0, 1]}, "reference.sizes has shape"),
        ({"y": [0] * 12}, "one class only"),
        ({"reference": {"kind": "points"}}, "reference"),
        ({"y": [*[0, 1] * 5, "a", 1]}, "y mixes"),
        ({"names": ["a"]}, "names are 1 for 12"),
        ({"reference": {"kind": "vectors"}}, "reference.sizes is not known"),
        ({"params": {"n_neighbors": 13}}, "params.n_neighbors is 13, but there are 12"),
        ({"params": {"n_neighbors": -1}}, "params: n_neighbors must be a whole number from 1"),
        ({"params": {"weights": "all"}}, "params: unknown weights='all': use one of 'uniform', 'distance'"),
        ({"chosen": {"n_neighbors": 0}}, "chosen.n_neighbors must be"),
        ({"target_names": ["a"]}, r"target_names are 1 for targets of shape \(12,\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(knn, changes, words):
    config, tensors = knn._state()
    with pytest.raises(FieldError, match=words):
        restored(gml.GraphKNNClassifier, {**config, **changes}, tensors, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": [0, 1, 2]}, "chosen.classes are not all among those of the reference graphs"),
        ({"classes": [1, 0]}, "chosen.classes"),
        ({"classes": [0]}, r"chosen.calibrator.offsets has shape \(2,\), expected \(C = 1\)"),
        ({"calibrator": {"slopes": [1.0, 2.0], "offsets": [0.0, 0.0]}}, r"chosen.calibrator.slopes has shape \(2,\)"),
        ({"calibrator": None}, "chosen.calibrator must be"),
    ],
)
def test_what_was_calibrated_goes_with_the_classes(knn, changes, words):
    config, tensors = knn._state()
    with pytest.raises(FieldError, match=words):
        restored(gml.GraphKNNClassifier, {**config, "chosen": {**config["chosen"], **changes}}, tensors, None)


@pytest.fixture(scope="module")
def several():
    graphs, y = zoo(np.random.default_rng(0), 12)
    table = np.stack([y, 1 - y, np.arange(12) % 2], axis=1).astype(float)
    table[::4, 1] = np.nan
    metric = gml.SGML(n_epochs=1, random_state=0).fit(graphs, y)
    return gml.GraphKNNClassifier(FrozenEstimator(metric), n_neighbors=3).fit(graphs, table)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.0, 2.0, 1.0], "y.1.1 must be a number <= 1.0, got 2.0"),
        ([0.0, 0.5, 1.0], "y has labels that are not 0 or 1"),
        ([0.0, 1.0], "y must be one label or number per graph, or rows of the same length"),
        (1, "y.1 must be a list, got 1"),
    ],
)
def test_tables_of_labels_are_checked(several, row, words):
    config, tensors = several._state()
    again = restored(gml.GraphKNNClassifier, config, tensors, None)
    np.testing.assert_array_equal(again.y_, several.y_)
    y = [config["y"][0], row, *config["y"][2:]]
    with pytest.raises(FieldError, match=words):
        restored(gml.GraphKNNClassifier, {**config, "y": y}, tensors, None)


def test_a_table_of_labels_goes_with_what_was_chosen(several):
    config, tensors = several._state()
    same = [[0.0, *row[1:]] for row in config["y"]]
    with pytest.raises(FieldError, match="y has a label that is the same for all graphs"):
        restored(gml.GraphKNNClassifier, {**config, "y": same}, tensors, None)
    for changes, words in (
        ({"classes": [0, 1]}, "chosen.classes is not known"),
        ({"calibrator": {"slopes": [1.0], "offsets": [0.0]}}, r"calibrator.slopes has shape \(1,\)"),
    ):
        with pytest.raises(FieldError, match=words):
            restored(gml.GraphKNNClassifier, {**config, "chosen": {**config["chosen"], **changes}}, tensors, None)
    with pytest.raises(FieldError, match="y"):
        restored(gml.NearestClassMean, {**config, "params": {}, "chosen": {}}, tensors, None)
