import networkx as nx
import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import GIN, GINE
from graph_metric_learn_reproduction.baselines.gin import IsomorphismLayer, IsomorphismNetwork
from graph_metric_learn_reproduction.baselines.network_inputs import NetworkInput
from graph_metric_learn_reproduction.baselines.networks import Setting
from graph_zoo import zoo
from small_graphs import path, random_graphs, renumbered

SMALL = {"sizes": [(2, 16)], "learning_rates": [0.01], "epochs": 60, "device": "cpu"}
CPU = torch.device("cpu")


def test_a_layer_is_that_of_the_paper(rng):
    """MLP((1 + ε) h + A h), by dense matrices."""
    graphs = as_graphs(random_graphs(rng, 3, smallest=4))
    batch = NetworkInput.of(graphs, None, CPU).batch(np.arange(3))
    layer = IsomorphismLayer(3, 5).eval()
    with torch.no_grad():
        layer.convolution.eps.fill_(0.25)
        dense = torch.from_numpy(graphs.adjacency.toarray()).float()
        expected = layer.norm(layer.convolution.nn(1.25 * batch.x + dense @ batch.x)).relu()
        torch.testing.assert_close(layer(batch.x, batch), expected)


def test_messages_along_edges_with_features_are_those_of_the_paper(rng):
    """ReLU(h(u) + W e), summed over the neighbours one by one."""
    graphs = as_graphs(random_graphs(rng, 2, smallest=4))
    batch = NetworkInput.of(graphs, None, CPU).batch(np.arange(2))
    edge_x = torch.from_numpy(rng.normal(size=(batch.arcs.shape[1], 2))).float()
    batch = batch._replace(edge_x=edge_x)
    layer = IsomorphismLayer(3, 5, edge_width=2).eval()
    with torch.no_grad():
        total = (1 + layer.convolution.eps) * batch.x
        for a, (source, target) in enumerate(batch.arcs.T.tolist()):
            total[target] += (batch.x[source] + layer.convolution.lin(edge_x[a])).relu()
        torch.testing.assert_close(layer(batch.x, batch), layer.norm(layer.convolution.nn(total)).relu())


def test_scores_are_sums_over_levels_and_do_not_depend_on_the_numbering(rng):
    torch.manual_seed(0)
    module = IsomorphismNetwork(3, 0, 2, Setting(2, 8, 0.01), 0.5).eval()
    graphs = random_graphs(rng, 5, smallest=3)

    def scores(given):
        with torch.no_grad():
            return module(NetworkInput.of(as_graphs(given), None, CPU).batch(np.arange(len(given))))

    found = scores(graphs)
    torch.testing.assert_close(scores([renumbered(graph, rng) for graph in graphs]), found)
    torch.testing.assert_close(scores(graphs[2:3]), found[2:3])  # other graphs of the batch do not matter
    level = module.scores[0]
    x = torch.from_numpy(graphs[0][1]).float()
    without = level(torch.cat([x.sum(0), x.mean(0)]))
    with torch.no_grad():
        for head in module.scores[1:]:
            head.weight.zero_()
            head.bias.zero_()
    torch.testing.assert_close(scores(graphs)[0], without.detach())


def test_graphs_are_told_apart_by_features_and_by_edges_alone(rng):
    graphs, y = zoo(rng, 40)
    names = np.array(["ring", "hub"])[y]
    others, truth = zoo(rng, 20)
    assert np.mean(GIN(**SMALL).fit(graphs, names).predict(others) == np.array(["ring", "hub"])[truth]) > 0.9
    shapes = [(a, None) for n in range(4, 14) for a in (path(2 * n), np.kron(np.eye(n), path(2)))] * 2
    kinds = np.arange(len(shapes)) % 2
    model = GIN(**SMALL).fit(shapes, kinds)
    np.testing.assert_array_equal(model.predict(shapes), kinds)
    assert model.node_features_.kind_ == "degree"


def coloured_rings(rng, count):
    graphs, y = [], np.arange(count) % 2
    for kind in y:
        graph = nx.cycle_graph(int(rng.integers(4, 8)))
        nx.set_edge_attributes(graph, "red" if kind else "blue", "colour")
        graphs.append(graph)
    return as_graphs(graphs, edge_label="colour"), y


def test_labels_of_edges_are_seen_by_gine_alone(rng):
    graphs, y = coloured_rings(rng, 40)
    new, truth = coloured_rings(rng, 20)
    assert (GINE(**SMALL).fit(graphs, y).predict(new) == truth).all()
    blind = GIN(**SMALL).fit(graphs, y)
    assert blind.module_.scores[0].in_features == blind.node_features_.width_ * 2
    same = [graph for graph in range(20) if new.sizes[graph] == new.sizes[0]]
    assert len(np.unique(blind.decision_function(new)[same].round(4), axis=0)) == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_the_seed_decides_on_a_gpu(rng):
    graphs, y = zoo(rng, 30)
    one, same = (GIN(**{**SMALL, "device": "cuda"}).fit(graphs, y).decision_function(graphs) for _ in range(2))
    np.testing.assert_array_equal(one, same)
