import warnings
from itertools import permutations

import networkx as nx
import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import FGW, FGWWL, W2, SolverFailure
from graph_metric_learn_reproduction.baselines.fgw import finite_hops
from small_graphs import path, random_graph, random_graphs, renumbered, star

ALPHAS = (0.25, 0.5, 1.0)


def by_pot(one, other, alpha):
    (a, x), (b, y) = one, other
    x, y = (points.astype(np.float32).astype(float) for points in (x, y))
    cost = ((x[:, None] - y[None]) ** 2).sum(2)
    return ot.gromov.fused_gromov_wasserstein2(cost, finite_hops(a), finite_hops(b), alpha=alpha)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 0.5, 0.75]))
def test_without_ties_both_solvers_reach_the_minimum_that_pot_reaches(seed, alpha):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, int(n)) for n in rng.integers(2, 9, 2)]
    expected = by_pot(*graphs, alpha)
    for solver in ("lean", "pot"):
        found = FGW(alpha=alpha, solver=solver).distances(graphs)[0, 1]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_the_value_lies_within_those_of_all_assignments():
    """Brute force, with many ties."""
    graphs = [(path(5), np.eye(2)[[0, 1, 1, 0, 0]]), (star(4), np.eye(2)[[1, 0, 0, 0, 1]])]
    (a, x), (b, y) = graphs
    cost, far, near = ((x[:, None] - y[None]) ** 2).sum(2), finite_hops(a), finite_hops(b)
    for alpha in ALPHAS:
        values = []
        for p in map(list, permutations(range(5))):
            structure = ((far - near[np.ix_(p, p)]) ** 2).mean()
            values.append((1 - alpha) * cost[np.arange(5), p].mean() + alpha * structure)
        assert min(values) - 1e-9 <= FGW(alpha=alpha).distances(graphs)[0, 1] <= max(values)


def test_the_ends_of_alpha(rng):
    graphs = random_graphs(rng, 4, smallest=3)
    np.testing.assert_allclose(FGW(alpha=0.0).distances(graphs), W2().distances(graphs) ** 2, atol=1e-9)
    other_features = [(a, x + rng.normal(size=x.shape)) for a, x in graphs]
    np.testing.assert_array_equal(FGW(alpha=1.0).distances(graphs), FGW(alpha=1.0).distances(other_features))


def test_graphs_with_distinct_features_are_at_zero_from_their_renumbering(rng):
    graph = random_graph(rng, 8)
    graph = (graph[0], graph[1] * 10)
    np.testing.assert_allclose(FGW(alpha=0.25).distances([graph, renumbered(graph, rng)]), 0.0, atol=1e-9)


def test_structure_alone_needs_no_features():
    distances = FGW(alpha=1.0).distances([(np.ones((n, n)), None) for n in (2, 3, 3)])
    assert distances[1, 2] == 0
    assert distances[0, 1] > 0


def test_imdb_compares_structure_only():
    assert FGW.grid("degree", "IMDB-MULTI") == [{"alpha": 1.0}]


def test_components_are_one_hop_further_than_the_largest_hop():
    adjacency = np.zeros((4, 4))
    adjacency[:3, :3] = path(3)
    np.testing.assert_array_equal(finite_hops(adjacency)[3], [3, 3, 3, 0])


def test_wl_labels_cost_as_many_levels_as_differ():
    """One node each: the structure is the same, so the value is (1 − α) times the number of different levels."""
    alone = np.zeros((1, 1))
    graphs = [(alone, np.array([[1.0, 0.0]])), (alone, np.array([[0.0, 1.0]]))]
    np.testing.assert_allclose(FGWWL(alpha=0.25, depth=4).distances(graphs)[0, 1], 0.75 * 5)
    np.testing.assert_allclose(FGWWL(alpha=0.25, depth=1).distances(graphs)[0, 1], 0.75 * 2)


