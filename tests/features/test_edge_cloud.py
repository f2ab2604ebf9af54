import networkx as nx
import numpy as np
import pytest

from edge_graphs import NAMES, edge_graph
from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.features.blocks import BlocksState, NodeBlocks
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


def edge_tree(graph, edge, *, depth):
    """An edge with its label and the trees at its ends, written out; without directions in either order."""
    tail, head, data = edge
    kinds = [graph.nodes[node]["element"] for node in (tail, head)]
    if depth:
        ends = []
        for kind, node in zip(kinds, (tail, head), strict=True):
            sides = [graph.out_edges, graph.in_edges] if graph.is_directed() else [graph.edges]
            around = [
                sorted((d["kind"], graph.nodes[v if v != node else u]["element"]) for u, v, d in side(node, data=True))
                for side in sides
            ]
            ends.append(str((kind, around)))
        kinds = ends
    return str((data["kind"], kinds if graph.is_directed() else sorted(kinds)))


@pytest.mark.parametrize("directed", [False, True])
def test_equal_edges_have_equal_names_and_others_not(directed):
    lonely = nx.DiGraph() if directed else nx.Graph()
    lonely.add_node(0, element="C")
    drawn = [*(edge_graph(seed, directed=directed) for seed in range(20)), lonely]
    graphs = as_graphs(drawn, **NAMES)
    names = NodeBlocks().fit(graphs, ["edge_trees@0", "edge_trees@1"]).transform(graphs)
    ends, every = cloud_edges(graphs, edge_rows(graphs)[0]), [list(graph) for graph in drawn]
    for depth, found in enumerate(names):
        assert found.shape == (edge_rows(graphs)[1].sum(), 1)
        assert found.dtype == np.uint64
        written = []
        for graph, nodes, pairs in zip(drawn, every, ends, strict=True):
            for u, v in pairs.T.tolist():
                edge = None if u < 0 else (nodes[u], nodes[v], graph.edges[nodes[u], nodes[v]])
                written.append("none" if edge is None else edge_tree(graph, edge, depth=depth))
        both = set(zip(written, found[:, 0].tolist(), strict=True))
        assert len(both) == len(set(written)) == len(set(found[:, 0].tolist()))
    assert not set(names[0][:, 0].tolist()) & set(names[1][:, 0].tolist())


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
    again = NodeBlocks.of(read(BlocksState, join(*split(fitted.saved()))))
    for one, two in zip(fitted.transform(graphs), again.transform(graphs), strict=True):
        np.testing.assert_array_equal(one, two)


def test_graphs_of_which_none_has_an_edge():
    lonely = as_graphs([nx.empty_graph(1), nx.empty_graph(2)])
    rows, sizes = edge_rows(lonely)
    assert sizes.tolist() == [1, 1]
    assert [ends.tolist() for ends in cloud_edges(lonely, rows)] == [[[-1], [-1]]] * 2
