import json

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_zoo import zoo


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "mlkr"},
        {"masses": "learned"},
        {"loss": "mlkr", "masses": "learned", "distance": "sw", "n_projections": 4},
    ],
)
def test_metrics_come_back(rng, tmp_path, options):
    pairs, y = zoo(rng, 24)
    target = y + 0.1 * rng.normal(size=24) if options.get("loss") == "mlkr" else y
    metric = gml.SGML(n_epochs=2, random_state=0, **options).fit(pairs, target)
    again = gml.load(metric.save(tmp_path / "metric"))
    assert again.get_params() == metric.get_params()
    np.testing.assert_array_equal(again.pairwise_distances(pairs), metric.pairwise_distances(pairs))
    np.testing.assert_array_equal(again.transform(pairs), metric.transform(pairs))
    np.testing.assert_array_equal(again.explain(*pairs[:2]).plan, metric.explain(*pairs[:2]).plan)
    assert again.objective_.state() == metric.objective_.state()
    for fitted in (metric, again):
        fitted.partial_fit(pairs, target, n_epochs=1)
    assert torch.equal(again.module_.theta, metric.module_.theta)
    assert again.history_.loss == metric.history_.loss


def test_a_metric_for_classes_is_written_as_before(rng):
    """New keys are for what is new: older files have none of them."""
    pairs, y = zoo(rng, 12)
    config, tensors = gml.SGML(n_epochs=1, random_state=0).fit(pairs, y).state()
    assert config["classes"] == [0, 1]
    assert "numbers" not in config
    assert list(tensors) == ["encoder.theta"]
    json.dumps(config)
    for name in ("task", "masses"):
        del config["params"][name]
    again = gml.SGML.from_state(config, tensors)
    assert again.task == "auto"
    assert again.masses == "uniform"
    assert again.embed(pairs).steps is None


def test_classifiers_keep_learned_masses(rng, tmp_path):
    pairs, y = zoo(rng, 24)
    metric = gml.SGML(n_epochs=2, masses="learned", random_state=0)
    model = gml.GraphKNNClassifier(metric, n_neighbors=3).fit(pairs, y)
    again = gml.load(model.save(tmp_path / "model"))
    assert again.embedded_.steps is not None
    np.testing.assert_array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
