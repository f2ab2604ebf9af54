"""
Molecules from SMILES
=====================

Names that travel, rows that cannot be read, and folds that keep scaffolds together. Needs RDKit
(``pip install "graph-metric-learn[chem]"``).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold, cross_val_score

import graph_metric_learn as gml

# %%
# The two classes have the same elements: alcohols carry their oxygen at the end of a chain, ethers within it. The last
# row is no molecule.

RINGS = {"benzene": "c1ccccc1", "pyridine": "c1ccncc1", "furan": "c1ccoc1", "cyclohexane": "C1CCCCC1", "chain": "CC(C)"}
TAILS = {
    "alcohol": ["CO", "CCO", "C(C)O", "CCCO", "C(C)CO", "CCCCO"],
    "ether": ["OC", "COC", "OCC", "CCOC", "OCCC", "COCCC"],
}
rows = [
    (smiles + tail, f"{kind} {number} of {ring}", kind)
    for ring, smiles in RINGS.items()
    for kind, tails in TAILS.items()
    for number, tail in enumerate(tails, start=1)
]
rows.append(("C1CC", "a ring that is not closed", "ether"))
smiles, names, kinds = zip(*rows, strict=True)

# %%
# By default such a row is an error that names it; `on_error="skip"` leaves it out, with a warning, and `rows` says
# which ones are there.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    graphs = gml.from_smiles(smiles, names=names, on_error="skip")
print(caught[0].message)
y = np.array(kinds)[graphs.rows]
print(f"{len(graphs)} of {len(smiles)} molecules")

# %%
# Accuracy on scaffolds that were not learned from:

classifier = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0), n_neighbors=3)
groups = gml.datasets.scaffolds(graphs.smiles)
scores = cross_val_score(classifier, graphs, y, groups=groups, cv=GroupKFold(3))
print(f"{scores.mean():.1%}")

# %%
# Two molecules with a ring that is not among the five, and their look-alikes:

classifier.fit(graphs, y)
new = gml.from_smiles(["OCc1ccsc1", "COc1ccsc1"], names=["thienylmethanol", "methoxythiophene"])
_, nearest = classifier.kneighbors(new, n_neighbors=1)
for graph, kind, (neighbor,) in zip(new, classifier.predict(new), nearest, strict=True):
    print(f"{graph.name}: {kind}, nearest is {classifier.names_[neighbor]}")

# %%
# Why the two are as far apart as they are, drawn on the molecules:

why = classifier.metric_.explain(new[0], new[1])
print(why)
figure, ax = plt.subplots(figsize=(10, 3.6), layout="constrained")
why.plot(ax)
plt.show()
