"""
Numbers
=======

A regressor learns the distance from numbers. Here they are the logP of small molecules, computed by RDKit: how
much rather a molecule dissolves in oil than in water. Needs RDKit (``pip install "graph-metric-learn[chem]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
from rdkit.Chem import Crippen, MolFromSmiles
from sklearn.model_selection import train_test_split

import graph_metric_learn as gml

# %%
# Twelve stems with twelve groups each make 144 molecules.

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
names = list(smiles)
graphs = gml.from_smiles(smiles.values(), names=names)
logp = np.array([Crippen.MolLogP(MolFromSmiles(text)) for text in smiles.values()])
train, test, y_train, y_test, _, names = train_test_split(graphs, logp, names, test_size=0.3, random_state=0)

# %%
# `GraphRegressor` chooses between k-NN and kernel ridge regression on graphs held out.

regressor = gml.GraphRegressor(gml.GraphMetric(random_state=0)).fit(train, y_train)
print(regressor.chosen_["head"], regressor.chosen_["scores"])
print(regressor.metric_.report_)

# %%
# R² on molecules that were held out, and the one with the largest error:

predicted = regressor.predict(test)
r2 = regressor.score(test, y_test)
worst = abs(predicted - y_test).argmax()
print(f"R² {r2:.2f}; furthest off is {names[worst]}: {predicted[worst]:.1f} instead of {y_test[worst]:.1f}")

figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.axline((0, 0), slope=1, color="0.7", zorder=0)
ax.scatter(y_test, predicted, s=18)
ax.annotate(names[worst], (y_test[worst], predicted[worst]), xytext=(6, 4), textcoords="offset points")
ax.set(xlabel="logP", ylabel="predicted", title=f"{len(test)} molecules that were held out, R² = {r2:.2f}")
plt.show()
