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


def write_tu(folder, count, name="TOY"):
    """A dataset in TU format at folder/NAME: stars (class 0) and rings (class 1), without node labels or attributes."""
    toy = folder / name
    toy.mkdir(parents=True)
    lines = {"A": [], "graph_indicator": [], "graph_labels": []}
    node = 0
    for g in range(count):
        n = 4 + g // 4
        graph = nx.cycle_graph(n) if g % 2 else nx.star_graph(n - 1)
        lines["A"] += [f"{node + u + 1}, {node + v + 1}" for u, v in graph.edges]
        lines["graph_indicator"] += [str(g + 1)] * n
        lines["graph_labels"].append(str(g % 2))
        node += n
    for what, rows in lines.items():
        (toy / f"{name}_{what}.txt").write_text("\n".join(rows))
    return toy
