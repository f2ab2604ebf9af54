"""
Explain a pair
==============

Why are two graphs near or far, and what makes the number of one larger? An explanation takes a distance apart: by what
was compared, by what was learned, and by node. Needs RDKit (``pip install "graph-metric-learn[chem]"``).
"""

import matplotlib.pyplot as plt

import graph_metric_learn as gml
from graph_metric_learn.viz.demo.molecules import well_known_molecules

# %%
# The metric is learned from the logP of well-known molecules: how much rather they dissolve in oil than in water.

molecules = well_known_molecules()
metric = gml.GraphMetric(random_state=0).fit(molecules.graphs, molecules.y)
print(metric.report_)

# %%
# Ibuprofen and paracetamol, two painkillers. In three lines:

by_name = dict(zip(molecules.names, molecules.graphs, strict=True))
why = metric.explain(by_name["ibuprofen"], by_name["paracetamol"])
print(why)

# %%
# All parts of the squared distance, which add up to 1:

for term, share in sorted(why.term_share.items(), key=lambda item: -item[1]):
    print(f"{share:6.1%}  {term}")

# %%
# `evidence` goes by the learned scores: how much each atom raises the logP of its molecule, measured against the other
# one. With those of the bonds they add up to the difference of the two predictions.

evidence = why.evidence
names = why.node_names[0]
order = evidence.source.argsort()
print(f"ibuprofen minus paracetamol: {evidence.change:+.2f}")
print("raise it most:", [f"{names[i]} {evidence.source[i]:+.2f}" for i in order[::-1][:3]])
print("lower it most:", [f"{names[i]} {evidence.source[i]:+.2f}" for i in order[:3]])

# %%
# The two molecules with their heaviest matches. Colour is the share of the squared distance.

figure, ax = plt.subplots(figsize=(10, 3.6), layout="constrained")
why.plot(ax)
plt.show()
