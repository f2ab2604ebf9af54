"""Small labelled graphs for tests."""

import networkx as nx
import numpy as np


def ring_or_hub(n, kind, rng):
    """(adjacency, features): a ring (kind 0) or a path with a hub (kind 1), three noisy features."""
    a = np.zeros((n, n))
    for i in range(n - 1):
        a[i, i + 1] = a[i + 1, i] = 1
    if kind == 0:
        a[0, n - 1] = a[n - 1, 0] = 1
    else:
        a[0, 1:] = a[1:, 0] = 1
    return a, rng.normal(size=(n, 3)) * 0.4 + (np.arange(3) == kind)


def zoo(rng, count=40):
    """Graphs as pairs and their classes, alternating."""
    return [ring_or_hub(int(n), i % 2, rng) for i, n in enumerate(rng.integers(5, 14, count))], np.arange(count) % 2


def as_networkx(pairs, attribute="x"):
    graphs = []
    for a, x in pairs:
        graph = nx.from_numpy_array(a)
        nx.set_node_attributes(graph, dict(enumerate(x)), attribute)
        graphs.append(nx.relabel_nodes(graph, {i: f"node {i}" for i in graph}))
    return graphs


def as_pyg(pairs, y=None):
    import torch
    from torch_geometric.data import Data

    return [
        Data(
            x=torch.tensor(x, dtype=torch.float32),
            edge_index=torch.from_numpy(np.array(a.nonzero())),
            **({} if y is None else {"y": torch.tensor([y[i]])}),
        )
        for i, (a, x) in enumerate(pairs)
    ]
