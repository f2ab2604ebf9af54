import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import kurtosis, skew

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import FGSD, NetLSD, NetSimile
from graph_metric_learn_reproduction.baselines.descriptors import netsimile_features
from small_graphs import path, random_graphs, star


def bare(*adjacencies):
    return as_graphs([(adjacency, None) for adjacency in adjacencies])


def with_isolated(adjacency):
    larger = np.zeros((len(adjacency) + 1,) * 2)
    larger[:-1, :-1] = adjacency
    return larger


@pytest.mark.parametrize("adjacency", [path(4), star(3), with_isolated(path(3))])
def test_netlsd_is_the_trace_of_the_heat_kernel(adjacency):
    laplacian = nx.normalized_laplacian_matrix(nx.from_numpy_array(adjacency)).toarray()
    expected = [np.trace(expm(-t * laplacian)) / len(adjacency) for t in np.logspace(-2, 2, 250)]
    np.testing.assert_allclose(NetLSD().describe(bare(adjacency))[0], expected, rtol=1e-9)
    whole = NetLSD(normalization=None).describe(bare(adjacency))[0]
    np.testing.assert_allclose(whole, np.multiply(expected, len(adjacency)), rtol=1e-9)


def test_netlsd_distances_are_euclidean():
    vectors = NetLSD().describe(bare(path(4), star(3)))
    expected = np.linalg.norm(vectors[0] - vectors[1])
    np.testing.assert_allclose(NetLSD().distances(bare(path(4), star(3)))[0, 1], expected)


def test_fgsd_of_a_tree_counts_hops():
    """The resistance between nodes of a tree is the number of edges between them: bins of 0.1 at 1.0, 2.0, 3.0."""
    vector = FGSD().describe(bare(path(4)))[0]
    assert vector.sum() == 16
    assert vector[[0, 10, 20, 30]].tolist() == [4, 6, 4, 2]
    vector = FGSD().describe(bare(star(4)))[0]
    assert vector[[0, 10, 20]].tolist() == [5, 8, 12]


def test_fgsd_of_a_triangle_and_beyond_the_last_bin():
    triangle = np.ones((3, 3)) - np.eye(3)
    assert FGSD().describe(bare(triangle))[0][[0, 6]].tolist() == [3, 6]  # 2/3 between any two
    assert FGSD(bins=4, largest=2.0).describe(bare(path(4)))[0].tolist() == [4, 0, 6, 0]


def test_fgsd_with_the_normalised_laplacian_of_an_edge():
    """L = [[1, −1], [−1, 1]], L⁺ = L / 4, S_01 = 1."""
    assert FGSD(laplacian="normalized").describe(bare(path(2)))[0][[0, 10]].tolist() == [2, 2]
    with pytest.raises(ValueError, match="unknown laplacian='random walk'"):
        FGSD(laplacian="random walk").describe(bare(path(2)))


def test_fgsd_takes_eigenvalues_within_rounding_for_zero(monkeypatch):
    """In graphs of several components, zeros may come out as about 1e-14: their inverses would drown the rest."""
    edges = np.kron(np.eye(2), path(2))
    exact = FGSD().describe(bare(edges))

    def off_by_rounding(adjacency, *, normalized):
        first = np.array([1.0, 1.0, 0.0, 0.0])
        return np.diag(adjacency.sum(1)) - adjacency + 1e-14 * np.outer(first, first)

    monkeypatch.setattr("graph_metric_learn_reproduction.baselines.descriptors.laplacian", off_by_rounding)
    np.testing.assert_array_equal(FGSD().describe(bare(edges)), exact)


def test_netsimile_features_of_a_path_and_a_star_by_hand():
    np.testing.assert_array_equal(
        netsimile_features(path(4)),
        [[1, 0, 2, 0, 1, 1, 1], [2, 0, 1.5, 0, 2, 1, 1], [2, 0, 1.5, 0, 2, 1, 1], [1, 0, 2, 0, 1, 1, 1]],
    )
    np.testing.assert_array_equal(netsimile_features(star(3)), [[3, 0, 1, 0, 3, 0, 0], *[[1, 0, 3, 0, 1, 2, 2]] * 3])


def test_netsimile_features_by_networkx(rng):
    for adjacency, _ in random_graphs(rng, 8, smallest=2, largest=12):
        graph = nx.from_numpy_array(adjacency)
        clustering = nx.clustering(graph)
        for i, found in enumerate(netsimile_features(adjacency)):
            around = list(graph[i])
            ego = {i, *around}
            inside = graph.subgraph(ego).number_of_edges()
            leaving = [(u, v) for u in ego for v in graph[u] if v not in ego]
            expected = [graph.degree(i), clustering[i]]
            expected += [np.mean([graph.degree(j) for j in around]) if around else 0]
            expected += [np.mean([clustering[j] for j in around]) if around else 0]
            expected += [inside, len(leaving), len({v for _, v in leaving})]
            np.testing.assert_allclose(found, expected)


def test_netsimile_statistics_and_their_canberra_distance():
    features = netsimile_features(star(3))
    statistics = [np.median(features, 0), features.mean(0), features.std(0)]
    varies = features.std(0) > 0
    for f in (skew, kurtosis):
        statistics.append(np.array([f(column) if v else 0.0 for column, v in zip(features.T, varies, strict=True)]))
    star_vector, path_vector = NetSimile().describe(bare(star(3), path(4)))
    np.testing.assert_allclose(star_vector, np.concatenate(statistics), atol=1e-8)
    terms = [abs(u - v) / (abs(u) + abs(v)) for u, v in zip(star_vector, path_vector, strict=True) if (u, v) != (0, 0)]
    np.testing.assert_allclose(NetSimile().distances(bare(star(3), path(4)))[0, 1], sum(terms))
