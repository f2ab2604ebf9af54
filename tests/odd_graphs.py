"""Graphs that are hard to draw: one node, no edges, 500 nodes, two parts, loops of names; for tests of the explorer."""

import networkx as nx


def odd_graphs():
    """Twelve graphs, most of them odd."""
    graphs = [
        nx.empty_graph(1),
        nx.empty_graph(2),
        nx.empty_graph(30),
        nx.path_graph(500),
        nx.gnm_random_graph(500, 3000, seed=0),
        nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(3)),
        nx.complete_graph(40),
        *(nx.cycle_graph(n) for n in range(4, 9)),
    ]
    for i, graph in enumerate(graphs):
        graph.name = f"odd {i}, {len(graph)} nodes"
    return graphs
