from collections import Counter

import networkx as nx
import numpy as np
import pytest

from embedding_clouds import dense, names
from graph_metric_learn.embeddings import Counts, Histogram
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs

SIZES = np.array([5, 9])


def test_histogram_is_the_distance_of_hellinger(rng):
    """By hand, from the shares of the names."""
    points = names(rng, SIZES)
    one, two = dense(Histogram().fit(points, SIZES, rng).vectors(points, SIZES))
    p, q = (Counter(part.ravel().tolist()) for part in (points[:5], points[5:]))
    wanted = sum((np.sqrt(p[name] / 5) - np.sqrt(q[name] / 9)) ** 2 for name in set(p) | set(q))
    assert np.sum((one - two) ** 2) == pytest.approx(wanted)


def test_a_histogram_blames_what_only_one_has(rng):
    x, z = (np.array(cloud, dtype=np.uint64)[:, None] for cloud in ([1, 1, 2], [1, 1, 3]))
    embedding = Histogram().fit(np.concatenate([x, z]), np.array([3, 3]), rng)
    one, two = dense(embedding.vectors(np.concatenate([x, z]), np.array([3, 3])))
    source, target = embedding.attribute(x, z, one - two)
    assert source.sum() == pytest.approx(2 / 3)
    np.testing.assert_allclose(source, [1 / 9, 1 / 9, 1 / 3 + 1 / 9])  # what x lacks is shared by all
    np.testing.assert_allclose(target, source)
    plan = embedding.plan(x, z)
    assert plan[2, 2] == pytest.approx(1 / 3)  # nothing else is left for it
    np.testing.assert_allclose(plan[:2, :2], 1 / 6)


def test_the_size_of_a_cloud_does_not_count(rng):
    x = names(rng, [4])
    embedding = Histogram().fit(x, np.array([4]), rng)
    one, two = dense(embedding.vectors(np.concatenate([x, x, x]), np.array([4, 8])))
    np.testing.assert_allclose(one, two)


def test_products_are_those_of_counters(rng):
    sizes = np.array([5, 9, 1])
    points = names(rng, sizes)
    vectors = dense(Counts().fit(points, sizes, rng).vectors(points, sizes))
    counters = [Counter(part.ravel().tolist()) for part in np.split(points, np.cumsum(sizes)[:-1])]
    wanted = [[sum(one[name] * two[name] for name in one) for two in counters] for one in counters]
    np.testing.assert_allclose(vectors @ vectors.T, wanted)


def test_counts_of_trees_are_the_weisfeiler_lehman_subtree_kernel(rng):
    """Against trees written out as tuples, of depths 0 and 1."""
    graphs = [nx.gnp_random_graph(n, 0.3, seed=n) for n in (6, 9, 12)]
    given = as_graphs(graphs)
    points = np.concatenate(NodeBlocks().fit(given, ["trees@0", "trees@1"]).transform(given), axis=1)
    vectors = dense(Counts().fit(points, given.sizes, rng).vectors(points, given.sizes))
    written = []
    for graph in graphs:
        degree = dict(graph.degree)
        written.append(Counter(degree.values()))
        written[-1] += Counter((degree[v], tuple(sorted(degree[u] for u in graph[v]))) for v in graph)
    wanted = [[sum(one[tree] * two[tree] for tree in one) for two in written] for one in written]
    np.testing.assert_allclose(vectors @ vectors.T, wanted)


def test_counts_tell_how_large_a_cloud_is(rng):
    x = names(rng, [4])
    embedding = Counts().fit(x, np.array([4]), rng)
    one, two = dense(embedding.vectors(np.concatenate([x, x, x]), np.array([4, 8])))
    np.testing.assert_allclose(two, 2 * one)
