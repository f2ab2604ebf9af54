import itertools
import time
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_graphs import edge_graph, renumbered_networkx
from graph_metric_learn.datasets import EditCosts, edit_bounds
from graph_metric_learn.datasets.edit_bounds import bounds, edit_distance
from graph_metric_learn.datasets.edit_costs import edit_graphs
from graph_metric_learn.graphs import as_graphs

COSTS = [
    EditCosts(),
    EditCosts(node=2.0, edge=0.5, node_label=3.0, edge_label=0.7, edge_vector=0.4, edge_weight=0.3),
    EditCosts(node=0.3, edge=1.7, node_label=5.0, edge_label=0.0, edge_vector=0.0, edge_weight=9.0),
]


def assignments(rows, columns):
    """All partial one-to-one maps, as lists of pairs."""
    for k in range(min(rows, columns) + 1):
        for chosen in itertools.combinations(range(rows), k):
            for images in itertools.permutations(range(columns), k):
                yield list(zip(chosen, images, strict=True))


def obvious_distance(graph, other, costs):
    """The least over all maps of nodes; for each, the least over all assignments of edges that join the same nodes."""
    best, of_nodes, of_edges = np.inf, costs.nodes(graph, other), costs.edges(graph, other)
    for pairs in assignments(graph.n, other.n):
        cost = sum(of_nodes[pair] for pair in pairs) + costs.node * (graph.n + other.n - 2 * len(pairs))
        for own, its in edges_by_ends(graph, other, dict(pairs)):
            cost += min(
                sum(of_edges[own[i], its[j]] for i, j in kept) + costs.edge * (len(own) + len(its) - 2 * len(kept))
                for kept in assignments(len(own), len(its))
            )
        best = min(best, cost)
    return best


def edges_by_ends(graph, other, image):
    """Edges of two graphs that join the same nodes, those of the first renamed."""
    join, parts = tuple if graph.directed else frozenset, {}
    for i, ends in enumerate(graph.ends.T.tolist()):
        parts.setdefault(join(image.get(a, f"deleted {a}") for a in ends), ([], []))[0].append(i)
    for j, ends in enumerate(other.ends.T.tolist()):
        parts.setdefault(join(ends), ([], []))[1].append(j)
    return parts.values()


def tiny_pair(seed, directed, parallel, numbers):
    """Two random graphs of at most four nodes and six edges."""
    given = []
    for graph in (edge_graph(2 * seed + i, directed=directed, parallel=parallel) for i in range(2)):
        small = graph.subgraph(list(graph)[:4]).copy()
        small.remove_edges_from(list(small.edges)[6:])
        given.append(small)
    with_edges = any(graph.number_of_edges() for graph in given)
    names = {"label": "element"} | ({"edge_label": "kind"} if with_edges else {})
    names |= {"edge_attribute": "v"} if with_edges and numbers else {"edge_weight": None}
    return list(edit_graphs(as_graphs(given, **names, directed=directed)))


@pytest.mark.parametrize("costs", COSTS, ids=["unit", "other", "odd"])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), numbers=st.booleans())
def test_the_distance_is_the_least_of_all_maps(directed, parallel, costs, seed, numbers):
    graph, other = tiny_pair(seed, directed, parallel, numbers)
    wanted = obvious_distance(graph, other, costs)
    lower, upper = bounds(graph, other, costs)
    assert lower - 1e-9 <= wanted <= upper + 1e-9
    assert edit_distance(graph, other, costs, 60.0) == pytest.approx((wanted, wanted))
    assert edit_distance(other, graph, costs, 60.0) == pytest.approx((wanted, wanted))
    searched = edit_bounds._searched(graph, other, costs, 0.0, upper + 9.0, 60.0)  # without the help of bounds
    assert searched == pytest.approx((wanted, wanted))


def larger(seed, n=14):
    """Two random trees with labels of three kinds, too large to be exact in no time."""
    graphs = [nx.random_labeled_tree(n, seed=seed + i) for i in range(2)]
    rng = np.random.default_rng(seed)
    for graph in graphs:
        nx.set_node_attributes(graph, {node: int(rng.integers(3)) for node in graph}, "label")
    return list(edit_graphs(as_graphs(graphs)))


