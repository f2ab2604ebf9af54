import networkx as nx
import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.features.propagation import propagate
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import (
    SGCN,
    encode,
    encode_measures,
    prepare,
    propagate_directed,
    softmax_within,
)
from graph_zoo import zoo
from small_graphs import random_graphs


def test_the_product_and_its_start(rng):
    graphs = as_graphs(zoo(rng, 3)[0])
    module = SGCN(3, 2, depth=1, seed=0)
    assert module.theta.abs().max() <= np.sqrt(6 / 5)
    assert torch.equal(module.theta, SGCN(3, 2, seed=0).theta)
    assert not torch.equal(module.theta, SGCN(3, 2, seed=1).theta)
    wanted = torch.from_numpy(propagate(graphs, 1)) @ module.theta
    assert torch.equal(encode(module, graphs), wanted.relu())
    assert (wanted < 0).any()
    linear = SGCN(3, 2, depth=1, activation="none", seed=0)
    assert torch.equal(encode(linear, graphs), wanted)


def test_another_encoder_gets_a_pyg_batch(rng):
    graphs = as_graphs(zoo(rng, 3)[0])

    class Degrees(torch.nn.Module):
        def forward(self, batch):
            return torch.bincount(batch.edge_index[0], minlength=batch.num_nodes).float().unsqueeze(1)

    assert encode(Degrees(), graphs).flatten().tolist() == graphs.degrees.tolist()

    class Pooled(torch.nn.Module):
        def forward(self, batch):
            return batch.x.mean(0, keepdim=True)

    with pytest.raises(ValueError, match="expected one row per node"):
        encode(Pooled(), graphs)


def test_an_encoder_whose_forward_begins_with_x_and_edge_index_gets_these(rng):
    graphs = as_graphs(zoo(rng, 3)[0])

    class Sum(torch.nn.Module):
        def forward(self, x, edge_index, edge_weight=None):
            return x.index_add(0, edge_index[1], x[edge_index[0]])

    np.testing.assert_allclose(encode(Sum(), graphs), propagate(graphs, 1, "sum"), rtol=1e-5)


