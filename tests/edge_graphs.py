"""Random small graphs whose edges carry something, for tests, and the same graphs written in another way."""

from dataclasses import replace

import networkx as nx
import numpy as np

from graph_metric_learn.graphs import as_graphs


def edge_graph(seed, *, directed=False, labels=True, vectors=True, weights=True, parallel=False):
    """A random graph with edge attributes "kind", "v" and "weight", and node attribute "element"."""
    rng = np.random.default_rng(seed)
    kinds = {(False, False): nx.Graph, (False, True): nx.MultiGraph, (True, False): nx.DiGraph}
    graph = kinds.get((directed, parallel), nx.MultiDiGraph)()
    n = int(rng.integers(2, 9))
    for node in range(n):
        graph.add_node(node, element="CNO"[int(rng.integers(3))])
    for _ in range(int(rng.integers(1, 2 * n))):
        u, v = (int(i) for i in rng.integers(0, n, 2))
        if u == v or (not parallel and (graph.has_edge(u, v) or graph.has_edge(v, u))):
            continue
        data = {}
        if labels:
            data["kind"] = "sd"[int(rng.integers(2))]
        if vectors:
            data["v"] = rng.normal(size=2).round(3)
        if weights:
            data["weight"] = round(float(rng.normal()), 3) or 1.5
        graph.add_edge(u, v, **data)
    return graph


def renumbered_networkx(graph, seed):
    """The same graph with its nodes and edges in another order and, without directions, edges turned around."""
    rng = np.random.default_rng(seed)
    nodes = [list(graph)[i] for i in rng.permutation(len(graph))]
    other = type(graph)()
    for node in nodes:
        other.add_node(f"node {node}", **graph.nodes[node])
    edges = list(graph.edges(data=True))
    for i in rng.permutation(len(edges)):
        u, v, data = edges[i]
        if not graph.is_directed() and rng.random() < 0.5:
            u, v = v, u
        other.add_edge(f"node {u}", f"node {v}", **data)
    return other


NAMES = {"label": "element", "edge_label": "kind", "edge_attribute": "v"}


def rich_graph(seed):
    """A directed graph that carries everything, to be read by `read_rich`."""
    graph, rng = edge_graph(seed, directed=True), np.random.default_rng(seed)
    for _, node in graph.nodes(data=True):
        node["element"] = [node["element"], "ab"[int(rng.integers(2))]]
        node["x"] = rng.normal(size=2)
        node["codes"] = rng.integers(0, 4, 2)
    return graph


def read_rich(graphs):
    """Nodes with two labels, two numbers and two codes; edges with a label, a vector, a weight; vectors of graphs."""
    nodes = [node for graph in graphs for _, node in graph.nodes(data=True)]
    stereo, coarse = np.array([node["codes"] for node in nodes], dtype=np.uint8).T
    vectors = np.array([[len(graph), graph.number_of_edges()] for graph in graphs], dtype=float)
    read = as_graphs(graphs, **NAMES, directed=True)
    return replace(read, stereo=stereo, coarse=coarse, graph_x=vectors, graph_columns=("nodes", "edges"), unused=())
