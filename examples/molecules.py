"""Molecules: MUTAG from the TU collection, classified with a learned metric by k-NN and by an SVM.

    python examples/molecules.py

MUTAG holds 188 small molecules; the class says whether a molecule is mutagenic. The data are taken from the folder
that GRAPH_METRIC_LEARN_DATA names, or from ../shared/datasets beside the checkout, or else downloaded.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

import graph_metric_learn as gml


def data_root() -> str | Path | None:
    """A folder that may hold MUTAG.zip; None: the cache or a download."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    return os.environ.get("GRAPH_METRIC_LEARN_DATA") or (beside if beside.is_dir() else None)


def main() -> None:
    dataset = gml.datasets.load_tu("MUTAG", features="degree", root=data_root())
    print(dataset)
    largest_class = np.unique(dataset.y, return_counts=True)[1].max() / len(dataset)
    print(f"always the largest class: {largest_class:.1%}")

    # Every fold finds its own metric, on its own training graphs: nothing of the test graphs is seen.
    paper, chosen = gml.SGML(depth=2, random_state=0, edges=False), gml.GraphMetric(random_state=0)
    neighbors = gml.GraphKNNClassifier(paper, n_neighbors=5)
    classifiers = {
        "k-NN, metric chosen by itself": gml.GraphKNNClassifier(chosen, n_neighbors="auto", weights="distance"),
        "5-NN, the paper's metric": neighbors,
        "SVM, the paper's metric": gml.GraphSVC(paper, gamma=1.0, C=10.0),
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, classifier in classifiers.items():
        scores = cross_val_score(classifier, dataset.graphs, dataset.y, cv=folds)
        print(f"{name}, 5-fold accuracy: {scores.mean():.1%} ± {scores.std():.1%}")

    # What a metric has chosen, in words.
    print(chosen.fit(dataset.graphs, dataset.y).report_)

    # Parameters of the metric have nested names, as everywhere in scikit-learn.
    grid = {"metric__depth": [1, 2, 4], "n_neighbors": [1, 3, 5]}
    search = GridSearchCV(neighbors, grid, cv=3).fit(dataset.graphs, dataset.y)
    print(f"best of a 3-fold search: {search.best_params_}")


if __name__ == "__main__":
    main()
