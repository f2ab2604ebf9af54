from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines.network_inputs import EdgeInputs, NetworkInput
from small_graphs import path, random_graphs, star

CPU = torch.device("cpu")


def test_a_batch_holds_the_chosen_graphs_one_after_the_other():
    graphs = as_graphs([(path(3), np.arange(3.0)[:, None]), (star(1), np.array([[5.0], [6.0]])), (path(1), [[9.0]])])
    batch = NetworkInput.of(graphs, None, CPU).batch(np.array([2, 0]))
    assert batch.x[:, 0].tolist() == [9, 0, 1, 2]
    assert batch.owner.tolist() == [0, 1, 1, 1]
    assert sorted(batch.arcs.T.tolist()) == [[1, 2], [2, 1], [2, 3], [3, 2]]
    assert batch.n_graphs == 2
    assert batch.edge_x is None


def test_batches_cover_all_graphs_once(rng):
    data = NetworkInput.of(as_graphs(random_graphs(rng, 11)), None, CPU)
    assert [batch.n_graphs for batch in data.batches(np.arange(11), 4)] == [4, 4, 3]
    found = list(data.shuffled(np.arange(3, 11), 3, np.random.default_rng(0)))
    assert sorted(torch.cat([which for which, _ in found]).tolist()) == list(range(3, 11))
    for which, batch in found:
        torch.testing.assert_close(batch.x, data.batch(which.numpy()).x)
    again = list(data.shuffled(np.arange(3, 11), 3, np.random.default_rng(1)))
    assert [which.tolist() for which, _ in again] != [which.tolist() for which, _ in found]


def coloured(colours, kind=nx.Graph):
    """A path whose edges have these labels."""
    graph = kind()
    for i, colour in enumerate(colours):
        graph.add_edge(i, i + 1, colour=colour)
    return graph


def arcs_of(graphs, **options):
    given = as_graphs(graphs, edge_label="colour", **options)
    return EdgeInputs().fit(given), given


def test_labels_of_edges_are_one_hot_both_ways():
    inputs, graphs = arcs_of([coloured("rg"), coloured("g")])
    arcs, features = inputs.arcs(graphs)
    found = {tuple(ends): row for ends, row in zip(arcs.T.tolist(), features.tolist(), strict=True)}
    g, r = [1.0, 0.0], [0.0, 1.0]
    assert found == {(0, 1): r, (1, 0): r, (1, 2): g, (2, 1): g, (3, 4): g, (4, 3): g}
    data = NetworkInput.of(inputs_with_x(graphs), inputs, CPU)
    assert data.edge_width == 2
    batch = data.batch(np.array([1]))
    assert batch.arcs.tolist() == [[0, 1], [1, 0]]
    assert batch.edge_x.tolist() == [g, g]


def inputs_with_x(graphs):
    return replace(graphs, x=np.zeros((int(graphs.sizes.sum()), 1), dtype=np.float32))


def test_directed_edges_carry_messages_both_ways_and_say_which():
    inputs, graphs = arcs_of([coloured("rr", nx.DiGraph), coloured("r", nx.DiGraph)], directed=True)
    arcs, features = inputs.arcs(graphs)
    found = {tuple(ends): row[-1] for ends, row in zip(arcs.T.tolist(), features.tolist(), strict=True)}
    assert found == {(0, 1): 1, (1, 0): 0, (1, 2): 1, (2, 1): 0, (3, 4): 1, (4, 3): 0}
    assert (np.diff(graphs.owner[arcs[0]]) >= 0).all()


def test_edges_without_data_have_a_one():
    graphs = as_graphs([(path(3), None)])
    arcs, features = EdgeInputs().fit(graphs).arcs(graphs)
    assert features.tolist() == [[1.0]] * 4
    np.testing.assert_array_equal(arcs, graphs.edges)


def test_labels_that_were_not_seen_are_zeros_and_other_data_is_refused():
    inputs, _ = arcs_of([coloured("rg")])
    new = as_graphs([coloured("b")], edge_label="colour")
    assert inputs.arcs(new)[1].tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="edges carry 0 labels, those that were fitted 1"):
        inputs.arcs(as_graphs([(path(2), None)]))
