import json

import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.automatic import fitting
from write_models import sizes_of, tiny_graphs

SOME = {"families": ["trees", "size", "attributes, density"], "n_landmarks": 10, "random_state": 0}
SPARSE = {"features": ["trees@1"], "embedding": "histogram", "n_landmarks": 10, "random_state": 0}


@pytest.fixture(scope="module")
def graphs():
    return tiny_graphs(60)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """So few graphs must be judged that the tests need no hundreds."""
    monkeypatch.setattr(fitting, "_FEW", 8)


@pytest.mark.parametrize("options", [SOME, SPARSE], ids=["families", "sparse vectors"])
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("before", [9, 32])
def test_a_metric_that_was_loaded_goes_on_as_it_would_have(graphs, tmp_path, options, numbers, before):
    some, y = graphs[0], sizes_of(graphs[0]) + 0.5 if numbers else graphs[1]
    metric = gml.GraphMetric(**options).fit(some[:before], y[:before])
    loaded = gml.load(metric.save(tmp_path / "metric", resumable=True))
    for one in (metric, loaded):
        one.partial_fit(some[before:50], y[before:50])
    loaded = gml.load(loaded.save(tmp_path / "again", resumable=True))
    for one in (metric, loaded):
        one.partial_fit(some[50:], y[50:])
    assert loaded.learned_.n_graphs == 60
    np.testing.assert_allclose(loaded.learned_.alpha, metric.learned_.alpha, atol=1e-6)
    np.testing.assert_allclose(loaded.transform(some), metric.transform(some), atol=1e-5)


def test_without_sums_there_is_nothing_to_go_on_from(graphs, tmp_path):
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:20], graphs[1][:20])
    loaded = gml.load(metric.save(tmp_path / "metric"))
    with pytest.raises(ValueError, match=r"save\(resumable=True\)"):
        loaded.partial_fit(graphs[0], graphs[1])
    with pytest.raises(ValueError, match="for metrics that were fitted here"):
        loaded.save(tmp_path / "again", resumable=True)


def held(config, path):
    for key in path:
        config = config[key]
    return config


@pytest.mark.parametrize(
    ("path", "name", "value", "words"),
    [
        (["resume", "setting"], "penalty", 0.2, "setting.penalty must be one of"),
        (["resume"], "scorer", "r2", "scoring='r2' is not for classes"),
        (["resume"], "scorer", "auto", "resume.scorer must be one of"),
        (["resume", "sums", "described"], "trees", None, "described.trees"),
        (["resume", "sums", "described", "trees"], "n_graphs", 5, "graph must ascend, below the number of graphs"),
    ],
)
def test_fields_are_checked(graphs, path, name, value, words):
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:30], graphs[1][:30])
    config, arrays = fitting_state(metric)
    held(config, path)[name] = value
    with pytest.raises(ValueError, match=words):
        gml.GraphMetric.from_state(config, arrays)


@pytest.mark.parametrize(
    ("name", "harm", "words"),
    [
        ("target.codes", lambda a: a * 0 + 2, "target.codes must be numbers of the 2 classes"),
        ("sums.target.codes", lambda a: a * 0 + 10**9, "target.codes must be numbers of the 2 classes"),
        ("sums.fold", lambda a: a + 5, "fold holds"),
        ("sums.side", lambda a: a + 1, "side holds 1, but there are 1 sides"),
        ("sums.described.trees.level", lambda a: a + 5, "but there are 5 levels"),
        ("sums.described.trees.count", lambda a: a * np.float32(1e12), "more than 1e"),
        ("sums.described.size.sets.0.vectors", lambda a: a[:, :1], "not such as those of the landmarks"),
        ("sums.described.size.sets.0.vectors", lambda a: a[1:], "are not as many graphs as there are entries"),
        ("sums.described.attributes, density.sets.1.vectors", lambda a: a[1:], "differ in how many graphs"),
        ("sums.squares", lambda a: a[:, 1:], "products has shape"),
    ],
)
def test_arrays_are_checked(graphs, name, harm, words):
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:30], graphs[1][:30])
    config, arrays = fitting_state(metric)
    arrays[f"resume.{name}"] = harm(arrays[f"resume.{name}"])
    with pytest.raises(ValueError, match=words):
        gml.GraphMetric.from_state(config, arrays)


def fitting_state(metric):
    """The state as a file gives it back."""
    from graph_metric_learn.metrics.automatic.state import fitted_state

    config, arrays = fitted_state(metric, resumable=True)
    return json.loads(json.dumps(config)), dict(arrays)
