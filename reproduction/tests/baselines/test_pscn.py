import networkx as nx
import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import PSCN
from graph_metric_learn_reproduction.baselines.pscn import betweenness, receptive_fields
from graph_metric_learn_reproduction.baselines.structure import hops
from graph_zoo import zoo
from small_graphs import path, random_graph, random_graphs, renumbered, star


def fitted_length(length, **options):
    system = PSCN(**options)
    system.length_ = length
    return system


def test_betweenness_is_that_of_networkx(rng):
    for adjacency, _ in [*random_graphs(rng, 10, largest=15), (np.ones((5, 5)) - np.eye(5), None), (star(4), None)]:
        expected = nx.betweenness_centrality(nx.from_numpy_array(adjacency), normalized=False)
        np.testing.assert_allclose(betweenness(adjacency, hops(adjacency)), list(expected.values()), atol=1e-9)


def test_fields_of_a_path_by_hand():
    """Betweenness 0, 3, 4, 3, 0 along the path; equal nodes by larger features."""
    x = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    assert receptive_fields(path(5), x, 5, 3).tolist() == [[2, 3, 1], [3, 2, 4], [1, 2, 0], [4, 3, 2], [0, 1, 2]]
    assert receptive_fields(path(5), x, 2, 3).tolist() == [[2, 3, 1], [3, 2, 4]]


def test_fields_stay_in_their_component_and_are_filled_with_zeros():
    adjacency = np.zeros((4, 4))
    adjacency[:3, :3] = path(3)
    fields = receptive_fields(adjacency, np.arange(4.0)[:, None], 4, 3)
    assert fields.tolist() == [[1, 2, 0], [2, 1, 0], [0, 1, 2], [3, -1, -1]]
    inputs = fitted_length(5, fields=4)._inputs(as_graphs([(adjacency, np.arange(1.0, 5.0)[:, None])]))
    assert inputs[0].tolist() == [[2, 3, 1, 0], [3, 2, 1, 0], [1, 2, 3, 0], [4, 0, 0, 0], [0, 0, 0, 0]]


def test_inputs_do_not_depend_on_the_numbering_without_ties_and_do_on_edges_and_features(rng):
    graph = random_graph(rng, 12)  # features differ: no ties
    system = fitted_length(8)
    inputs = system._inputs(as_graphs([graph]))
    for _ in range(5):
        np.testing.assert_array_equal(system._inputs(as_graphs([renumbered(graph, rng)])), inputs)
    adjacency, x = graph
    fewer = adjacency.copy()
    edge = np.argwhere(adjacency)[0]
    fewer[tuple(edge)] = fewer[tuple(edge[::-1])] = 0
    assert (system._inputs(as_graphs([(fewer, x)])) != inputs).any()
    assert (system._inputs(as_graphs([(adjacency, x + 0.1)])) != inputs).all(axis=2).any()


def test_a_tiny_set_is_learned_by_heart_and_new_graphs_of_its_kind_are_told_apart(rng):
    graphs, y = zoo(rng, 24)
    names = np.array(["ring", "hub"])[y]
    model = PSCN(epochs=60).fit(graphs, names)
    assert model.length_ == round(np.mean([len(x) for _, x in graphs]))
    np.testing.assert_array_equal(model.predict(graphs), names)
    others, truth = zoo(rng, 24)
    assert np.mean(model.predict(others) == np.array(["ring", "hub"])[truth]) > 0.9


def test_random_classes_are_learned_by_heart(rng):
    """Nothing but the graphs themselves tells them apart."""
    graphs = random_graphs(rng, 10, smallest=6, largest=12)
    y = rng.permutation(np.arange(10) % 2)
    np.testing.assert_array_equal(PSCN(epochs=150).fit(graphs, y).predict(graphs), y)


def test_edges_alone_can_be_learned():
    """Equal features on every node: only the shape of fields and their number differ."""
    graphs = [(a, np.ones((len(a), 1))) for n in range(3, 9) for a in (path(2 * n), np.kron(np.eye(n), path(2)))]
    y = np.arange(len(graphs)) % 2
    np.testing.assert_array_equal(PSCN(epochs=150).fit(graphs, y).predict(graphs), y)


def test_the_seed_decides_and_is_local(rng):
    graphs, y = zoo(rng, 10)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    one, same, other = (PSCN(epochs=2, seed=seed).fit(graphs, y) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    weights = [next(model.module_.parameters()) for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_bad_calls(rng):
    graphs, _ = zoo(rng, 4)
    with pytest.raises(ValueError, match="4 graphs and labels of shape"):
        PSCN().fit(graphs, [0, 1])
    with pytest.raises(ValueError, match="not fitted"):
        PSCN().predict(graphs)
