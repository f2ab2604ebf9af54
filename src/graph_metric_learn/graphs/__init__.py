"""Whatever the user has → one flat collection of graphs."""

from typing import Any

from .collection import Graphs
from .column_names import Columns
from .convert import as_graphs
from .stream import skip_bad

__all__ = ["Columns", "Graphs", "NodeFeatures", "as_graphs", "skip_bad"]


def __getattr__(name: str) -> Any:
    """`graphs.NodeFeatures` moved to `features`; the name stays."""
    if name == "NodeFeatures":
        from ..features import NodeFeatures

        return NodeFeatures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
