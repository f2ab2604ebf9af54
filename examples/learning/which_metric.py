"""
Which metric?
=============

Three metrics on the same graphs: `GraphMetric`, which chooses by itself, `SGML`, the model of the paper, and `SGML` as
it is before training. The graphs are of four families with about four neighbours per node; nodes carry nothing.
"""

import matplotlib.pyplot as plt
import networkx as nx
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

import graph_metric_learn as gml

FAMILIES = {
    "random": lambda n, seed: nx.gnm_random_graph(n, 2 * n, seed=seed),
    "hubs": lambda n, seed: nx.barabasi_albert_graph(n, 2, seed=seed),
    "ring": lambda n, seed: nx.watts_strogatz_graph(n, 4, 0.1, seed=seed),
    "cliques": lambda n, seed: nx.relaxed_caveman_graph(n // 5, 5, 0.1, seed=seed),
}
graphs = [make(15 + seed % 20, seed) for make in FAMILIES.values() for seed in range(40)]
families = [name for name in FAMILIES for _ in range(40)]
train, test, y_train, y_test = train_test_split(graphs, families, stratify=families, random_state=0)

# %%
# Each predictor fits its metric and chooses its number of neighbours. The score is the accuracy on 40 graphs that none
# of them has seen; guessing gives 25 %.

metrics = {
    "SGML, untrained": gml.SGML(n_epochs=0, random_state=0),
    "SGML": gml.SGML(random_state=0),
    "GraphMetric": gml.GraphMetric(random_state=0),
}
models = {name: gml.GraphKNNClassifier(metric).fit(train, y_train) for name, metric in metrics.items()}
accuracy = {name: model.score(test, y_test) for name, model in models.items()}
for name, score in accuracy.items():
    print(f"{name}: {score:.1%}")

# %%
# `SGML` sees the degrees of nodes here, averaged over neighbours; `GraphMetric` also sees triangles, walks, and how far
# apart nodes are, which tell cliques from rings. It weighed them:

print(models["GraphMetric"].metric_.report_)

# %%
# When to take which:
#
# - `GraphMetric` by default: it needs no options, and its report says whether learning helped.
# - `SGML` to compare with the paper, for an encoder of your own, for training on a GPU, or where distances must be
#   those of optimal transport between node features.
#
# Distances between the test graphs, sorted by family, dark where near:

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
order = sorted(range(len(test)), key=lambda i: y_test[i])
for ax, name in zip(axes, ["SGML, untrained", "GraphMetric"], strict=True):
    metric = FrozenEstimator(models[name].metric_)
    ax.imshow(metric.pairwise_distances([test[i] for i in order]), cmap="viridis")
    ax.set(title=f"{name}: {accuracy[name]:.0%}", yticks=[])
    ax.set_xticks([4.5, 14.5, 24.5, 34.5], sorted(FAMILIES))
plt.show()
