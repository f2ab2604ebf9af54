"""Rings and stars with names, one of them hostile, and a classifier on them, for tests of the explorer."""

import networkx as nx
import numpy as np

import graph_metric_learn as gml

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">\u2028"
WRONG = 7  # a ring that is said to be a star


def rings_and_stars():
    """Graphs and their classes."""
    graphs = [nx.cycle_graph(n) for n in range(4, 24)] + [nx.star_graph(n) for n in range(4, 24)]
    for i, graph in enumerate(graphs):
        graph.name = f"graph number {i}"
    graphs[3].name = HOSTILE
    y = np.array(["ring"] * 20 + ["star & co"] * 20)
    y[WRONG] = "star & co"
    return graphs, y


def fitted():
    """A classifier that was fitted to the first 36 of them."""
    graphs, y = rings_and_stars()
    metric = gml.GraphMetric(features=["trees@0", "trees@1"], embedding="counts", random_state=0)
    return gml.GraphKNNClassifier(metric, n_neighbors=3).fit(graphs[:36], y[:36])
