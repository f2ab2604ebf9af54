"""
Explain a pair
==============

Why are two graphs near or far, and what makes the number of one larger? An explanation takes a distance apart: by what
was compared, by what was learned, and by node. Needs RDKit (``pip install "graph-metric-learn[chem]"``).
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP

import graph_metric_learn as gml

# %%
# The metric is learned from the logP of some molecules: how much rather they dissolve in oil than in water.

IBUPROFEN, PARACETAMOL = "CC(C)Cc1ccc(cc1)C(C)C(O)=O", "CC(=O)Nc1ccc(O)cc1"
SMILES = f"""
{IBUPROFEN} {PARACETAMOL} CC(=O)Oc1ccccc1C(O)=O COc1ccc2cc(ccc2c1)C(C)C(O)=O OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl
CCN(CC)CC(=O)Nc1c(C)cccc1C Nc1ccc(cc1)S(N)(=O)=O CN(C)C(=N)NC(N)=N Cn1c(=O)c2c(ncn2C)n(C)c1=O CN1CCCC1c1cccnc1
NCCc1ccc(O)c(O)c1 NCCc1c[nH]c2ccc(O)cc12 COc1ccc2[nH]cc(CCNC(C)=O)c2c1 CNCC(O)c1ccc(O)c(O)c1 NCCc1c[nH]cn1
CCCCCC CCCCCCCC CC(C)CC(C)(C)C C1CCCCC1 CC=CC CC(C)=CCCC(=C)C=C c1ccccc1 Cc1ccccc1 C=Cc1ccccc1 c1ccc2ccccc2c1
ClC(Cl)Cl Clc1ccccc1 Brc1ccccc1 CO CCO CCCO CCCCO OCCO OCC(O)CO Oc1ccccc1 Oc1ccccc1O CC(C)C1CCC(C)CC1O
COc1cc(C=O)ccc1O CC(C)=O O=C1CCCCC1 CC=O O=Cc1ccccc1 CCOCC C1CCOC1 COc1ccccc1 CC(O)=O CCCC(O)=O CC(O)C(O)=O
OC(=O)CC(O)(C(O)=O)CC(O)=O OC(=O)c1ccccc1 OC(=O)c1ccccc1O CCCCCCCCCCCCCCCC(O)=O CCOC(C)=O COC(=O)c1ccccc1O
CN CCN(CC)CC Nc1ccccc1 c1ccncc1 c1cc[nH]c1 CC#N CN(C)C=O CS(C)=O NC(N)=O NCC(O)=O CC(C)C(N)C(O)=O NC(CO)C(O)=O
NC(Cc1ccccc1)C(O)=O NC(Cc1ccc(O)cc1)C(O)=O NCCCCC(N)C(O)=O OCC1OC(O)C(O)C(O)C1O OCC(O)C(O)C(O)C(O)CO
""".split()
molecules = gml.from_smiles(SMILES)
metric = gml.GraphMetric(random_state=0).fit(molecules, [MolLogP(Chem.MolFromSmiles(smiles)) for smiles in SMILES])
print(metric.report_)

# %%
# Ibuprofen and paracetamol, two painkillers. In three lines:

ibuprofen, paracetamol = gml.from_smiles([IBUPROFEN, PARACETAMOL], names=["ibuprofen", "paracetamol"])
why = metric.explain(ibuprofen, paracetamol)
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
