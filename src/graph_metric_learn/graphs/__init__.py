"""Whatever the user has → flat graphs with node features."""

from .collection import Graphs
from .convert import as_graphs
from .features import NodeFeatures

__all__ = ["Graphs", "NodeFeatures", "as_graphs"]
