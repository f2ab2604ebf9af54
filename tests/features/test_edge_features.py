import json

import numpy as np
import pytest

from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.edge_features import EdgeFeatures
from graph_metric_learn.graphs import as_graphs

GRAPHS = as_graphs([edge_graph(seed) for seed in range(12)], **NAMES)


def test_labels_are_one_hot_and_numbers_standardised():
    found = EdgeFeatures().fit(GRAPHS).transform(GRAPHS)
    data = GRAPHS.edge_data
    np.testing.assert_array_equal(found[:, 0], data.labels[:, 0] == "d")
    np.testing.assert_array_equal(found[:, 1], data.labels[:, 0] == "s")
    np.testing.assert_allclose(found[:, 2:4], (data.x - data.x.mean(0)) / data.x.std(0))
    np.testing.assert_allclose(found[:, 4], (data.weights - data.weights.mean()) / data.weights.std())


def test_the_rule_comes_back_and_applies_to_new_graphs():
    fitted = EdgeFeatures().fit(GRAPHS[:6])
    again = EdgeFeatures.from_state(json.loads(json.dumps(fitted.state())))
    np.testing.assert_array_equal(fitted.transform(GRAPHS[6:]), again.transform(GRAPHS[6:]))
    assert again.width == 5


def test_an_offset_costs_no_digits():
    """Unit variance on 1e8: standardised in float64."""
    graphs = [edge_graph(seed, labels=False, weights=False) for seed in range(12)]
    moved = [graph.copy() for graph in graphs]
    for graph in moved:
        for *_, data in graph.edges(data=True):
            data["v"] = data["v"] + 1e8
    names = {"label": "element", "edge_attribute": "v"}
    one, two = as_graphs(graphs, **names), as_graphs(moved, **names)
    np.testing.assert_allclose(
        EdgeFeatures().fit(one).transform(one), EdgeFeatures().fit(two).transform(two), atol=1e-6
    )


def test_edges_that_carry_something_else_are_refused():
    with pytest.raises(ValueError, match="edges carry other labels, vectors or weights"):
        EdgeFeatures().fit(GRAPHS).transform(
            as_graphs([edge_graph(3, vectors=False)], label="element", edge_label="kind")
        )
