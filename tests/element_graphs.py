"""Random graphs whose nodes have an element, and a number that only trees around nodes tell, for tests."""

import networkx as nx
import numpy as np


def element_graph(n, rng):
    graph = nx.gnp_random_graph(int(n), 0.35, seed=int(rng.integers(2**31)))
    nx.set_node_attributes(graph, {node: "CNO"[int(rng.integers(3))] for node in graph}, "element")
    return graph


def mixed_bonds(graph):
    """How many edges join different elements, and half the number of nitrogens."""
    elements = nx.get_node_attributes(graph, "element")
    return sum(elements[u] != elements[v] for u, v in graph.edges) + 0.5 * list(elements.values()).count("N")


def element_graphs(count=70, seed=0):
    """Graphs of 5 to 11 nodes, and their numbers."""
    rng = np.random.default_rng(seed)
    graphs = [element_graph(n, rng) for n in rng.integers(5, 12, count)]
    return graphs, np.array([mixed_bonds(graph) for graph in graphs]) + 0.01 * rng.normal(size=count)
