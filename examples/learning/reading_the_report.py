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
# **A signal.** The first sentence names the parts of the distance with their weights, the second what was learned and
# how much it counts, the last the accuracy on new graphs, its standard error, and that of always predicting the largest
# class.

options = {"label": "element", "estimate": True, "random_state": 0}
metric = gml.GraphMetric(**options).fit(graphs, y)
print(metric.report_)

# %%
# The same as numbers: scores of all candidates, the scores of neighbours on graphs held out without and with what was
# learned, and the estimate.

estimate = metric.estimate_
print(f"{estimate.score:.3f} ± {estimate.error:.3f}, by guessing {estimate.guess:.3f}")

ranked = sorted(metric.choice_.scores.items(), key=lambda item: item[1])
names, scores = zip(*ranked[:4], *ranked[-8:], strict=True)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.barh(names, scores, color=["0.7"] * 4 + ["C0"] * 8)
ax.axvline(estimate.guess, color="0.3", linestyle=":")
ax.set(xlabel="accuracy by leaving one out (dotted: a guess)", title="The worst and the best candidates")
plt.show()

# %%
# **No signal.** With classes drawn at random the report says so; such a model should not be used.

noise = gml.GraphMetric(**options).fit(graphs, rng.permutation(y))
print(noise.report_)

# %%
# **No classes.** Nothing is learned; up to six views that differ from each other have the same weight.

unsupervised = gml.GraphMetric(label="element", random_state=0).fit(graphs)
print(unsupervised.report_)
