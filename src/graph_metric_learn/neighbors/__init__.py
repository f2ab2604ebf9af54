"""Predictions on a metric: k-NN and SVM, and loading whatever was saved."""

from .knn import GraphKNNClassifier, GraphKNNRegressor
from .loading import load
from .svc import GraphSVC

__all__ = ["GraphKNNClassifier", "GraphKNNRegressor", "GraphSVC", "load"]
