"""Labelled graphs: the TU collection (local or downloaded), folders of files, and scikit-learn's digits as graphs."""

from .base import GraphDataset
from .digits import load_digits
from .tu import load_tu

__all__ = ["GraphDataset", "load_digits", "load_tu"]
