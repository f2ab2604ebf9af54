"""Predictions on a metric: k-NN, ridge, SVM, class means and clusters, and loading whatever was saved.

All begin in `predictor.py`. Settings are chosen on folds (`fold_distances.py`): k in `knn.py`, a penalty in `ridge.py`,
γ and C in `svc.py`, which head in `head_choice.py`.
"""

from .class_means import NearestClassMean
from .head_choice import GraphClassifier, GraphRegressor
from .kmeans import GraphKMeans
from .knn import GraphKNNClassifier, GraphKNNRegressor
from .predictor import load
from .ridge import GraphRidge, GraphRidgeClassifier
from .svc import GraphSVC

__all__ = [
    "GraphClassifier",
    "GraphKMeans",
    "GraphKNNClassifier",
    "GraphKNNRegressor",
    "GraphRegressor",
    "GraphRidge",
    "GraphRidgeClassifier",
    "GraphSVC",
    "NearestClassMean",
    "load",
]
