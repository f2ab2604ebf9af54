"""
Explain a pair
==============

Why is this graph taken for that one? An explanation takes a distance apart: by what was compared, and by node.
"""

import networkx as nx

import graph_metric_learn as gml

# %%
# Chains and rings of carbon with one group; the class says which group it is.


def molecule(skeleton, group):
    graph = nx.path_graph(6) if skeleton == "chain" else nx.cycle_graph(6)
    graph.name = f"{skeleton} with {group}"
    nx.set_node_attributes(graph, "C", "label")
    end = 2  # where the next atom goes
    for number, element in enumerate(group, start=1):
        graph.add_node(f"{element}{number}", label=element)
        graph.add_edge(end, f"{element}{number}")
        end = f"{element}{number}"
    return graph


groups = ["O", "N", "OO", "NN", "ON", "NO"]
graphs = [molecule(skeleton, group) for skeleton in ("chain", "ring") for group in groups for _ in range(4)]
y = ["oxygen first" if group[0] == "O" else "nitrogen first" for _ in range(2) for group in groups for _ in range(4)]
metric = gml.GraphMetric(label="label", random_state=0).fit(graphs, y)
print(metric.report_)

# %%
# A chain with O–N and a ring with N–O: both the skeleton and the class differ. In three lines:

one, other = molecule("chain", "ON"), molecule("ring", "NO")
why = metric.explain(one, other)
print(why)

# %%
# All parts of the squared distance, which add up to 1, and the nodes with the largest shares, by their own names:

for term, share in sorted(why.term_share.items(), key=lambda item: -item[1]):
    print(f"{share:6.1%}  {term}")
heaviest = why.source_share.argsort()[::-1][:3]
print([(list(one.nodes)[i], round(float(why.source_share[i]), 2)) for i in heaviest])

# %%
# The two graphs with their heaviest matches. Colour is the share of the squared distance.

why.plot()
