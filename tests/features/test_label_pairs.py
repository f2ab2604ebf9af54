from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_graphs import edge_graph
from graph_metric_learn._core.ragged import offsets
from graph_metric_learn.features import label_pairs
from graph_metric_learn.features.label_pairs import count_pairs, pair_rows
from graph_metric_learn.features.tree_hashes import hashed_rows
from graph_metric_learn.graphs import as_graphs

FAR = 50  # farther than any path here


def labelled(seed, largest=14):
    """A random graph with a kind of each node, often in pieces, at times a single node."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest))
    graph = nx.gnp_random_graph(n, float(rng.choice([0.1, 0.2, 0.5])), seed=seed)
    nx.set_node_attributes(graph, {node: int(rng.integers(3)) for node in graph}, "kind")
    return graph


def read(graphs):
    """The same as `Graphs`, and names of nodes."""
    given = as_graphs(graphs, label="kind")
    return given, hashed_rows(given.labels)


def written_pairs(graph, reach, kind="kind"):
    """Kinds of both nodes and the length of the path, by pair of nodes."""
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    return {
        (u, v): (*sorted([graph.nodes[u][kind], graph.nodes[v][kind]]), lengths[u][v])
        for u in graph
        for v in graph
        if u < v and lengths[u].get(v, reach + 1) <= reach
    }


def with_bonds(graph, pairs):
    """The same with what is between nodes that are near: kinds of edges, each in both directions apart."""

    def bond(u, v):
        there, back = (
            sorted(d["kind"] for _, w, d in graph.edges(a, data=True) if w == b) for a, b in ((u, v), (v, u))
        )
        return tuple(map(tuple, sorted([there, back])))

    flat = nx.Graph(graph)
    found = {}
    for (u, v), key in pairs.items():
        between = ()
        if key[-1] == 1:
            between = bond(u, v)
        elif key[-1] == 2:
            middles = nx.common_neighbors(flat, u, v)
            between = sorted((sorted([bond(u, m), bond(m, v)]), graph.nodes[m]["element"]) for m in middles)
        found[u, v] = (*key, str(between))
    return found


def assert_same_names(names, keys):
    """Equal where, and only where, the keys are."""
    pairs = set(zip(names, keys, strict=True))
    assert len(pairs) == len(set(names)) == len(set(keys))


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_pairs_are_those_of_networkx(seed, reach):
    drawn = [labelled(seed + i) for i in range(4)]
    graphs, names = read(drawn)
    found, wanted = [], []
    for i, graph in enumerate(drawn):
        own = names[graphs.offsets[i] : graphs.offsets[i + 1]]
        u, v, name = pair_rows(graphs[i], own, reach)
        keys = written_pairs(graph, reach)
        assert list(zip(u.tolist(), v.tolist(), strict=True)) == list(keys)
        found += name.tolist()
        wanted += keys.values()
    assert_same_names(found, wanted)


@given(st.integers(0, 10_000), st.booleans())
def test_counts_are_those_of_a_counter(seed, with_edges):
    """Of many graphs, with threads and without."""
    graphs, names = read([labelled(seed + i) for i in range(200 if seed % 10 == 0 else 5)])
    edge_names = np.random.default_rng(seed).integers(0, 2, graphs.edges.shape[1]).astype(np.uint64)
    edge_names = edge_names if with_edges else None
    graph, name, count = count_pairs(graphs, names, 3, edge_names)
    wanted = {}
    ends = offsets(np.bincount(graphs.owner[graphs.edges[0]], minlength=len(graphs)))
    for i in range(len(graphs)):
        edges = None if edge_names is None else edge_names[ends[i] : ends[i + 1]]
        rows = pair_rows(graphs[i], names[graphs.offsets[i] : graphs.offsets[i + 1]], 3, edges)
        wanted |= {(i, word): times for word, times in Counter(rows[2].tolist()).items()}
    keys = list(zip(graph.tolist(), name.tolist(), strict=True))
    assert dict(zip(keys, count.tolist(), strict=True)) == wanted
    assert keys == sorted(keys)
    assert (graph.dtype, name.dtype, count.dtype) == (np.int64, np.uint64, np.int64)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_numbering_does_not_matter(seed, most):
    """Nor where the reach is cut."""
    graph = labelled(seed, largest=30)
    order = np.random.default_rng(seed).permutation(len(graph))
    other = nx.relabel_nodes(graph, dict(enumerate(order.tolist())))
    for limit in (label_pairs.MOST_PAIRS, most * 10):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(label_pairs, "MOST_PAIRS", limit)
            one, two = (count_pairs(*read([g]))[1:] for g in (graph, other))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_edges_and_paths_of_two_edges_have_names_of_their_own(directed, parallel):
    drawn = [edge_graph(seed, directed=directed, parallel=parallel) for seed in range(60)]
    graphs = as_graphs(drawn, label="element", edge_label="kind", edge_weight=None, directed=directed)
    names, edge_names = hashed_rows(graphs.labels), hashed_rows(graphs.edge_data.labels)
    ends = graphs.edge_data.starts(graphs.sizes)
    found, wanted = [], []
    for i, graph in enumerate(drawn):
        rows = slice(graphs.offsets[i], graphs.offsets[i + 1])
        u, v, name = pair_rows(graphs[i], names[rows], FAR, edge_names[ends[i] : ends[i + 1]])
        keys = with_bonds(graph, written_pairs(nx.Graph(graph), FAR, "element"))
        assert set(zip(u.tolist(), v.tolist(), strict=True)) == set(keys)
        found += name.tolist()
        wanted += [keys[pair] for pair in zip(u.tolist(), v.tolist(), strict=True)]
    assert_same_names(found, wanted)


def test_names_of_edges_change_nothing_beyond_two():
    graphs = as_graphs([nx.path_graph(5)])
    names, edge_names = np.zeros(5, np.uint64), np.ones(8, np.uint64)
    u, v, without = pair_rows(graphs, names)
    name = pair_rows(graphs, names, edge_names=edge_names)[2]
    np.testing.assert_array_equal(name == without, v - u > 2)


def test_the_order_of_edges_does_not_matter():
    graphs, names = read([labelled(3), labelled(4)])
    turned = type(graphs)(graphs.sizes, graphs.edges[:, ::-1])
    edge_names = np.random.default_rng(0).integers(0, 2, graphs.edges.shape[1]).astype(np.uint64)
    one, two = count_pairs(graphs, names, 4, edge_names), count_pairs(turned, names, 4, edge_names[::-1])
    for part, same in zip(one, two, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize(("most", "reach"), [(100, 10), (45, 10), (44, 8), (24, 3), (10, 1), (9, 1), (8, 0)])
def test_a_graph_with_too_many_pairs_has_a_smaller_reach(monkeypatch, most, reach):
    """A path of 10 nodes has 10 - l pairs at length l; the graphs beside it keep theirs."""
    monkeypatch.setattr(label_pairs, "MOST_PAIRS", most)
    graphs = as_graphs([nx.path_graph(3), nx.path_graph(10), nx.path_graph(4)])
    graph, _, count = count_pairs(graphs, np.zeros(17, np.uint64), 10)
    wanted = [10 - length for length in range(1, min(reach, 9) + 1)]
    assert sorted(count[graph == 1].tolist(), reverse=True) == wanted
    assert count[graph == 0].sum() == 3
    assert count[graph == 2].sum() == 6
    assert len(pair_rows(graphs[1], np.zeros(10, np.uint64), 10)[2]) == sum(wanted)


def test_a_large_graph_is_cut():
    """A star of 3,000 leaves has 3,000 edges, and 4,498,500 pairs of leaves."""
    assert label_pairs.MOST_PAIRS == 2_000_000
    _, _, count = count_pairs(as_graphs([nx.star_graph(3000)]), np.zeros(3001, np.uint64))
    assert count.tolist() == [3000]


def test_nothing_is_counted_where_there_is_no_pair():
    lonely = as_graphs([nx.empty_graph(1), nx.empty_graph(3)])
    for graphs in (lonely, lonely[:0]):
        assert [len(part) for part in count_pairs(graphs, np.zeros(len(graphs.owner), np.uint64))] == [0, 0, 0]


def test_names_do_not_depend_on_the_reach_or_other_graphs():
    graphs, names = read([labelled(seed) for seed in range(6)])
    near, far = (set(pair_rows(graphs[5], names[graphs.offsets[5] :], reach)[2].tolist()) for reach in (2, 9))
    graph, name, _ = count_pairs(graphs, names, 9)
    assert near < far == set(name[graph == 5].tolist())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"names": np.zeros(2, np.uint64)}, r"names must be an array of uint64 \[3\].*uint64 \[2\]"),
        ({"names": np.zeros(3)}, "names must be an array of uint64.*float64"),
        ({"names": [0, 0, 0]}, "got list"),
        ({"edge_names": np.zeros(3, np.uint64)}, r"edge_names must be an array of uint64 \[4\], one for each of the"),
        ({"reach": 0}, "reach must be a whole number of at least 1, got 0"),
        ({"reach": 1.5}, "got 1.5"),
    ],
)
def test_bad_input_is_refused(changed, message):
    given = {"names": np.zeros(3, np.uint64), "reach": 2} | changed
    with pytest.raises(ValueError, match=message):
        count_pairs(as_graphs([nx.path_graph(3)]), **given)


def test_rows_are_of_one_graph():
    with pytest.raises(ValueError, match="expected one graph, got 2"):
        pair_rows(as_graphs([nx.path_graph(3)] * 2), np.zeros(6, np.uint64))