@pytest.mark.parametrize("directed", [False, True])
@given(seed=st.integers(0, 10_000))
def test_a_renumbered_graph_is_at_no_distance(directed, seed):
    """Bounds meet where they can be seen to; networkx finds the rest."""
    graph = edge_graph(seed, directed=directed)
    given = [graph, renumbered_networkx(graph, seed)]
    names = {"label": "element"} | ({"edge_label": "kind", "edge_attribute": "v"} if graph.number_of_edges() else {})
    assert edit_distance(*edit_graphs(as_graphs(given, **names, directed=directed)), EditCosts(), 60.0) == (0.0, 0.0)


def test_bounds_that_meet_need_no_search(monkeypatch):
    def searched(*_):
        raise AssertionError("networkx was asked")

    monkeypatch.setattr(edit_bounds, "_searched", searched)
    plain = list(edit_graphs(as_graphs([nx.path_graph(9), nx.path_graph(7), nx.star_graph(6)])))
    assert edit_distance(plain[0], plain[1], EditCosts(), 60.0) == (4.0, 4.0)
    assert edit_distance(*larger(0), EditCosts(node=0.0, edge=0.0), 60.0) == (0.0, 0.0)
    lower, upper = edit_distance(*larger(0), EditCosts(), 0.0)  # without time there are only bounds
    assert lower < upper
    with pytest.raises(AssertionError, match="networkx was asked"):
        edit_distance(*larger(0), EditCosts(), 1.0)


def test_a_search_ends_in_time_and_only_improves():
    graph, other = larger(1, n=40)
    lower, upper = bounds(graph, other, EditCosts())
    start = time.perf_counter()
    found = edit_distance(graph, other, EditCosts(), 0.5)
    assert time.perf_counter() - start < 20
    assert lower <= found[0] < found[1] <= upper


def test_an_interrupted_search_is_not_taken_for_exact(monkeypatch):
    """Whatever networkx says after its time is an upper bound."""
    graph, other = larger(2)
    lower, upper = bounds(graph, other, EditCosts())
    clock = iter([0.0, 5.0])
    monkeypatch.setattr(edit_bounds.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(nx, "optimize_edit_paths", lambda *_, **options: iter([([], [], upper - 0.5)]))
    assert edit_distance(graph, other, EditCosts(), 4.0) == (lower, upper - 0.5)
    clock = iter([0.0, 3.0])
    assert edit_distance(graph, other, EditCosts(), 4.0) == (upper - 0.5, upper - 0.5)


def test_exchanges_bring_the_upper_bound_down(monkeypatch):
    pairs = [larger(seed) for seed in range(10)]
    found = np.array([bounds(*pair, EditCosts())[1] for pair in pairs])
    monkeypatch.setattr(edit_bounds, "_WORK", 0)
    alone = np.array([bounds(*pair, EditCosts())[1] for pair in pairs])
    assert (found <= alone).all()
    assert found.mean() < 0.75 * alone.mean()


def test_exchanges_delete_as_many_nodes_as_it_takes():
    """Three nodes that cost less to replace than to relabel: from any start, all of them are deleted."""
    graph, other = edit_graphs(as_graphs([nx.empty_graph(3), nx.empty_graph(3)]))
    other = replace(other, labels=other.labels + 1)
    costs = EditCosts(node=1.0, node_label=5.0)
    assert edit_bounds._exchanged(edit_bounds.PathCost(graph, other, costs), np.arange(3)) == 6.0


def test_whole_costs_make_whole_bounds(monkeypatch):
    names = {"label": "element", "edge_label": "kind", "edge_weight": None}
    graphs = [edge_graph(seed, vectors=False) for seed in range(20)]
    read = list(edit_graphs(as_graphs(graphs, **names)))
    pairs = list(itertools.pairwise(read))
    found = np.array([bounds(*pair, EditCosts()) for pair in pairs])
    monkeypatch.setattr(EditCosts, "step", lambda *_: 0.0)
    halves = np.array([bounds(*pair, EditCosts()) for pair in pairs])
    assert (halves % 1 == 0.5).any()
    np.testing.assert_array_equal(found, np.ceil(halves))


def test_huge_graphs_get_bounds():
    trees = [nx.random_labeled_tree(n, seed=0) for n in (300, 290)]
    start = time.perf_counter()
    lower, upper = edit_distance(*edit_graphs(as_graphs(trees)), EditCosts(), 600.0)
    assert time.perf_counter() - start < 60
    assert 20 <= lower < upper  # not searched, which would have taken all the time
