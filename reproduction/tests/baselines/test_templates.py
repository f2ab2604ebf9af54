import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import TFGW, TW
from graph_metric_learn_reproduction.baselines.network_inputs import NetworkInput
from graph_zoo import zoo
from small_graphs import path

pytest.importorskip("ot")
SMALL = {"sizes": [(1, 4)], "epochs": 12, "batch_size": 8}


@pytest.mark.parametrize("kind", [TFGW, TW])
def test_templates_are_learned_and_tell_graphs_apart(rng, kind):
    graphs, y = zoo(rng, 20)
    model = kind(**SMALL).fit(graphs, y)
    assert np.mean(model.predict(graphs) == y) > 0.8
    untrained = kind(**{**SMALL, "epochs": 1, "learning_rates": [1e-9]}).fit(graphs, y)
    for (name, learned), (_, initial) in zip(
        model.module_.pooling.named_parameters(), untrained.module_.pooling.named_parameters(), strict=True
    ):
        assert (learned - initial).abs().max() > 1e-4, name


def test_the_same_seed_gives_the_same(rng):
    graphs, y = zoo(rng, 8)
    options = {**SMALL, "epochs": 2}
    one, same = (TW(**options).fit(graphs, y).decision_function(graphs) for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_only_tfgw_compares_edges_with_templates(rng):
    """Two graphs of equal node features: the distances of TW are equal, those of TFGW are not."""
    x = torch.zeros(8, 4)
    graphs = as_graphs([(path(4), np.zeros((4, 4))), (np.ones((4, 4)) - np.eye(4), np.zeros((4, 4)))])
    batch = NetworkInput.of(graphs, None, torch.device("cpu")).batch(np.arange(2))
    for kind, equal in ((TFGW, False), (TW, True)):
        torch.manual_seed(0)
        distances = kind()._pooling(4)(x, batch.arcs, batch.owner).detach()
        assert torch.allclose(distances[0], distances[1]) == equal
