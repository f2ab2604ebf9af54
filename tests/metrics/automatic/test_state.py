import json

import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph
from element_graphs import element_graphs

TREES = {"features": ["trees@0", "trees@1"], "label": "element", "random_state": 0}


@pytest.fixture(scope="module")
def graphs():
    return element_graphs()


def targets(graphs, kind):
    several = np.stack([graphs[1], -(graphs[1] ** 2)], axis=1)
    several[::4, 1] = np.nan
    return {"numbers": graphs[1], "several": several, "classes": graphs[1] > np.median(graphs[1]), "none": None}[kind]


@pytest.fixture(scope="module", params=["numbers", "several", "classes", "none"])
def metric(request, graphs):
    y = targets(graphs, request.param)
    metric = gml.GraphMetric(**TREES, n_components=8).fit(graphs[0][:50], None if y is None else y[:50])
    assert metric.learned_ is None or metric.learned_.gate.weight > 0
    return metric


def test_what_comes_back_is_the_same(metric, graphs, tmp_path):
    again = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(again.transform(graphs[0]), metric.transform(graphs[0]))
    np.testing.assert_array_equal(again.pairwise_distances(graphs[0]), metric.pairwise_distances(graphs[0]))
    assert again.report_ == metric.report_
    assert again.choice_ == metric.choice_
    assert again.task_ == metric.task_
    assert [term.name for term in again.terms_] == [term.name for term in metric.terms_]
    assert again.used_terms().keys() == metric.used_terms().keys()
    one, two = (each.explain(*graphs[0][:2]) for each in (again, metric))
    np.testing.assert_array_equal(one.source_share, two.source_share)
    if metric.learned_ is not None:
        np.testing.assert_array_equal(again.scores(graphs[0]), metric.scores(graphs[0]))
        assert again.learned_.gate == metric.learned_.gate


def test_the_state_is_json_and_arrays(metric):
    config, arrays = metric.state()
    assert json.loads(json.dumps(config, allow_nan=False, default=lambda value: value.item()))
    assert all(isinstance(value, np.ndarray) for value in arrays.values())
    again = gml.GraphMetric.from_state(*metric.state())
    assert again.state()[0] == config


def test_terms_of_the_regression_alone_are_not_terms_of_the_distance(graphs):
    """Fitted on everything, the two choose differently."""
    metric = gml.GraphMetric(label="element", random_state=0, n_steps=1).fit(graphs[0][:50], graphs[1][:50])
    assert len(metric.used_terms()) > len(metric.terms_) == 1
    again = gml.GraphMetric.from_state(*metric.state())
    assert len(again.terms_) == 1
    assert again.used_terms().keys() == metric.used_terms().keys()


def test_an_estimate_is_kept(graphs, tmp_path):
    metric = gml.GraphMetric(**TREES, embedding="counts", estimate=True).fit(graphs[0][:40], graphs[1][:40])
    again = gml.load(metric.save(tmp_path / "metric"))
    assert again.estimate_ == metric.estimate_
    assert "of neighbours on new graphs about" in again.report_


@pytest.fixture(scope="module")
def estimated(graphs):
    y = graphs[1][:40]
    options = {"features": ["labels@0"], "label": "element", "embedding": "mean", "learn": False, "random_state": 0}
    return gml.GraphMetric(**options, estimate=True).fit(graphs[0][:40], y > np.sort(y)[-12])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": "high"}, "estimate.score must be a number, got 'high'"),
        ({"error": -0.1}, "estimate.error must be a number >= 0.0, got -0.1"),
        ({"guess": None}, "estimate.guess must be a number"),
        ({"guess_name": 3}, "estimate.guess_name must be a string"),
        ({"balanced": float("nan")}, "estimate.balanced must be a number"),
        ({"balanced_error": -0.1}, "estimate.balanced_error must be a number >= 0"),
        ({"balanced_guess": "half"}, "estimate.balanced_guess must be a number"),
        ({"rank": 1}, "estimate.rank is not known"),
    ],
)
def test_an_estimate_in_a_file_is_checked_field_by_field(estimated, change, words):
    config, tensors = estimated.state()
    with pytest.raises(ValueError, match=words):
        gml.GraphMetric.from_state({**config, "estimate": {**config["estimate"], **change}}, tensors)


def test_arrays_that_do_not_fit_together_are_refused(graphs):
    metric = gml.GraphMetric(**TREES).fit(graphs[0][:50], graphs[1][:50])
    config, arrays = metric.state()
    name = "learned.machine.parts.0.references.starts"
    with pytest.raises(ValueError, match=r"learned.machine.parts.0.references"):
        gml.GraphMetric.from_state(config, {**arrays, name: arrays[name][:-1]})


@pytest.mark.parametrize("features", [["edge_trees@0"], ["edge@0"], ["around@0"], ["strength@0"]])
def test_blocks_of_edges_need_edges_that_are_read(features):
    drawn = [edge_graph(seed) for seed in range(20)]
    y = np.arange(20) % 2
    metric = gml.GraphMetric(features=features, random_state=0, directed=False, **NAMES).fit(drawn, y)
    config, tensors = metric.state()
    assert gml.GraphMetric.from_state(config, tensors).edge_reading_ == metric.edge_reading_
    config["edge_reading"] = {}
    with pytest.raises(ValueError, match="edge_reading reads nothing that edges carry, but block"):
        gml.GraphMetric.from_state(config, tensors)
