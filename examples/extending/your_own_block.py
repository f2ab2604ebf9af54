"""
Your own block of node features
===============================

`GraphMetric` weighs all that it can see of graphs. A block of your own has a name, and is weighed like any other; here
it sees what no built-in one sees.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy import sparse

import graph_metric_learn as gml
from graph_metric_learn.features.blocks import BLOCKS, SmoothBlock

# %%
# Two rings of n nodes each, or one of 2n: every node has two neighbours, and everything near a node looks the same.
# They differ only in how many nodes a node is connected to, and in paths that are longer than those that are counted.

graphs = [nx.disjoint_union(nx.cycle_graph(n), nx.cycle_graph(n)) for n in range(18, 38)]
graphs += [nx.cycle_graph(2 * n) for n in range(18, 38)]
y = ["two rings"] * 20 + ["one ring"] * 20
figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
for ax, i in zip(axes, (0, 20), strict=True):
    nx.draw(graphs[i], nx.spring_layout(graphs[i], seed=0), ax=ax, node_size=30)
    ax.set_title(y[i])
plt.show()

# %%
# No built-in block sees the difference:

without = gml.GraphMetric(estimate=True, random_state=0).fit(graphs, y)
print(without.report_)

# %%
# A `SmoothBlock` has one method: features [S, q] of all nodes, one graph after the other. Registered, it makes
# families, which compare graphs by its mean, its density, and by transport.


@BLOCKS.register("component")
class Component(SmoothBlock):
    """The share of its graph that a node is connected to."""

    def start(self, graphs):
        _, component = sparse.csgraph.connected_components(graphs.adjacency, directed=False)
        share = np.bincount(component)[component] / graphs.sizes[graphs.owner]
        return share[:, None].astype(np.float32)


with_it = gml.GraphMetric(estimate=True, random_state=0).fit(graphs, y)
print(with_it.report_)

# %%
# The name is removed again, so that other examples do not meet it. In a module of your own it would stay: import that
# module before you load a model that uses it.

del BLOCKS["component"]
