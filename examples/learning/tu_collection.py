"""
A dataset of the TU collection
==============================

MUTAG: 188 small molecules, and whether they are mutagenic. The data are taken from the folder that the environment
variable GRAPH_METRIC_LEARN_DATA names, else from the cache, else downloaded. This page shows the script without running
it; a test runs it where the data are there.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

import graph_metric_learn as gml

dataset = gml.datasets.load_tu("MUTAG", features="degree")
print(dataset)
largest_class = np.unique(dataset.y, return_counts=True)[1].max() / len(dataset)
print(f"always the largest class: {largest_class:.1%}")

# %%
# Every fold learns a metric of its own from its training graphs, and sees nothing of the test graphs.

paper, chosen = gml.SGML(depth=2, random_state=0, edges=False), gml.GraphMetric(random_state=0)
neighbors = gml.GraphKNNClassifier(paper, n_neighbors=5)
classifiers = {
    "k-NN, metric chosen by itself": gml.GraphKNNClassifier(chosen),
    "5-NN, the paper's metric": neighbors,
    "SVM, the paper's metric": gml.GraphSVC(paper, gamma=1.0, C=10.0),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, classifier in classifiers.items():
    scores = cross_val_score(classifier, dataset.graphs, dataset.y, cv=folds)
    print(f"{name}, 5-fold accuracy: {scores.mean():.1%} ± {scores.std():.1%}")

# %%
# What a metric has chosen, in words. Then a search over settings; those of the metric have nested names.

print(chosen.fit(dataset.graphs, dataset.y).report_)
grid = {"metric__depth": [1, 2, 4], "n_neighbors": [1, 3, 5]}
search = GridSearchCV(neighbors, grid, cv=3).fit(dataset.graphs, dataset.y)
print(f"best of a 3-fold search: {search.best_params_}")
