"""Predictions on a metric: k-NN and SVM."""