def test_wl_labels_see_edges_that_features_do_not(rng):
    graphs = [(path(4), np.ones((4, 1))), (star(3), np.ones((4, 1)))]
    assert FGW(alpha=0.0).distances(graphs)[0, 1] == 0
    np.testing.assert_allclose(FGWWL(alpha=0.0, depth=1).distances(graphs)[0, 1], 0.5)


@pytest.mark.parametrize("solver", ["lean", "pot"])
def test_a_failure_of_the_solver_is_reported(solver, rng):
    """Squared differences overflow."""
    graphs = as_graphs(random_graphs(rng, 3, smallest=3))
    broken = FGW(solver=solver)
    items = broken.prepare(graphs)
    broken.prepare = lambda _: [item._replace(rows=item.rows * 1e200) for item in items]
    with pytest.raises(SolverFailure, match="fgw failed on graphs 0 and 1"):
        broken.distances(graphs)


def test_a_warning_of_pot_is_a_failure(rng, monkeypatch):
    def warns(*args, **kwargs):
        warnings.warn("numItermax reached before optimality", UserWarning, stacklevel=2)
        return 1.0

    monkeypatch.setattr(ot.gromov, "fused_gromov_wasserstein2", warns)
    with pytest.raises(SolverFailure, match="graphs 0 and 1: numItermax reached"):
        FGW(solver="pot").distances(random_graphs(rng, 3))


@pytest.mark.parametrize(
    ("option", "value", "message"), [("solver", "x", "unknown solver"), ("alpha", 2, "between 0 and 1")]
)
def test_bad_options(option, value, message, rng):
    with pytest.raises(ValueError, match=message):
        FGW(**{option: value}).distances(random_graphs(rng, 2))


def weighted(rng, count=4):
    graphs = []
    for adjacency, x in random_graphs(rng, count, smallest=3):
        upper = np.triu(adjacency * rng.uniform(0.5, 2.0, adjacency.shape))
        graphs.append((upper + upper.T, x))
    return graphs


def test_weights_are_lengths_of_edges_if_asked_for(rng):
    graphs = weighted(rng)
    plain = [((a > 0) * 1.0, x) for a, x in graphs]
    np.testing.assert_array_equal(FGW().distances(graphs), FGW().distances(plain))
    with pytest.raises(ValueError, match="edges=True, but the edges have no weights"):
        FGW(edges=True).distances(plain)
    far = []
    for a, _ in graphs:
        graph, n = nx.from_numpy_array(a), len(a)
        lengths = np.array(
            [
                [nx.dijkstra_path_length(graph, i, j) if nx.has_path(graph, i, j) else np.inf for j in range(n)]
                for i in range(n)
            ]
        )
        largest = lengths[np.isfinite(lengths)].max()
        far.append(np.where(np.isfinite(lengths), lengths, largest + (a[a > 0].mean() if a.any() else 1.0)))
    for solver in ("lean", "pot"):
        found = FGW(alpha=0.5, edges=True, solver=solver).distances(graphs)
        for i in range(len(graphs)):
            for j in range(i):
                x, y = (graphs[k][1].astype(np.float32).astype(float) for k in (j, i))
                cost = ((x[:, None] - y[None]) ** 2).sum(2)
                expected = ot.gromov.fused_gromov_wasserstein2(cost, far[j], far[i], alpha=0.5)
                np.testing.assert_allclose(found[i, j], expected, rtol=1e-6, atol=1e-9)


def test_fgw_wl_takes_labels_and_weights_of_edges():
    x = np.eye(2)[[0, 0, 1]]
    graphs = []
    for bonds in ("ab", "ab", "bb"):
        graph = nx.path_graph(3)
        for i, row in enumerate(x):
            graph.nodes[i]["x"] = row
        for (u, v), bond in zip(graph.edges, bonds, strict=True):
            graph.edges[u, v]["bond"] = bond
        graphs.append(graph)
    given_graphs = as_graphs(graphs, edge_label="bond")
    distances = FGWWL(depth=1, edges=True).distances(given_graphs)
    assert distances[0, 1] == 0
    assert distances[0, 2] > 0.1
    assert FGWWL(depth=1).distances(given_graphs)[0, 2] == 0
