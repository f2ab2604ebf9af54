import pytest

import graph_metric_learn as gml
from graph_metric_learn.predictors.by_name import predictor

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
