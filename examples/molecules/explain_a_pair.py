"""
Explain a pair
==============

Why are two graphs near or far, and what makes the number of one larger? An explanation takes a distance apart: by what
was compared, by what was learned, and by node. Needs RDKit (``pip install "graph-metric-learn[chem]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
from rdkit.Chem import Crippen, MolFromSmiles

import graph_metric_learn as gml

# %%
# The metric is learned from the logP of small molecules: how much rather they dissolve in oil than in water. Twelve
# stems with twelve groups each make 144 of them.

stems = {
    "ethyl": "CC", "butyl": "CCCC", "isobutyl": "CC(C)C", "hexyl": "CCCCCC", "octyl": "CCCCCCCC", "allyl": "C=CC",
    "cyclohexyl": "C1CCCCC1", "phenyl": "c1ccccc1", "benzyl": "c1ccccc1C", "naphthyl": "c1ccc2ccccc2c1",
    "pyridyl": "c1ccncc1", "thienyl": "c1ccsc1",
}  # fmt: skip
groups = {
    "alcohol": "O", "methyl ether": "OC", "methyl ketone": "C(C)=O", "acid": "C(O)=O", "methyl ester": "C(=O)OC",
    "amide": "C(N)=O", "amine": "N", "nitrile": "C#N", "nitro": "[N+](=O)[O-]", "thiol": "S", "chloride": "Cl",
    "bromide": "Br",
}  # fmt: skip
smiles = {f"{stem} {group}": stems[stem] + groups[group] for stem in stems for group in groups}
graphs = gml.from_smiles(smiles.values(), names=list(smiles))
logp = np.array([Crippen.MolLogP(MolFromSmiles(text)) for text in smiles.values()])
metric = gml.GraphMetric(random_state=0).fit(graphs, logp)
print(metric.report_)

# %%
# A chloride that dissolves in oil, and an amide that dissolves in both. In three lines:

by_name = dict(zip(smiles, graphs, strict=True))
why = metric.explain(by_name["octyl chloride"], by_name["benzyl amide"])
print(why)

# %%
# All parts of the squared distance, which add up to 1:

for term, share in sorted(why.term_share.items(), key=lambda item: -item[1]):
    print(f"{share:6.1%}  {term}")

# %%
# `evidence` says, by the learned scores, how much each atom raises the logP of its molecule compared with the other
# one. Together with those of the bonds, these numbers add up to the difference of the two predictions.

evidence = why.evidence
names = why.node_names[0]
order = evidence.source.argsort()
print(f"octyl chloride minus benzyl amide: {evidence.change:+.2f}")
print("raise it most:", [f"{names[i]} {evidence.source[i]:+.2f}" for i in order[::-1][:3]])
print("lower it most:", [f"{names[i]} {evidence.source[i]:+.2f}" for i in order[:3]])

# %%
# The two molecules with their heaviest matches. Colour is the share of the squared distance.

figure, ax = plt.subplots(figsize=(10, 3.6), layout="constrained")
why.plot(ax)
plt.show()