class Scaled(torch.nn.Module):
    """Knows nothing of SGCN: features are centred once, by `prepare`, and scaled by `forward`."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.linspace(0.5, 1.5, 3))
        self.prepared = 0

    def prepare(self, graphs):
        self.prepared += 1
        x = torch.from_numpy(graphs.x)
        return x - x.mean(0)

    def forward(self, centred):
        return centred * self.scale


def test_any_encoder_may_have_a_step_that_is_prepared_once(rng):
    pairs, y = zoo(rng, 20)
    graphs = as_graphs(pairs)
    x = torch.from_numpy(graphs.x)
    assert torch.equal(encode(Scaled(), graphs), (x - x.mean(0)) * Scaled().scale)
    metric = gml.SGML(encoder=Scaled(), n_epochs=3, random_state=0, device="cpu").fit(pairs, y)
    assert metric.module_.prepared == 2  # once for the number of outputs, once for all steps of the training
    assert not torch.equal(metric.module_.scale, Scaled().scale)


def test_a_layer_that_is_called_prepare_is_no_such_step(rng):
    graphs = as_graphs(zoo(rng, 3)[0])

    class Layered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.prepare = torch.nn.Identity()

        def forward(self, batch):
            return self.prepare(batch.x)

    assert prepare(Layered(), graphs) is None
    assert torch.equal(encode(Layered(), graphs), torch.from_numpy(graphs.x).float())


def test_a_failing_encoder_is_named(rng):
    graphs = as_graphs(zoo(rng, 3)[0])
    with pytest.raises(ValueError, match="the encoder failed on a batch with 3 node features"):
        encode(torch.nn.Linear(2, 2), graphs)


def test_masses_are_a_softmax_of_the_propagated_features(rng):
    graphs = as_graphs(zoo(rng, 3)[0])
    plain, module = SGCN(3, 2, depth=1, seed=0), SGCN(3, 2, depth=1, seed=0, learned_masses=True)
    assert encode_measures(plain, graphs)[1] is None
    assert list(plain.state_dict()) == ["theta"]
    assert torch.equal(plain.theta, module.theta)
    features, masses = encode_measures(module, graphs)
    assert torch.equal(features, encode(plain, graphs))
    np.testing.assert_allclose(masses.detach(), np.repeat(1 / graphs.sizes, graphs.sizes), atol=1e-11)
    with torch.no_grad():
        module.attention[:] = torch.tensor([2.0, -1.0, 0.5])
    weights = np.exp(propagate(graphs, 1).astype(float) @ [2.0, -1.0, 0.5])
    wanted = [part / part.sum() for part in np.split(weights, graphs.offsets[1:-1])]
    np.testing.assert_allclose(encode_measures(module, graphs)[1].detach(), np.concatenate(wanted), atol=1e-11)
    again = SGCN(3, 2, depth=1, learned_masses=True)
    again.load_state_dict(module.state_dict())
    assert torch.equal(encode_measures(again, graphs)[1], encode_measures(module, graphs)[1])


def test_masses_do_not_depend_on_the_units_of_the_features(rng):
    graphs = as_graphs(zoo(rng, 3)[0])
    propagated, units = torch.from_numpy(propagate(graphs, 1)), torch.tensor([1000.0, 0.01, 1.0])
    masses = []
    for features in (propagated, propagated * units):
        module = SGCN(3, 2, seed=0, learned_masses=True)
        module.set_scale(features)
        with torch.no_grad():
            module.attention[:] = torch.tensor([2.0, -1.0, 0.5])
        masses.append(module.masses(features, graphs.sizes).detach())
    np.testing.assert_allclose(*masses, rtol=1e-5)
    constant = SGCN(2, 1, learned_masses=True)
    constant.set_scale(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    assert constant.scale.tolist() == [1.0, 1.0]
    SGCN(2, 1).set_scale(propagated)  # nothing to scale


def test_bad_choices():
    with pytest.raises(ValueError, match="'gelu'"):
        SGCN(2, 2, activation="gelu")


def test_a_start_that_makes_nothing_but_zeros_is_drawn_again():
    """On positive features a Θ without a positive column is dead: 15 of these 40 metrics were at distance 0."""
    flat = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        graphs = [(1 - np.eye(n), rng.uniform(size=(n, 2)) + 1) for n in range(3, 13)]
        metric = gml.SGML(n_epochs=0, random_state=seed).fit(graphs, [0, 1] * 5)
        flat += metric.pairwise_distances(graphs).max() == 0
    assert flat == 0


# --- propagation along directions ------------------------------------------------------------------------------------


def digraphs(rng, *, weighted):
    """(matrix of arcs from row to column, features)."""
    graphs = []
    for n in (4, 7, 1):
        arcs = (rng.random((n, n)) < 0.4) * (rng.normal(size=(n, n)) if weighted else 1.0)
        np.fill_diagonal(arcs, 0.0)
        graphs.append((arcs, rng.normal(size=(n, 3))))
    return graphs


@pytest.mark.parametrize("along", ["in", "out"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_it_is_the_product_with_the_dense_matrix(rng, along, weighted, depth):
    graphs = digraphs(rng, weighted=weighted)
    expected = []
    for arcs, x in graphs:
        scale = np.abs(arcs[arcs != 0]).mean() if arcs.any() else 1.0
        matrix = (arcs.T if along == "in" else arcs) / scale
        step = (matrix + np.eye(len(x))) / (np.abs(matrix).sum(1) + 1)[:, None]
        expected.append(np.linalg.matrix_power(step, depth) @ x)
    propagated = propagate_directed(as_graphs(graphs, directed=True), depth, along)
    assert propagated.dtype == np.float32
    np.testing.assert_allclose(propagated, np.concatenate(expected), rtol=1e-5, atol=1e-6)


def test_without_directions_both_ways_agree(rng):
    graphs = as_graphs(random_graphs(rng))
    one, other = (propagate_directed(graphs, 2, along) for along in ("in", "out"))
    np.testing.assert_array_equal(one, other)
    a, x = graphs.adjacency.toarray(), graphs.x
    np.testing.assert_allclose(
        propagate_directed(graphs, 1), (a @ x + x) / (a.sum(1) + 1)[:, None], rtol=1e-5, atol=1e-6
    )


def test_parallel_edges_count_once_unless_they_have_weights():
    graph = nx.MultiDiGraph()
    graph.add_node(0, x=[0.0])
    graph.add_node(1, x=[6.0])
    graph.add_edges_from([(0, 1, {"kind": "a"}), (0, 1, {"kind": "b"})])
    once = as_graphs([graph], edge_label="kind")
    np.testing.assert_allclose(propagate_directed(once, 1, "in").ravel(), [0.0, 3.0])
    for _, _, attributes in graph.edges(data=True):
        attributes["weight"] = 4.0
    twice = as_graphs([graph], edge_label="kind")  # mean weight 1, so 2 together
    np.testing.assert_allclose(propagate_directed(twice, 1, "in").ravel(), [0.0, 2.0])


def test_bad_options(rng):
    graphs = as_graphs(random_graphs(rng))
    with pytest.raises(ValueError, match="unknown propagation='up'"):
        propagate_directed(graphs, 1, "up")
    with pytest.raises(ValueError, match="depth must be a whole number"):
        propagate_directed(graphs, -1, "in")


# --- masses ----------------------------------------------------------------------------------------------------------


def test_a_softmax_in_each_graph(rng):
    sizes = np.array([3, 1, 6, 2])
    scores = rng.normal(size=12) * 3
    got = softmax_within(torch.from_numpy(scores), sizes)
    wanted = [np.exp(part) / np.exp(part).sum() for part in np.split(scores, np.cumsum(sizes)[:-1])]
    np.testing.assert_allclose(got, np.concatenate(wanted), atol=1e-11)
    assert got.dtype == torch.float64


def test_gradients(rng):
    sizes = np.array([3, 1, 4])
    scores = torch.from_numpy(rng.normal(size=8)).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: softmax_within(s, sizes), scores, eps=1e-5)


def test_far_scores_give_small_masses_that_are_positive():
    for scores in ([0.0, 900.0], [1e30, 0.0], [-1e30, 1e30, 0.0]):
        masses = softmax_within(torch.tensor(scores), np.array([len(scores)]))
        assert (masses > 0).all()
        assert float(masses.sum()) - 1 < 1e-11


def test_sums_do_not_depend_on_the_order(rng):
    """Not even by a rounding error: the ends of steps are such sums."""
    scores = torch.from_numpy(rng.normal(size=1000) * 4)
    masses = softmax_within(scores, np.array([1000]))
    for _ in range(20):
        order = torch.from_numpy(rng.permutation(1000))
        assert torch.equal(softmax_within(scores[order], np.array([1000])), masses[order])
        some = masses[:500][torch.from_numpy(rng.permutation(500))]
        assert float(some.cumsum(0)[-1]) == float(masses[:500].cumsum(0)[-1])
