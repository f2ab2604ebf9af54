"""
Reading the report
==================

`report_` says what was chosen and learned, and with `estimate=True` how well it does on new graphs. Here are three
reports: of graphs that can be told apart, of the same graphs with classes drawn at random, and of graphs without
classes.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import graph_metric_learn as gml

rng = np.random.default_rng(0)


def ring(elements):
    graph = nx.cycle_graph(len(elements))
    nx.set_node_attributes(graph, dict(enumerate(elements)), "element")
    return graph


graphs = [ring(rng.choice(["C", "N"], size=rng.integers(6, 20))) for _ in range(60)]
mixed = np.array([sum(g.nodes[a]["element"] != g.nodes[b]["element"] for a, b in g.edges) / len(g) for g in graphs])
y = np.where(mixed > np.median(mixed), "mixed", "split")

# %%
# **A signal.** The first sentence names the families by which graphs are compared, with their weights, the second what
# was learned and how much it counts, the last the accuracy on new graphs, its standard error, and that of always
# predicting the largest class.

options = {"label": "element", "estimate": True, "random_state": 0}
metric = gml.GraphMetric(**options).fit(graphs, y)
print(metric.report_)

# %%
# The same as numbers: the scores of neighbours on graphs held out, without and with what was learned, which decided how
# much it counts; the estimate, in which everything was chosen anew without the graphs that were judged; and the weights
# of the families, small where a family adds nothing to the others.

estimate, held_out = metric.estimate_, metric.learned_.gate
print(f"to choose by: {held_out.unlearned:.3f} without scores, {held_out.learned:.3f} with them")
print(f"to trust: {estimate.score:.3f} ± {estimate.error:.3f}, by guessing {estimate.guess:.3f}")

names, weights = zip(*reversed(metric.weights_.items()), strict=True)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.barh(names, weights)
ax.set(xlabel="weight in the kernel", title="By what graphs are compared")
plt.show()

# %%
# **No signal.** With classes drawn at random the report says so; such a model should not be used.

noise = gml.GraphMetric(**options).fit(graphs, rng.permutation(y))
print(noise.report_)

# %%
# **No classes.** Nothing is learned: all kinds of families have the same weight.

unsupervised = gml.GraphMetric(label="element", random_state=0).fit(graphs)
print(unsupervised.report_)
