"""An index of many graphs: nearest neighbours by a fitted metric, in memory or on disk."""

from .drift import Drift
from .graph_index import GraphIndex

__all__ = ["Drift", "GraphIndex"]
