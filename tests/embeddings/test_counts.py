from collections import Counter

import networkx as nx
import numpy as np

from embedding_clouds import dense, names
from graph_metric_learn.embeddings import Counts
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs


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
