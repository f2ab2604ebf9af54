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


def test_what_is_written(rng):
    pairs, y = zoo(rng, 12)
    config, tensors = gml.SGML(n_epochs=1, random_state=0).fit(pairs, y).state()
    assert (config["targets"], config["objective"]) == ("classes", [0, 1])
    assert list(tensors) == ["encoder.theta"]
    assert gml.SGML.from_state(json.loads(json.dumps(config)), tensors).embed(pairs).steps is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": "colours"}, "targets is none of the values"),
        ({"directions": 3}, "directions must be an array"),
        ({"history": {"loss": [1.0], "seconds": []}}, "history.seconds are 0 for 1 epochs"),
        ({"directed": 1}, "directed must be true or false"),
        ({"edge_sums": {}}, "edge_sums.reading is missing"),
        ({"features": {"kind": "x", "kind_": "degree", "width_": 1}}, "features.kind_ is 'degree', but kind is 'x'"),
    ],
)
def test_fields_are_checked(rng, change, words):
    config, tensors = gml.SGML(n_epochs=1, random_state=0).fit(*zoo(rng, 12)).state()
    with pytest.raises(ValueError, match=f"^{words}"):
        gml.SGML.from_state({**config, **change}, tensors)


@pytest.mark.parametrize("distance", ["rpw", "sw"])
def test_directions_and_masses_go_with_the_options(rng, distance):
    metric = gml.SGML(n_epochs=1, random_state=0, distance=distance, n_projections=4).fit(*zoo(rng, 12))
    config, tensors = metric.state()
    other = {"rpw": "pw", "sw": "rpw"}[distance]
    for change, words in (({"distance": other}, "directions do not go"), ({"masses": "learned"}, "encoder.attention")):
        with pytest.raises(ValueError, match=words):
            gml.SGML.from_state({**config, "params": {**config["params"], **change}}, tensors)


def test_classifiers_keep_learned_masses(rng, tmp_path):
    pairs, y = zoo(rng, 24)
    metric = gml.SGML(n_epochs=2, masses="learned", random_state=0)
    model = gml.GraphKNNClassifier(metric, n_neighbors=3).fit(pairs, y)
    again = gml.load(model.save(tmp_path / "model"))
    assert again.embedded_.steps is not None
    np.testing.assert_array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
