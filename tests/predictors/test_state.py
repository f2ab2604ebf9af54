"""More of it, on every kind of predictor: `tests/fuzz/test_saved.py`."""

import numpy as np
import pytest

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
    ],
)
def test_what_does_not_fit_together_is_refused(knn, changes, words):
    config, tensors = knn._state()
    with pytest.raises(FieldError, match=words):
        restored(gml.GraphKNNClassifier, {**config, **changes}, tensors, None)
