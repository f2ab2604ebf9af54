"""
Numbers
=======

A regressor learns the distance from numbers. Here they are the logP of well-known molecules, computed by RDKit: how
much rather a molecule dissolves in oil than in water.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import graph_metric_learn as gml
from graph_metric_learn.viz.demo.molecules import well_known_molecules

molecules = well_known_molecules()
train, test, y_train, y_test, _, names = train_test_split(
    molecules.graphs, molecules.y, molecules.names, test_size=0.3, random_state=0
)

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
print(f"R² {r2:.2f}; furthest off is {names[worst]}: {predicted[worst]:.1f} instead of {y_test[worst]:.1f}")

figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.axline((0, 0), slope=1, color="0.7", zorder=0)
ax.scatter(y_test, predicted, s=18)
ax.annotate(names[worst], (y_test[worst], predicted[worst]), xytext=(6, 4), textcoords="offset points")
ax.set(xlabel="logP", ylabel="predicted", title=f"{len(test)} molecules that were held out, R² = {r2:.2f}")
plt.show()
