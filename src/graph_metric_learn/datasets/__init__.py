"""Graphs to learn from: the TU collection (local or downloaded) and scikit-learn's digits as graphs."""

from .base import GraphDataset
from .digits import load_digits
from .tu import load_tu

__all__ = ["GraphDataset", "load_digits", "load_tu"]
