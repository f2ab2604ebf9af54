"""Each setting through its predictor: `test_knn.py`, `test_svc.py`, `test_kmeans.py`."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import graph_metric_learn as gml
from graph_metric_learn._core.schema import FieldError
from graph_metric_learn.predictors.settings import (
    CLUSTERS,
    NEIGHBORS,
    SVC,
    check_setting,
    check_settings,
    check_weighted_classes,
    weights_of_classes,
)
from graph_metric_learn.predictors.state import checked_params


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphKNNRegressor, gml.GraphSVC, gml.GraphKMeans])
def test_what_predictors_are_made_with_is_taken(kind):
    assert kind._settings
    check_settings(kind(), kind._settings)


@pytest.mark.parametrize(
    ("name", "checks", "good", "bad"),
    [
        ("n_neighbors", NEIGHBORS, ["auto", 1, np.int64(3), 10**9], [0, True, 1.0, "all", None, 10**9 + 1]),
        ("gamma", SVC, ["auto", 1, 0.5, np.float32(2), 1e-12, 1e12], [0, True, "1", None, [1], 1e-13, np.inf, np.nan]),
        ("class_weight", SVC, [None, "balanced", {}, {"a": 2, np.int64(0): 0.5}], ["x", [1], {0: None}, {None: 1.0}]),
        ("max_iter", CLUSTERS, [1, np.int64(5)], [0, True, 2.5, 10**10]),
    ],
)
def test_what_is_taken(name, checks, good, bad):
    for value in good:
        check_setting(name, value, checks[name])
    for value in bad:
        with pytest.raises(ValueError, match=f"{name}.* must be ") as said:
            check_setting(name, value, checks[name])
        assert not isinstance(said.value, FieldError)


def test_weights_of_classes_are_pairs_in_files():
    found = checked_params(gml.GraphSVC, {"class_weight": [[0, 0.5], ["a", 2.0]]})
    assert found == {"class_weight": {0: 0.5, "a": 2.0}}
    for bad in ({"a": 1.0}, [["a", "b"]], [["a", 0.0]], [["a"]], [[None, 1.0]], [[["a"], 1.0]]):
        with pytest.raises(FieldError, match="class_weight"):
            checked_params(gml.GraphSVC, {"class_weight": bad})


WEIGHTS = [
    {}, {0: 2.0}, {1: 2.0}, {0: 1.0, 1: 2.0, 7: 1.0}, {2: 1.0}, {0: 1.0, 2: 1.0}, {"0": 1.0, "1": 2.0}, {"a": 2.0},
]  # fmt: skip


@pytest.mark.parametrize("weight", [None, "balanced", *WEIGHTS])
@pytest.mark.parametrize("names", [[0, 1], [False, True], [0.0, 1.0], ["a", "b"], ["0", "b"]])
def test_weights_are_refused_and_used_as_by_scikit_learn(weight, names):
    """But for numbers in quotes, which can be given as they are, too."""
    classes = np.array(names)
    y = classes[[0, 0, 1]]
    try:
        wanted = compute_class_weight(weight, classes=classes, y=y)
    except ValueError:
        if weight == {"0": 1.0, "1": 2.0} and "0" in names:
            return
        with pytest.raises(ValueError, match=r"class_weight has a weight for the class .*; the classes are \["):
            check_weighted_classes(weight, classes)
    else:
        check_weighted_classes(weight, classes)
        found = weights_of_classes(weight, classes)
        np.testing.assert_array_equal(compute_class_weight(found, classes=classes, y=y), wanted)


def test_weights_of_numbers_in_quotes():
    classes = np.array(["0", "1"])
    for weight in ({"0": 3.0}, {0: 3.0}):
        check_weighted_classes(weight, classes)
        found = weights_of_classes(weight, classes)
        assert compute_class_weight(found, classes=classes, y=classes).tolist() == [3.0, 1.0]
    with pytest.raises(ValueError, match="the class 2,"):
        check_weighted_classes({2: 1.0}, classes)
