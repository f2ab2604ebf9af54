import networkx as nx
import numpy as np
import pytest

from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.features.edge_cloud import cloud_edges, edge_rows
from graph_metric_learn.graphs import as_graphs


@pytest.mark.parametrize("directed", [False, True])
def test_every_edge_is_a_point_once_and_a_graph_without_edges_has_one(directed):
    lonely = nx.DiGraph() if directed else nx.Graph()
    lonely.add_node(0, element="C")
    drawn = [edge_graph(seed, directed=directed) for seed in (1, 2)]
    graphs = as_graphs([drawn[0], lonely, drawn[1]], **NAMES)
    rows, sizes = edge_rows(graphs)
    assert sizes.tolist() == [drawn[0].number_of_edges(), 1, drawn[1].number_of_edges()]
    assert np.flatnonzero(rows < 0).tolist() == [drawn[0].number_of_edges()]
    ends = cloud_edges(graphs, rows)
    assert ends[1].tolist() == [[-1], [-1]]
    place = {node: i for i, node in enumerate(drawn[1])}
    wanted = [(place[u], place[v]) for u, v in drawn[1].edges]
    assert sorted(map(tuple, ends[2].T.tolist())) == sorted(e if directed else tuple(sorted(e)) for e in wanted)


def test_ends_are_means_and_differences_of_the_two_nodes():
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: [0.0], 1: [1.0], 2: [5.0]}, "x")
    nx.set_edge_attributes(path, {(0, 1): 1.0, (1, 2): 2.0}, "weight")
    graphs = as_graphs([path])
    (ends,) = NodeBlocks().fit(graphs, ["ends@0"])._raw(graphs)
    x = (np.array([0.0, 1.0, 5.0]) - 2) / np.std([0.0, 1.0, 5.0])
    np.testing.assert_allclose(ends[:, 0], [(x[0] + x[1]) / 2, (x[1] + x[2]) / 2], rtol=1e-5)
    width = ends.shape[1] // 2
    np.testing.assert_allclose(ends[:, width], [abs(x[0] - x[1]), abs(x[1] - x[2])], rtol=1e-5)


def test_with_directions_tail_and_head_stand_apart():
    arc = nx.DiGraph([(0, 1)])
    nx.set_node_attributes(arc, {0: [0.0], 1: [1.0]}, "x")
    graphs = as_graphs([arc])
    (ends,) = NodeBlocks().fit(graphs, ["ends@0"])._raw(graphs)
    width = ends.shape[1] // 2
    assert ends[0, 0] == pytest.approx(-1)
    assert ends[0, width] == pytest.approx(1)


def test_blocks_of_edges_are_scaled_over_edges_and_the_missing_one_is_their_mean():
    lonely = nx.Graph()
    lonely.add_node(0, element="C")
    graphs = as_graphs([*(edge_graph(seed) for seed in range(6)), lonely], **NAMES)
    fitted = NodeBlocks().fit(graphs, ["edge@0", "ends@1"])
    own, ends = fitted.transform(graphs)
    assert len(own) == len(ends) == fitted.sizes(graphs)["edges"].sum()
    np.testing.assert_array_equal(own[-1], 0)
    np.testing.assert_allclose(own[:-1].mean(0), 0, atol=1e-5)
    again = NodeBlocks.from_state(*fitted.state())
    for one, two in zip(fitted.transform(graphs), again.transform(graphs), strict=True):
        np.testing.assert_array_equal(one, two)
