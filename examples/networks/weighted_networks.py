"""
Weighted and directed networks
==============================

What edges carry counts: weights, labels, vectors and directions. In both examples here the edges are the same in every
graph, so that without what they carry no two graphs can be told apart.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import graph_metric_learn as gml

rng = np.random.default_rng(0)

# %%
# **Weights.** Complete networks of 12 nodes: weights follow two groups of nodes, or not. Matrices are read as they are.


def network(community):
    side = rng.permutation(12) < 6
    weights = np.where(side[:, None] == side, 0.8, 0.2) if community else np.full((12, 12), 0.5)
    weights = np.triu(weights + 0.1 * rng.normal(size=(12, 12)), 1)
    return weights + weights.T, None


y = np.arange(60) % 2
networks = [network(community) for community in y]
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for ax, (weights, _), community in zip(axes, networks, y, strict=False):
    picture = ax.imshow(weights, vmin=0, vmax=1, cmap="viridis")
    ax.set(title="two groups" if community else "none", xlabel="node", ylabel="node")
figure.colorbar(picture, ax=axes, label="weight of the edge")
plt.show()

# %%
# With the weights, and without them:

weighted = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0)).fit(networks[:40], y[:40])
print(weighted.metric_.report_)
print(f"with weights: {weighted.score(networks[40:], y[40:]):.1%}")

try:
    gml.GraphMetric(edges=False, random_state=0).fit(networks[:40], y[:40])
except ValueError as error:
    print(f"without: {error}")

# %%
# **Directions.** Rings with an arrow at every edge: all the same way round, or each by chance.


def arrows(around, n):
    graph = nx.DiGraph()
    for i in range(n):
        here, there = i, (i + 1) % n
        graph.add_edge(*((here, there) if around or rng.random() < 0.5 else (there, here)))
    return graph


rings = [arrows(around, 8 + i % 7) for i, around in enumerate(y)]
directed = gml.GraphKNNClassifier(gml.GraphMetric(directed=True, random_state=0)).fit(rings[:40], y[:40])
undirected = gml.GraphKNNClassifier(gml.GraphMetric(directed=False, random_state=0)).fit(rings[:40], y[:40])
print(f"with directions: {directed.score(rings[40:], y[40:]):.1%}")
print(f"without: {undirected.score(rings[40:], y[40:]):.1%}")

# %%
# Why are two rings far from each other? Where the arrows at a node both come in or both go out, it has a share:

why = directed.metric_.explain(rings[0], rings[1])
print(why)
