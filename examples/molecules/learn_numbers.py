"""
Numbers
=======

A regressor learns the distance from numbers. Here they are boiling points of alkanes: the first property that was
predicted from the graphs of molecules (Wiener, 1947). They differ in size and in how they branch. Needs RDKit
(``pip install "graph-metric-learn[chem]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import graph_metric_learn as gml

# %%
# SMILES and boiling points in °C at normal pressure: all alkanes up to eight carbons, and some larger ones.

ALKANES = """
C -161.5, CC -88.6, CCC -42.1, CCCC -0.5, CC(C)C -11.7, CCCCC 36.1, CCC(C)C 27.8, CC(C)(C)C 9.5, CCCCCC 68.7,
CCCC(C)C 60.3, CCC(C)CC 63.3, CCC(C)(C)C 49.7, CC(C)C(C)C 58.0, CCCCCCC 98.4, CCCCC(C)C 90.1, CCCC(C)CC 91.9,
CCC(CC)CC 93.5, CCCC(C)(C)C 79.2, CCC(C)C(C)C 89.8, CC(C)CC(C)C 80.5, CCC(C)(C)CC 86.1, CC(C)C(C)(C)C 80.9,
CCCCCCCC 125.7, CCCCCC(C)C 117.6, CCCCC(C)CC 118.9, CCCC(C)CCC 117.7, CCCC(CC)CC 118.5, CCCCC(C)(C)C 106.8,
CCCC(C)C(C)C 115.6, CCC(C)CC(C)C 109.4, CC(C)CCC(C)C 109.1, CCCC(C)(C)CC 112.0, CCC(C)C(C)CC 117.7,
CCC(CC)C(C)C 115.6, CCC(C)(CC)CC 118.3, CCC(C)C(C)(C)C 109.8, CC(C)CC(C)(C)C 99.2, CCC(C)(C)C(C)C 114.8,
CC(C)C(C)C(C)C 113.5, CC(C)(C)C(C)(C)C 106.5, CCCCCCCCC 150.8, CCCCCCC(C)C 143.3, CCCCCC(C)CC 144.2,
CCCCC(C)CCC 142.4, CCCCCCCCCC 174.1, CCCCCCCCCCC 195.9, CCCCCCCCCCCC 216.3
"""
names, celsius = zip(*(entry.split() for entry in ALKANES.split(",")), strict=True)
graphs, y = gml.from_smiles(names), np.array(celsius, dtype=float)
train, test, y_train, y_test, _, test_names = train_test_split(list(graphs), y, names, test_size=0.3, random_state=0)

# %%
# `GraphRegressor` chooses between k-NN and kernel ridge regression on graphs held out.

regressor = gml.GraphRegressor(gml.GraphMetric(random_state=0)).fit(train, y_train)
print(regressor.chosen_["head"], regressor.chosen_["scores"])
print(regressor.metric_.report_)

# %%
# R² on molecules that were not learned from, and the one that is furthest off:

predicted = regressor.predict(test)
r2 = regressor.score(test, y_test)
worst = abs(predicted - y_test).argmax()
print(f"R² {r2:.2f}; furthest off is {test_names[worst]}: {predicted[worst]:.0f} °C instead of {y_test[worst]:.0f} °C")

figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.axline((0, 0), slope=1, color="0.7", zorder=0)
ax.scatter(y_test, predicted, s=18)
ax.annotate(test_names[worst], (y_test[worst], predicted[worst]), xytext=(6, -12), textcoords="offset points")
ax.set(xlabel="boiling point, °C", ylabel="predicted", title=f"{len(test)} alkanes that were held out, R² = {r2:.2f}")
plt.show()
