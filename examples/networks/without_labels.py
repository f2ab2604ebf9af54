"""
Without labels
==============

Without `y`, the distance goes by what graphs look like: by all kinds of things that can be seen of them, each with the
same weight. k-means then finds the kinds of graphs, and a map shows them.
"""

import matplotlib.pyplot as plt
import networkx as nx
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score

import graph_metric_learn as gml

kinds = {
    "wheel": lambda n, seed: nx.wheel_graph(n),
    "tree": lambda n, seed: nx.random_labeled_tree(n, seed=seed),
    "grid": lambda n, seed: nx.grid_2d_graph(3, n // 3),
}
graphs = [make(n, n) for make in kinds.values() for n in range(12, 42)]
truth = [kind for kind in kinds for _ in range(30)]

metric = gml.GraphMetric(random_state=0).fit(graphs)  # no y
print(metric.report_)

# %%
# The clusters agree with the kinds, which were not used (1: the same partition, 0: chance):

clusters = gml.GraphKMeans(3, FrozenEstimator(metric), random_state=0).fit(graphs)
agreement = adjusted_rand_score(truth, clusters.labels_)
print(f"adjusted Rand index: {agreement:.2f}")

# %%
# Distances between graphs are those between the rows of `transform`, so that any method for vectors can be used; here
# the two directions in which they vary most. Marks are the kinds, colours the clusters.

places = PCA(2).fit_transform(metric.transform(graphs))
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for kind, mark in zip(kinds, "os^", strict=True):
    these = [i for i, one in enumerate(truth) if one == kind]
    colours = [f"C{clusters.labels_[i]}" for i in these]
    ax.scatter(*places[these].T, c=colours, marker=mark, s=[len(graphs[i]) for i in these], label=kind)
ax.set(xlabel="first principal coordinate", ylabel="second", title="Size of a mark: number of nodes")
ax.legend()
plt.show()
