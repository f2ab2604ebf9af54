import networkx as nx
import numpy as np
import pytest

from edge_graphs import edge_graph
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.features.tree_hashes import code_vectors, wl_hashes
from graph_metric_learn.graphs import as_graphs
from graph_zoo import as_networkx, zoo


def obvious_labels(graph, labels, levels):
    """Weisfeiler-Lehman with tuples in place of hashes."""
    names = [{node: (labels[node],) for node in graph}]
    for _ in range(levels):
        old = names[-1]
        names.append({node: (old[node], tuple(sorted(old[other] for other in graph[node]))) for node in graph})
    return names


def same_partition(a, b):
    pairs = set(zip(a, b, strict=True))
    return len(pairs) == len(set(a)) == len(set(b))


def test_names_partition_the_nodes_as_weisfeiler_lehman_does():
    rng = np.random.default_rng(0)
    graphs = [nx.gnp_random_graph(int(n), 0.25, seed=int(n)) for n in rng.integers(4, 12, 8)]
    for graph in graphs:
        nx.set_node_attributes(graph, {node: int(rng.integers(2)) for node in graph}, "kind")
    given = as_graphs(graphs, label="kind")
    names = wl_hashes(given, 3)
    for level in range(4):
        wanted = []
        for graph in graphs:
            labels = nx.get_node_attributes(graph, "kind")
            wanted += [obvious_labels(graph, labels, 3)[level][node] for node in graph]
        assert same_partition(names[level].tolist(), wanted)


def test_names_do_not_depend_on_other_graphs_or_the_numbering():
    pairs, _ = zoo(np.random.default_rng(0), 4)
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in as_networkx(pairs)]
    alone = wl_hashes(as_graphs(graphs[:1]), 2)
    together = wl_hashes(as_graphs(graphs), 2)
    np.testing.assert_array_equal(alone, together[:, : alone.shape[1]])
    order = np.random.default_rng(1).permutation(len(graphs[0]))
    relabelled = nx.empty_graph(len(graphs[0]))
    relabelled.add_edges_from((int(order[a]), int(order[b])) for a, b in graphs[0].edges)
    np.testing.assert_array_equal(wl_hashes(as_graphs([relabelled]), 2)[:, order], alone)


def test_labels_may_be_strings_and_several():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "N", 2: "C"}, "element")
    names = wl_hashes(as_graphs([graph], label="element"), 1)
    assert names[0, 0] == names[0, 2] != names[0, 1]
    assert names[1, 0] == names[1, 2]


def test_a_lonely_node_is_not_like_one_with_neighbours():
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    nx.set_node_attributes(graph, dict.fromkeys(graph, 0), "kind")
    names = wl_hashes(as_graphs([graph], label="kind"), 1)
    assert len(set(names[0].tolist())) == 1
    assert names[1, 0] == names[1, 1] != names[1, 2]


def test_codes_are_unit_vectors_nearly_orthogonal_and_depend_on_the_name_alone():
    names = np.random.default_rng(0).integers(0, 2**63, 400).astype(np.uint64)
    codes = code_vectors(names, 100)
    assert codes.shape == (400, 100)
    gram = codes @ codes.T
    np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-5)
    off = gram[~np.eye(400, dtype=bool)]
    assert abs(off.mean()) < 0.01
    assert 0.08 < off.std() < 0.12  # 1 / sqrt(100)
    np.testing.assert_array_equal(code_vectors(names[5:6], 100)[0], codes[5])


def tree(graph, node, depth):
    """The tree around a node, written out: labels of nodes and edges, out- and in-neighbours apart."""
    label = graph.nodes[node]["element"]
    if depth == 0:
        return (label,)
    below = []
    if graph.is_directed():
        below += [("out", d["kind"], tree(graph, v, depth - 1)) for _, v, d in graph.out_edges(node, data=True)]
        below += [("in", d["kind"], tree(graph, u, depth - 1)) for u, _, d in graph.in_edges(node, data=True)]
    else:
        below += [("", d["kind"], tree(graph, v, depth - 1)) for _, v, d in graph.edges(node, data=True)]
    return (tree(graph, node, depth - 1), tuple(sorted(map(str, below))))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_equal_trees_with_edges_have_equal_names_and_others_not(directed, parallel):
    drawn = [edge_graph(seed, directed=directed, parallel=parallel) for seed in range(40)]
    graphs = as_graphs(drawn, label="element", edge_label="kind", edge_weight=None)
    names = wl_hashes(graphs, 2)
    for depth in range(3):
        written = [tree(graph, node, depth) for graph in drawn for node in graph]
        pairs = set(zip(map(str, written), names[depth].tolist(), strict=True))
        assert len(pairs) == len(set(map(str, written))) == len(set(names[depth].tolist()))


def test_directions_alone_tell_trees_apart():
    cycle, transitive = nx.DiGraph([(0, 1), (1, 2), (2, 0)]), nx.DiGraph([(0, 1), (1, 2), (0, 2)])
    one, two = (wl_hashes(as_graphs([graph]), 1)[1] for graph in (cycle, transitive))
    assert len(np.unique(one)) == 1
    assert len(np.unique(two)) == 3


def test_names_as_a_column_tell_trees_and_their_depths_apart():
    """Also those of lonely nodes, whose trees of all depths are the same node."""
    lonely = nx.path_graph(3)
    lonely.add_node(3)
    graphs = as_graphs([lonely, nx.star_graph(4)])
    hashes = wl_hashes(graphs, 2)
    assert hashes[0, 3] == hashes[2, 3]
    blocks = NodeBlocks().fit(graphs, ["trees@0", "trees@1", "trees@2"]).transform(graphs)
    for level, column in enumerate(blocks):
        assert column.shape == (9, 1)
        assert column.dtype == np.uint64
        assert same_partition(column[:, 0].tolist(), hashes[level].tolist())
    together = set(np.concatenate(blocks, axis=1).ravel().tolist())
    assert len(together) == sum(len(np.unique(column)) for column in blocks)
