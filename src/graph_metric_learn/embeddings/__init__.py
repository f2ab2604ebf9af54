"""A cloud of points becomes a vector: one file per embedding, all of them in `EMBEDDINGS`."""

from .assignment import Assignment, NormalizedAssignment
from .axes import Axes
from .base import EMBEDDINGS, Embedding, restore
from .columns import ColumnEmbedding
from .counts import Counts
from .density import Density
from .histogram import Histogram
from .mean import Mean
from .reference import Reference

__all__ = [
    "EMBEDDINGS",
    "Assignment",
    "Axes",
    "ColumnEmbedding",
    "Counts",
    "Density",
    "Embedding",
    "Histogram",
    "Mean",
    "NormalizedAssignment",
    "Reference",
    "restore",
]

# In the order in which candidates are tried.
EMBEDDINGS.update({"mean": Mean, "reference": Reference, "density": Density, "axes": Axes, "histogram": Histogram})
EMBEDDINGS.update({"counts": Counts, "assignment": Assignment, "normalized-assignment": NormalizedAssignment})
