"""A cloud of points becomes a vector: one file per embedding, all of them in `EMBEDDINGS`."""

from .axes import Axes
from .base import EMBEDDINGS, Embedding, restore
from .histogram import Histogram
from .mean import Mean
from .reference import Reference

__all__ = ["EMBEDDINGS", "Axes", "Embedding", "Histogram", "Mean", "Reference", "restore"]

# In the order in which candidates are tried.
EMBEDDINGS.update({"mean": Mean, "reference": Reference, "axes": Axes, "histogram": Histogram})
