import json

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.block_kind import BlockOptions
from graph_metric_learn.features.edge_sums import Around, EdgeSums, edge_sums
from graph_metric_learn.graphs import as_graphs


def weighted(rng, n):
    upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.7), 1)
    return upper + upper.T


def by_hand(matrices):
    """Log-degree, sums and means of standardised weights and of their squares, then standardised over nodes."""
    everything = np.concatenate([w[w != 0] for w in matrices])
    rows = []
    for w in matrices:
        for row in w:
            z = (row[row != 0] - everything.mean()) / everything.std()
            both = [z.sum(), (z**2).sum()]
            rows.append([np.log1p(len(z)), *both, *(np.array(both) / max(len(z), 1))])
    rows = np.array(rows)
    spread = rows.std(0)
    return (rows - rows.mean(0)) / np.where(spread < 1e-9, np.inf, spread)


def test_sums_of_weights_and_squares_by_hand(rng):
    matrices = [weighted(rng, n) for n in (5, 1, 8)]
    graphs = as_graphs([(w, None) for w in matrices])
    sums = EdgeSums().fit(graphs)
    assert sums.width == 5
    np.testing.assert_allclose(sums.transform(graphs), by_hand(matrices), atol=1e-5)


def test_an_offset_of_the_weights_costs_nothing(rng):
    matrices = [w + 1e8 * (w != 0) for w in (weighted(rng, n) for n in (6, 7))]
    graphs = as_graphs([(w, None) for w in matrices])
    plain = as_graphs([(np.where(w != 0, w - 1e8, 0.0), None) for w in matrices])
    found, wanted = (EdgeSums().fit(given).transform(given) for given in (graphs, plain))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_labels_and_vectors_are_summed_and_directions_stay_apart():
    edges = torch.tensor([[0, 1, 0], [1, 2, 2]])
    data = Data(edge_index=edges, edge_type=torch.tensor([0, 1, 1]), edge_attr=torch.tensor([[1.0], [2.0], [6.0]]))
    data.num_nodes = 3
    graphs = as_graphs([data], directed=True)
    sums = EdgeSums().fit(graphs)
    assert sums.width == 2 * (1 + 2 * 3)  # each way: log-degree, sums and means of two labels and a number
    found = sums.transform(graphs)
    leaving, arriving = found[:, 1], found[:, 8]  # sums of label 0: only the arc 0 -> 1
    np.testing.assert_allclose(leaving, np.array([2, -1, -1]) / np.sqrt(2), atol=1e-6)
    np.testing.assert_allclose(arriving, np.array([-1, 2, -1]) / np.sqrt(2), atol=1e-6)


def test_new_graphs_go_through_the_fitted_rule(rng):
    graphs = as_graphs([(weighted(rng, n), None) for n in (5, 6)])
    sums = EdgeSums().fit(graphs)
    np.testing.assert_array_equal(sums.transform(graphs[1:]), sums.transform(graphs)[5:])
    ones = as_graphs([(1.0 - np.eye(4), None)])  # weights that are all 1 are not kept, and count as 1
    twice = as_graphs([(1.0 - np.eye(4), None), (2.0 - 2 * np.eye(3), None)])
    np.testing.assert_array_equal(sums.transform(ones), sums.transform(twice)[:4])


def test_renumbering_changes_nothing(rng):
    matrix = weighted(rng, 9)
    order = rng.permutation(9)
    one, other = (as_graphs([(w, None)]) for w in (matrix, matrix[np.ix_(order, order)]))
    sums = EdgeSums().fit(one)
    np.testing.assert_allclose(sums.transform(other), sums.transform(one)[order], rtol=1e-6, atol=1e-6)


def test_state_goes_through_json(rng):
    graphs = as_graphs([(weighted(rng, n), None) for n in (5, 6)])
    sums = EdgeSums().fit(graphs)
    again = EdgeSums.from_state(json.loads(json.dumps(sums.state())))
    np.testing.assert_array_equal(again.transform(graphs), sums.transform(graphs))


def test_nothing_to_sum_and_too_many_labels(rng):
    with pytest.raises(ValueError, match="nothing to sum"):
        EdgeSums().fit(as_graphs([(1.0 - np.eye(4), None)]))
    edges = torch.combinations(torch.arange(13)).T
    data = Data(edge_index=torch.cat([edges, edges.flip(0)], 1), edge_type=torch.arange(78).repeat(2), num_nodes=13)
    with pytest.warns(UserWarning, match="more than 64 different labels"):
        assert EdgeSums().fit(as_graphs([data])).width == 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_sums_are_those_of_each_nodes_edges(directed, parallel, rng):
    graphs = as_graphs([edge_graph(s, directed=directed, parallel=parallel) for s in range(8)], **NAMES)
    data = graphs.edge_data
    values = rng.normal(size=(data.ends.shape[1], 3))
    found = edge_sums(graphs, values)
    for node in range(int(graphs.sizes.sum())):
        wanted = []
        for ends in data.ends if directed else data.ends[:1]:
            own = values[ends == node]
            wanted += [np.log1p(len(own)), *own.sum(0), *(own.mean(0) if len(own) else np.zeros(3))]
        np.testing.assert_allclose(found[node], wanted, atol=1e-5)


def test_what_it_needs():
    weighted = as_graphs([edge_graph(0, labels=False, vectors=False)], label="element")
    assert Around.lacks(weighted) == "labels, vectors or directions of edges"
    assert Around.lacks(as_graphs([edge_graph(0)], **NAMES)) is None
    fitted = Around(BlockOptions()).fit(as_graphs([edge_graph(0)], **NAMES), None)
    with pytest.raises(ValueError, match="edges carry nothing"):
        fitted.start(weighted.without_edge_data())
